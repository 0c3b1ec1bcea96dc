"""A queue too long for one sweep: what one snapshot of it showed, published in slices of keys, one a sweep (R1).

A transaction belongs to the slice of its largest key. So the slices together are one unbounded sweep of that snapshot;
what committed after it comes after it. The queue has no index. It is looked over once, to learn in which of its blocks
the keys of each slice lie; a slice then costs what it holds, however much is queued.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise

from psycopg import sql

from sluice.vendors.postgresql.session import Connection, composed

# So many blocks are looked at as one, and a slice is read in so many pieces.
_RUN = 16
_MOST_PIECES = 32

Blocks = tuple[int, int]
ALL_BLOCKS: Blocks = (0, 2**32 - 1)


@dataclass(frozen=True)
class Slice:
    """The part of a backlog that one sweep reads: keys from `low` to below `high`, of transactions in the snapshot.

    Attributes:
        later: transactions with keys in here that end beyond `high`.
        snapshot: None for all that the sweep itself sees.
        blocks: where in the queue they lie: the first block of each piece, and the one behind its last.
    """

    low: int = 0
    high: int = 2**63 - 1
    later: tuple[str, ...] = ()
    snapshot: str | None = None
    blocks: tuple[Blocks, ...] = (ALL_BLOCKS,)

    def within(self) -> list[sql.Composed]:
        """The condition on ITEMS that each piece stands for."""
        return [
            composed(
                "capture/queue/within",
                begin=sql.Literal(f"({begin},0)"),
                end=sql.Literal(f"({end},0)"),
                low=sql.Literal(self.low),
                high=sql.Literal(self.high),
                later=sql.Literal(list(self.later)),
                snapshot=sql.Literal(self.snapshot),
            )
            for begin, end in self.blocks
        ]

    def taken(self, parts: Mapping[str, sql.Composable]) -> sql.Composed:
        """The query of all that it takes."""
        pieces = (composed("capture/queue/taken", **parts, within=within) for within in self.within())
        return sql.SQL(" UNION ALL ").join(pieces)


EVERYTHING = Slice()


@dataclass(frozen=True)
class Spanning:
    """A transaction whose keys lie in several slices."""

    trans_key: str
    first: int
    last: int


@dataclass(frozen=True)
class Backlog:
    """The rest of a backlog.

    Attributes:
        file: what holds the queue; in another one everything lies elsewhere.
        ends: the slices that transactions end in, in order.
        blocks: the ranges of the queue's blocks that have keys of a slice.
    """

    snapshot: str
    width: int
    file: int
    ends: tuple[int, ...]
    spanning: tuple[Spanning, ...] = ()
    blocks: Mapping[int, list[Blocks]] = field(default_factory=dict)

    def to_text(self) -> str:
        """The backlog as JSON, for a session elsewhere to go on with."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Backlog:
        """The backlog that `to_text` wrote."""
        found = json.loads(text)
        spanning = tuple(Spanning(**one) for one in found.pop("spanning"))
        blocks = {int(number): [(begin, end) for begin, end in lie] for number, lie in found.pop("blocks").items()}
        return cls(**found | {"ends": tuple(found["ends"])}, spanning=spanning, blocks=blocks)

    def next(self) -> Slice | None:
        """The slice to be taken now, with all keys of the transactions that end in it; None if nothing is left."""
        if not self.ends:
            return None
        number = self.ends[0]
        low, high = number * self.width, (number + 1) * self.width
        low = min([low, *(one.first for one in self.spanning if low <= one.last < high)])
        later = tuple(one.trans_key for one in self.spanning if one.first < high <= one.last)
        pieces = (piece for one in range(low // self.width, number + 1) for piece in self.blocks.get(one, ()))
        return Slice(low, high, later, self.snapshot, joined(pieces))

    def beyond(self, done: Slice) -> Backlog:
        """The rest after this slice is published and purged."""
        left = tuple(one for one in self.spanning if one.last >= done.high)
        return replace(self, ends=self.ends[1:], spanning=left)


def begun(connection: Connection, parts: Mapping[str, sql.Composable], snapshot: str, width: int) -> Backlog:
    """Look over the whole queue, at what the snapshot shows of it; the sweeps that follow need not."""
    values = {"width": sql.Literal(width), "snapshot": sql.Literal(snapshot), "run": sql.Literal(_RUN)}
    ends: list[int] = []
    spanning: list[Spanning] = []
    for number, names, firsts, lasts in connection.execute(composed("capture/queue/spanning", **parts, **values)):
        ends.append(number)
        spanning += map(Spanning, names, firsts, lasts)
    blocks: dict[int, list[Blocks]] = {}
    for block, numbers in connection.execute(composed("capture/queue/places", **parts, **values)):
        for number in numbers:
            blocks.setdefault(number, []).append((block, block + _RUN))
    return Backlog(snapshot, width, file(connection, parts), tuple(ends), tuple(spanning), blocks)


def file(connection: Connection, parts: Mapping[str, sql.Composable]) -> int:
    """The number of the file that holds the queue."""
    (number,) = connection.execute(composed("capture/queue/file", **parts)).fetchone() or (0,)
    return int(number)


def joined(pieces: Iterable[Blocks], most: int = _MOST_PIECES) -> tuple[Blocks, ...]:
    """The same blocks, at least one, in order and each once, in few pieces: what lies closest together becomes one."""
    merged: list[Blocks] = []
    for begin, end in sorted(pieces):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    by_gap = sorted(range(1, len(merged)), key=lambda at: merged[at][0] - merged[at - 1][1], reverse=True)
    cuts = [0, *sorted(by_gap[: most - 1]), len(merged)]
    return tuple((merged[at][0], merged[behind - 1][1]) for at, behind in pairwise(cuts))


def is_longer(connection: Connection, parts: Mapping[str, sql.Composable], changes: int) -> bool:
    """Whether more changes are queued than that."""
    return connection.execute(composed("capture/queue/nth", **parts), {"nth": changes}).fetchone() is not None
