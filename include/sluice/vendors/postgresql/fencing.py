"""Raising a fence, of a source or a slave: whoever hangs in a transaction with its row is ended (R6)."""

from __future__ import annotations

from collections.abc import Mapping

from psycopg import errors, sql
from psycopg.rows import TupleRow

from sluice.vendors.postgresql.session import Connection


def raised(
    session: Connection, take_over: sql.Composed, holder: sql.Composed, values: Mapping[str, object]
) -> TupleRow | None:
    """Raise a fence; what `take_over` returned, None if somebody with a later epoch is at work.

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
