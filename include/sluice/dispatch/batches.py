"""The change log of one slave, cut into batches of whole transactions, without those that its data already holds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.changelog.cutting import Cut
from sluice.changelog.files import SegmentFiles
from sluice.changelog.manifest import Segment
from sluice.changelog.schema import CHANGES
from sluice.model.position import Position, Snapshot
from sluice.taking import kept

# Wide rows fill memory long before there are many of them.
MOST_BYTES = 128 * 1024 * 1024


@dataclass(frozen=True)
class Batch:
    """Whole transactions, in order (R4); `end` is where the slave is once it has them."""

    changes: pa.Table
    end: Position
    transactions: int

    def first(self) -> Batch:
        """Its first transaction alone, with those before it that change nothing for this slave."""
        return self.until(self.changes["ordinal"][0].as_py()) if len(self.changes) else self

    def beyond(self, position: Position) -> Batch | None:
        """What is left of it for a slave that is there; nothing if it has all of it."""
        done = self.until(position.ordinal)
        left = self.transactions - done.transactions
        return Batch(self.changes.slice(len(done.changes)), self.end, left) if left else None

    def until(self, ordinal: int, segment: int | None = None) -> Batch:
        """Its transactions up to one of them, which lies in that segment; by default in the one that it ends in."""
        rows = int(np.searchsorted(self.changes["ordinal"].to_numpy(), ordinal, side="right"))
        transactions = self.transactions - (self.end.ordinal - ordinal)
        return Batch(self.changes.slice(0, rows), Position(segment or self.end.segment, ordinal), transactions)


def batches(
    files: SegmentFiles,
    segments: list[Segment],
    position: Position,
    snapshot: Snapshot | None,
    size: int,
    most_bytes: int = MOST_BYTES,
) -> Iterator[Batch]:
    """Batches of about `size` changes, cut only between transactions; a larger transaction is a batch of its own.

    Args:
        most_bytes: a batch ends as well where it is that large.
        snapshot: what the slave's first load saw; a transaction visible in it is obsolete (R5).
    """
    ends = [segment.last_ordinal for segment in segments]
    done = position.ordinal
    cut = Cut((_beyond(record, done) for record in files.read(one.written, done)) for one in segments)
    while cut.more:
        changes = pa.Table.from_batches(list(cut.piece(size, most_bytes)), CHANGES)
        end = Position(segments[bisect_left(ends, cut.ordinal)].number, cut.ordinal)
        if snapshot is not None:
            changes = kept(changes, newer(changes, snapshot))
        yield Batch(changes, end, end.ordinal - done)
        done = end.ordinal


def _beyond(record: pa.RecordBatch, ordinal: int) -> pa.RecordBatch:
    first = int(np.searchsorted(record.column("ordinal").to_numpy(), ordinal, side="right"))
    return record.slice(first)


def newer(changes: pa.Table, snapshot: Snapshot) -> pa.ChunkedArray:
    """Which changes are exactly those that are not visible in the snapshot (R5)."""
    low, high, running = snapshot.parts()
    xids = changes["trans_key"].cast(pa.int64())
    return pc.or_(
        pc.greater_equal(xids, high),
        pc.and_(pc.greater_equal(xids, low), pc.is_in(xids, value_set=pa.array(sorted(running), pa.int64()))),
    )
