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


@dataclass(frozen=True, order=True)
class PartWay:
    """A place within a transaction: in front of the change with this REPL_KEY, with all that comes before it."""

    ordinal: int
    key: int


@dataclass(frozen=True)
class Snapshot:
    """A snapshot of a master, by the text that its vendor writes and reads: an SCN, a GTID, or what PostgreSQL prints.

    See `sluice.vendors.protocol.visibility` for the transactions that it shows.
    """

    text: str
