"""Whether the queue has an index by key. It costs the application a sixth of what capture does, and only drains with
`block_loop` need it: each of their transactions takes its own rows out again."""

from __future__ import annotations

from collections.abc import Mapping

from psycopg import sql

from sluice.model.names import Resources, TableName
from sluice.vendors.postgresql import triggers
from sluice.vendors.postgresql.session import Connection, composed


def key(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable], *, wanted: bool) -> None:
    """Make or drop it, in a transaction of its own that waits for nobody's for long.

    Raises:
        TransientError: SLC-036 if transactions that were captured stay open; nothing was changed then.
    """
    with connection.transaction():
        row = connection.execute(composed("capture/keyed", **parts)).fetchone()
        name, told = row or (None, True)
        changes: list[sql.Composable] = []
        if wanted and not name:
            changes.append(sql.SQL("ADD PRIMARY KEY (repl_key)"))
        if name and not wanted:
            changes.append(sql.SQL("DROP CONSTRAINT {}").format(sql.Identifier(name)))
        if not told:
            # Where somebody publishes all tables to a subscriber, rows without a key could not be deleted.
            changes.append(sql.SQL("REPLICA IDENTITY FULL"))
        if changes:
            triggers.lock(connection, [TableName(resources.schema, resources.name("queue"))], "ACCESS EXCLUSIVE")
            statement = sql.SQL("ALTER TABLE {} {}").format(parts["queue"], sql.SQL(", ").join(changes))
            connection.execute(statement)
