"""Estimates of the rest of key ranges by the server's statistics."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import closing

from sluice.connections import ConnectionInfo
from sluice.vendors.mariadb.errors import translated
from sluice.vendors.mariadb.read.key_order import key_order
from sluice.vendors.mariadb.session import Connection, composed, connect_to_master, execute, qualified
from sluice.vendors.protocol.read import Foreseen, KeyRange


def foresee(info: ConnectionInfo, ranges: Sequence[KeyRange], trusted: Collection[str] = ()) -> list[Foreseen]:
    """An estimate of the rest of each range, in the order of `ranges`."""
    with translated("looking at what is left"), closing(connect_to_master(info, "load")) as session:
        return [_left(session, one) for one in ranges]


def _left(session: Connection, within: KeyRange) -> Foreseen:
    order = key_order(session, within.table)
    if order is None or order.sign != within.order:
        return Foreseen()
    left = composed("read/foreseen", table=qualified(within.table), within=order.between(within))
    with session.cursor() as cursor:
        cursor.execute(left)
        # A line of EXPLAIN has other columns on each kind of server.
        place = [str(name) for name, *_ in cursor.description].index("rows")
        rows = sum(int(line[place] or 0) for line in cursor.fetchall())
    named = {"schema": within.table.schema, "table": within.table.table}
    widths = execute(session, composed("read/width"), named)
    return Foreseen(rows, int(widths[0][0]) if widths else 0)
