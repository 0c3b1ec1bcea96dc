"""Finding out what became of a statement's transaction, also when the session that executed it was lost."""

from __future__ import annotations

from collections.abc import Mapping

from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.model.statement import TransactionOutcome, TransactionRef
from sluice.vendors.postgresql.session import Connection, composed, connect

_FATES = {
    "committed": TransactionOutcome.COMMITTED,
    "aborted": TransactionOutcome.ROLLED_BACK,
    "in progress": TransactionOutcome.RUNNING,
}


def session(info: ConnectionInfo, number: int) -> Connection:
    """A session that others find by the number of the statement it executes."""
    return connect(info, _name(number), autocommit=True)


def incarnation(connection: Connection, parts: Mapping[str, sql.Composable]) -> str:
    """The incarnation of the source, which changes when it is restored (R2)."""
    row = connection.execute(composed("capture/queue/fence", **parts)).fetchone()
    return str(row[0]) if row else ""


def beside(info: ConnectionInfo) -> Connection:
    """A session to flush in, opened before there is anything to flush: if it lives still, no crash took that away."""
    return connect(info, "flush", autocommit=True)


def flush(beside: Connection) -> None:
    """Flush the WAL of all sessions. A crash of the server before the commit could otherwise reuse an xid that was not
    on disk, and the commit of another transaction would be taken for ours.
    """
    beside.execute("SET synchronous_commit = on")
    beside.execute(composed("session/make_durable"))


def fate(
    info: ConnectionInfo, parts: Mapping[str, sql.Composable], traced: TransactionRef, *, end: bool
) -> TransactionOutcome:
    """See `sluice.vendors.protocol.capture.Capture`."""
    values = {"session": f"sluice {_name(traced.id)}", "trans_key": traced.trans_key}
    with connect(info, "fate", autocommit=True) as asking:
        if traced.incarnation and traced.incarnation != incarnation(asking, parts):
            return TransactionOutcome.UNKNOWN
        if end:
            asking.execute(composed("statements/end"), values)
        (found,) = asking.execute(composed("statements/fate"), values).fetchone() or (None,)
    return _FATES.get(found, TransactionOutcome.UNKNOWN)


def _name(number: int) -> str:
    return f"statement {number}"
