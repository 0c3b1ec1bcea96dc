"""The storage of the queue: index by key, replica identity, long images, actions; and the guard of deletes.

An index costs the application a sixth of what capture does. Only drains with `block_loop` need it: each of their
transactions takes its own rows out again. To compress rows of more than 2 kB would double what capture costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from psycopg import errors, sql

from sluice.model.names import Resources, TableName
from sluice.vendors.postgresql.capture.queue import triggers
from sluice.vendors.postgresql.session import Connection, composed

# The most that PostgreSQL lets a row have before it moves values to their own place.
_IN_PLACE = sql.SQL(
    "ALTER content SET STORAGE EXTERNAL, ALTER oldcontent SET STORAGE EXTERNAL, SET (toast_tuple_target = 8160)"
)


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


def keep_uncompressed(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Store images as they are printed, however long. Those that are queued stay as they are.

    Raises:
        TransientError: SLC-036 as above.
    """
    with connection.transaction():
        if connection.execute(composed("capture/registry/compressed", **parts)).fetchone() == (True,):
            _alter(connection, resources, parts, _IN_PLACE)


def keep_actions(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Store actions in the form that triggers have. A long queue keeps letters until a later bootstrap finds it short,
    and so does one with views of others; both forms are read alike.

    Raises:
        TransientError: SLC-036 as above.
    """
    with suppress(errors.FeatureNotSupported), connection.transaction():
        if connection.execute(composed("capture/registry/action_is_char", **parts)).fetchone() == (True,):
            connection.execute(composed("capture/registry/items_aside", **parts))
            _alter(connection, resources, parts, sql.SQL("ALTER db_action TYPE text"))
            connection.execute(composed("capture/install/150_items", **parts))


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
    """Set REPLICA IDENTITY FULL, without which purges are refused if the queue is in a publication.

    Raises:
        TransientError: SLC-036 as above.
    """
    if connection.execute(composed("capture/queue/replica_identity_missing", **parts)).fetchone() == (True,):
        with connection.transaction():
            _alter(connection, resources, parts, sql.SQL("REPLICA IDENTITY FULL"))


def _alter(
    connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable], change: sql.Composable
) -> None:
    triggers.lock(connection, [_queue(resources)], "ACCESS EXCLUSIVE")
    connection.execute(sql.SQL("ALTER TABLE {} {}").format(parts["queue"], change))


def _queue(resources: Resources) -> TableName:
    return TableName(resources.schema, resources.name("queue"))
