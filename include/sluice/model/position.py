"""Positions in a source's change log, and snapshots of a source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Position:
    """A position of a slave: the segment and the ordinal of the last transaction that it has (R3).

    Ordinals count the transactions of one source's change log from 1, without a gap; 0 is before the first.
    """

    segment: int
    ordinal: int

    def __str__(self) -> str:
        return f"{self.segment}/{self.ordinal}"


START = Position(0, 0)


@dataclass(frozen=True)
class Snapshot:
    """A PostgreSQL snapshot as text, ``xmin:xmax:xip,xip``, with a test for visibility.

    Source: PostgreSQL manual, "Transaction ID and Snapshot Information Functions".
    """

    text: str

    def parts(self) -> tuple[int, int, frozenset[int]]:
        """(xmin, xmax, transactions in progress)."""
        low, high, running = self.text.split(":")
        return int(low), int(high), frozenset(int(xid) for xid in running.split(",") if xid)

    def shows(self, trans_key: str) -> bool:
        """Whether a committed transaction is visible in this snapshot."""
        low, high, running = self.parts()
        xid = int(trans_key)
        return xid < low or (xid < high and xid not in running)
