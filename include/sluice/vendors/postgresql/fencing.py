"""Fences of a source and of its slaves: raising one, and holding that of a slave while it is written to (R6)."""

from __future__ import annotations

from collections.abc import Mapping

from psycopg import errors, sql
from psycopg.rows import TupleRow

from sluice.errors import FencedError
from sluice.model.names import Pair
from sluice.vendors.postgresql.session import Connection, composed


def raised(
    session: Connection, take_over: sql.Composed, holder: sql.Composed, values: Mapping[str, object]
) -> TupleRow | None:
    """Raise a fence; what `take_over` returned, None if somebody with a later epoch is at work.

    Whoever hangs in a transaction with its row is ended.

    Args:
        holder: gives the process ids that are recorded beside the epoch.
    """
    session.execute("SET lock_timeout = '2s'")
    try:
        row = session.execute(take_over, values).fetchone()
    except errors.LockNotAvailable:
        for (pid,) in session.execute(holder, values).fetchall():
            session.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        row = session.execute(take_over, values).fetchone()
    session.execute("SET lock_timeout = 0")
    return row


def hold(session: Connection, position: sql.Composable, pair: Pair, epoch: int) -> None:
    """Hold the fence of a slave until the transaction ends: whoever takes over waits for that, or ends us.

    Raises:
        FencedError: SLC-050, somebody took over before.
    """
    names = {"source": pair.source, "slave": pair.slave}
    if session.execute(composed("slave/fence", position=position), names).fetchone() != (epoch,):
        raise fenced(pair, epoch)


def fenced(pair: Pair, epoch: int) -> FencedError:
    """Somebody took over a slave."""
    return FencedError(50, f"somebody took over slave {pair.slave} of {pair.source} (our epoch was {epoch})")
