"""Whether the queue has an index by key, and how its rows are told apart without one.

An index costs the application a sixth of what capture does. Only drains with `block_loop` need it: each of their
transactions takes its own rows out again.
"""

from __future__ import annotations

from collections.abc import Mapping

from psycopg import sql

from sluice.model.names import Resources, TableName
from sluice.vendors.postgresql import triggers
from sluice.vendors.postgresql.session import Connection, composed


def key(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable], *, wanted: bool) -> None:
    """Make or drop the index, in a transaction of its own that waits for nobody's for long.

    Raises:
        TransientError: SLC-036 if transactions that were captured stay open; nothing was changed then.
    """
    with connection.transaction():
        row = connection.execute(composed("capture/keyed", **parts)).fetchone()
        if wanted and not row:
            _alter(connection, resources, parts, sql.SQL("ADD PRIMARY KEY (repl_key)"))
        if row and not wanted:
            _alter(connection, resources, parts, sql.SQL("DROP CONSTRAINT {}").format(sql.Identifier(row[0])))


def tell(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Let purges be told to whoever subscribed to the queue, whole rows at that; without it they would be refused.

    Raises:
        TransientError: SLC-036 as above.
    """
    if connection.execute(composed("publish/untold", **parts)).fetchone() == (True,):
        with connection.transaction():
            _alter(connection, resources, parts, sql.SQL("REPLICA IDENTITY FULL"))


def _alter(
    connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable], change: sql.Composable
) -> None:
    triggers.lock(connection, [TableName(resources.schema, resources.name("queue"))], "ACCESS EXCLUSIVE")
    connection.execute(sql.SQL("ALTER TABLE {} {}").format(parts["queue"], change))
