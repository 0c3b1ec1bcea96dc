"""The storage of the queue: index by key, replica identity; and the guard of deletes.

An index costs the application a sixth of what capture does. Only drains with `block_loop` need it: each of their
transactions takes its own rows out again.
"""

from __future__ import annotations

from collections.abc import Mapping

from psycopg import sql

from sluice.model.names import Resources, TableName
from sluice.vendors.postgresql.capture.queue import triggers
from sluice.vendors.postgresql.session import Connection, composed


def key(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable], *, wanted: bool) -> None:
    """Create or drop the index, in a separate transaction with short lock waits.

    Raises:
        TransientError: SLC-036 if transactions that were captured stay open; nothing was changed then.
    """
    with connection.transaction():
        row = connection.execute(composed("capture/registry/keyed", **parts)).fetchone()
        if wanted and not row:
            _alter(connection, resources, parts, sql.SQL("ADD PRIMARY KEY (repl_key)"))
        if row and not wanted:
            _alter(connection, resources, parts, sql.SQL("DROP CONSTRAINT {}").format(sql.Identifier(row[0])))


def guard(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Protect unpublished changes from deletion by mistake (R9): only a transaction that says PURGE may delete them.

    Raises:
        TransientError: SLC-036 as above.
    """
    with connection.transaction():
        if connection.execute(composed("capture/queue/guarded", **parts)).fetchone() != (True,):
            triggers.lock(connection, [_queue(resources)], "SHARE ROW EXCLUSIVE")
            connection.execute(composed("capture/queue/guard", **parts))


def set_replica_identity(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Set REPLICA IDENTITY FULL, without which purges are refused where somebody publishes all tables. It is set before
    anybody does: a provider does not switch to a copy if a table is altered meanwhile.

    Raises:
        TransientError: SLC-036 as above.
    """
    with connection.transaction():
        if connection.execute(composed("capture/queue/replica_identity_missing", **parts)).fetchone() == (True,):
            _alter(connection, resources, parts, sql.SQL("REPLICA IDENTITY FULL"))


def _alter(
    connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable], change: sql.Composable
) -> None:
    triggers.lock(connection, [_queue(resources)], "ACCESS EXCLUSIVE")
    connection.execute(sql.SQL("ALTER TABLE {} {}").format(parts["queue"], change))


def _queue(resources: Resources) -> TableName:
    return TableName(resources.schema, resources.name("queue"))
