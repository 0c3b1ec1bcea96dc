"""Estimates of the rest of key ranges by the server's planner."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.vendors.postgresql import planned_code
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.read.key_range import between
from sluice.vendors.postgresql.session import Connection, composed, connect, read_tables_alone
from sluice.vendors.protocol.read import Foreseen, KeyRange

# An estimate is not worth the wait for a locked table.
_LOCK_WAIT = "100ms"


def foresee(info: ConnectionInfo, ranges: Sequence[KeyRange], trusted: Collection[str] = ()) -> list[Foreseen]:
    """An estimate of the rest of each range, in the order of `ranges`.

    Raises:
        TransientError: SLC-036, a table is locked.
        SluiceError: SLC-360, a table cannot be read.
    """
    with translated("looking at what is left"), connect(info, "load", autocommit=True) as session:
        session.execute(sql.SQL("SET lock_timeout = {}").format(_LOCK_WAIT))
        read_tables_alone(session)
        return [_left(session, one, trusted) for one in ranges]


def _left(session: Connection, within: KeyRange, trusted: Collection[str]) -> Foreseen:
    called = relations.called(session, within.order)
    order = relations.order(session, called) if called else None
    if called is None or order is None:
        return Foreseen()
    left = between(order.columns, within)
    explained = composed("read/foreseen", rows=relations.rows_of(session, called), within=left)
    with session.transaction():
        planned_code.lock_table(session, called)
        planned_code.expect_none(session, [called], trusted)
        plan = session.execute(explained).fetchall()[0][0][0]["Plan"]
    return Foreseen(int(plan["Plan Rows"]), int(plan["Plan Width"]))
