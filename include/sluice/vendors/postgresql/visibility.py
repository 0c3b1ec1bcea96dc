"""A PostgreSQL snapshot as text, ``xmin:xmax:xip,xip``, and what is visible in it.

Source: PostgreSQL manual, "Transaction ID and Snapshot Information Functions".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sluice.model.position import Snapshot

_TEXT = re.compile(r"(\d{1,20}):(\d{1,20}):((?:\d{1,20}(?:,\d{1,20})*)?)", re.ASCII)


@dataclass(frozen=True)
class PostgresVisibility:
    """See `sluice.vendors.protocol.visibility.Visibility`.

    Attributes:
        low: every transaction before it is visible.
        high: no transaction from it on is.
        running: those between them that are not.
    """

    low: int
    high: int
    running: frozenset[int]

    @property
    def age(self) -> tuple[int, ...]:
        """A later one shows more: its end is later, or fewer are in progress."""
        return self.high, -len(self.running)

    @property
    def since(self) -> str:
        """See `Visibility`."""
        return str(self.low)

    def sees(self, transaction: str) -> bool:
        """See `Visibility`."""
        xid = int(transaction)
        return xid < self.low or (xid < self.high and xid not in self.running)

    def are_newer(self, transactions: pa.ChunkedArray) -> pa.ChunkedArray:
        """See `Visibility`."""
        xids = transactions.cast(pa.int64())
        running = pc.is_in(xids, value_set=pa.array(sorted(self.running), pa.int64()))
        return pc.or_(pc.greater_equal(xids, self.high), pc.and_(pc.greater_equal(xids, self.low), running))


def read_snapshot(snapshot: Snapshot) -> PostgresVisibility:
    """The transactions that a snapshot shows. Raises ValueError if its text is none of PostgreSQL."""
    found = _TEXT.fullmatch(snapshot.text)
    if found is None:
        raise ValueError(f"{snapshot.text!r} is no snapshot of PostgreSQL")
    return PostgresVisibility(int(found[1]), int(found[2]), frozenset(int(xid) for xid in found[3].split(",") if xid))
