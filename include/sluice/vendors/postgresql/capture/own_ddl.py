"""DDL of our own, where no event trigger may see it: recorded in its transaction, so that no poll finds it later."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from psycopg import sql

from sluice.errors import TransientError
from sluice.model.names import TableName
from sluice.vendors.postgresql.capture.ddl_polling import LOOK_WAIT_MS
from sluice.vendors.postgresql.capture.queue import triggers
from sluice.vendors.postgresql.catalog.definition import regclass
from sluice.vendors.postgresql.session import Connection, composed, limit_lock_waits

Parts = Mapping[str, sql.Composable]


def polls(connection: Connection, parts: Parts) -> bool:
    """Whether a master finds DDL by polling."""
    row = connection.execute(composed("capture/ddl/polls", **parts)).fetchone()
    return bool(row and row[0])


def expect_recorded(connection: Connection, parts: Parts, names: Sequence[TableName]) -> list[int]:
    """See that DDL of others on these tables is recorded: afterwards it could not be distinguished from ours.

    Args:
        names: tables that we are about to alter. Others have altered them before we look, or wait until we are done.

    Returns:
        OIDs of tables that others made and that are not watched yet.

    Raises:
        TransientError: SLC-036, one of these tables stays locked; SLC-115, it is not.
    """
    _issues(connection, parts, [0])
    if not polls(connection, parts):
        return []
    triggers.lock(connection, names, "ACCESS EXCLUSIVE")
    # To print a default, the server locks the table that has it, while we hold those (R9).
    limit_lock_waits(connection, LOOK_WAIT_MS)
    rows = connection.execute(composed("capture/ddl/unrecorded_ddl", **parts), {"left_out": []}).fetchall()
    limit_lock_waits(connection, None)
    if rows:
        others = ", ".join(f"{schema}.{table}" if table else f"relation {number}" for number, schema, table, *_ in rows)
        raise TransientError(
            115,
            f"a change of {others} is not recorded yet, and this statement may change tables too",
            "nothing was changed; the publisher of that database records it at its next look. Then issue the statement "
            "again; a drain tries again by itself",
        )
    return [relation for relation, *_ in connection.execute(composed("capture/ddl/unwatched", **parts))]


def record(
    connection: Connection, parts: Parts, names: Sequence[TableName] | None = None, others: Collection[int] = ()
) -> None:
    """Record what this transaction did to tables: all of them, or those named and whichever it dropped.

    Args:
        others: tables that others made: they are left to be watched by the publisher, with the rows that they have.
    """
    wanted = {"names": None if names is None else [regclass(name) for name in names]}
    here = composed("capture/ddl/altered_here", **parts)
    # Rows that went with a partition are no part of what is recorded here, so nobody need know them.
    dropping = composed("capture/ddl/dropping", **parts)
    connection.execute(dropping, {"begins": True})
    connection.execute(composed("capture/ddl/record_alter", **parts, altered_here=here), wanted)
    connection.execute(dropping, {"begins": False})
    connection.execute(composed("capture/ddl/record_drop", **parts, altered_here=here))
    if polls(connection, parts):
        connection.execute(composed("capture/ddl/watch_new_table", **parts), {**wanted, "others": list(others)})
    is_done(connection, parts)


def is_done(connection: Connection, parts: Parts) -> None:
    """Mark the end of a broadcast statement: DDL on types from here on in this transaction is ours again."""
    _issues(connection, parts, [])


def _issues(connection: Connection, parts: Parts, relations: list[int]) -> None:
    if connection.execute(composed("capture/ddl/ours", **parts)).fetchone() == (True,):
        note = sql.SQL("SELECT {}('issued'::text, %s::oid[])").format(parts["note"])
        connection.execute(note, [relations])
