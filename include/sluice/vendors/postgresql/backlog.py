"""A queue too long for one sweep: what one snapshot of it showed, published in slices of keys, one a sweep (R1).

A transaction belongs to the slice of its largest key. So the slices together are one unbounded sweep of that snapshot;
what committed after it comes after it. A slice is found by the index and costs what it holds, however much is queued.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from psycopg import sql

from sluice.vendors.postgresql.session import Connection, composed


@dataclass(frozen=True)
class Slice:
    """What one sweep takes: keys from `low` to below `high`, of transactions that the snapshot shows.

    Attributes:
        later: transactions with keys in here that end beyond `high`.
        snapshot: None for all that the sweep itself sees.
    """

    low: int = 0
    high: int = 2**63 - 1
    later: tuple[str, ...] = ()
    snapshot: str | None = None

    def within(self) -> sql.Composed:
        """The condition on ITEMS that it stands for."""
        return composed(
            "publish/within",
            low=sql.Literal(self.low),
            high=sql.Literal(self.high),
            later=sql.Literal(list(self.later)),
            snapshot=sql.Literal(self.snapshot),
        )


EVERYTHING = Slice()


@dataclass(frozen=True)
class Spanning:
    """A transaction whose keys lie in several slices."""

    trans_key: str
    first: int
    last: int


@dataclass(frozen=True)
class Backlog:
    """What is left of it: all transactions that the snapshot shows and that end at key `begin` or later."""

    snapshot: str
    width: int
    spanning: tuple[Spanning, ...]
    begin: int = 0

    def slice_of(self, key: int) -> Slice:
        """The slice that holds this key, and what it takes of transactions that begin before it or end after it."""
        low = key - key % self.width
        high = low + self.width
        begun = [one.first for one in self.spanning if low <= one.last < high]
        later = tuple(one.trans_key for one in self.spanning if one.first < high <= one.last)
        return Slice(min([low, *begun]), high, later, self.snapshot)

    def beyond(self, done: Slice) -> Backlog:
        """What is left when this slice is published and purged."""
        return replace(self, begin=done.high, spanning=tuple(one for one in self.spanning if one.last >= done.high))


def begun(connection: Connection, parts: Mapping[str, sql.Composable], snapshot: str, width: int) -> Backlog:
    """Look over the whole queue once, at what the snapshot shows of it; the sweeps that follow need not."""
    connection.execute("SET LOCAL enable_seqscan = on")
    rows = connection.execute(
        composed("publish/spanning", **parts, width=sql.Literal(width), snapshot=sql.Literal(snapshot))
    ).fetchall()
    connection.execute("SET LOCAL enable_seqscan = off")
    return Backlog(snapshot, width, tuple(Spanning(*row) for row in rows))


def next_slice(connection: Connection, parts: Mapping[str, sql.Composable], backlog: Backlog) -> Slice | None:
    """The first slice in which a transaction ends; None if nothing is left."""
    row = connection.execute(
        composed(
            "publish/next",
            **parts,
            begin=sql.Literal(backlog.begin),
            snapshot=sql.Literal(backlog.snapshot),
            spanning=sql.Literal([one.trans_key for one in backlog.spanning]),
        )
    ).fetchone()
    ends = [one.last for one in backlog.spanning]
    keys = [*(row or ()), *ends]
    return backlog.slice_of(min(keys)) if keys else None


def is_longer(connection: Connection, parts: Mapping[str, sql.Composable], changes: int) -> bool:
    """Whether more changes are queued than that."""
    return connection.execute(composed("publish/nth", **parts), {"nth": changes}).fetchone() is not None
