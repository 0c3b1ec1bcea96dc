"""The change log, read and cut into batches of whole transactions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, pairwise

import numpy as np
import pyarrow as pa

from sluice.changelog.manifest import Segment
from sluice.changelog.schema import CHANGES
from sluice.changelog.segment_files import SegmentFiles
from sluice.changelog.transaction_cutter import Cut
from sluice.drain.parsed_ddl import ParsedDdl
from sluice.model.position import Position

# Wide rows fill memory long before there are many of them.
MOST_BYTES = 128 * 1024 * 1024
# A transaction of more changes comes in parts of so many, so that the slave's server is at one while the next is read.
PART = 16_384

# Of a batch, and whether it ends with them.
_Part = tuple[list[pa.RecordBatch], bool]


@dataclass(frozen=True)
class Batch:
    """Whole transactions, in order (R4); `end` is where the slave is once it has them.

    Attributes:
        last: whether that is all. Of a transaction that is too large for one it has a part, and others follow.
        ddl: what its commands say of their tables.
    """

    changes: pa.Table
    end: Position
    transactions: int
    last: bool = True
    ddl: ParsedDdl = field(default_factory=ParsedDdl, compare=False)

    def first(self) -> Batch:
        """Its first transaction alone, with those before it that change nothing for this slave."""
        return self.until(self.changes["ordinal"][0].as_py()) if len(self.changes) else self

    def beyond(self, position: Position) -> Batch | None:
        """What is left of it for a slave that is there; nothing if it has all of it."""
        done = self.until(position.ordinal)
        left = self.transactions - done.transactions
        return replace(self, changes=self.changes.slice(len(done.changes)), transactions=left) if left else None

    def until(self, ordinal: int) -> Batch:
        """Its transactions up to one of them, which lies in the segment that it ends in."""
        rows = int(np.searchsorted(self.changes["ordinal"].to_numpy(), ordinal, side="right"))
        transactions = self.transactions - (self.end.ordinal - ordinal)
        end = Position(self.end.segment, ordinal)
        return replace(self, changes=self.changes.slice(0, rows), end=end, transactions=transactions)


def read_batches(
    files: SegmentFiles,
    segments: list[Segment],
    position: Position,
    size: int,
    most_bytes: int = MOST_BYTES,
    *,
    in_parts: bool = False,
    whole: int = 0,
    until: int | None = None,
) -> Iterator[Batch]:
    """Batches of about `size` changes, cut only between transactions; a larger transaction is a batch of its own.

    Args:
        most_bytes: a batch ends as well where it is that large.
        in_parts: a transaction larger than that, or than `PART`, comes in several, and others do not; else every batch
            does that is larger than `PART`.
        whole: one of so many changes comes as a whole all the same, unless it is larger than `most_bytes`.
        until: the last transaction; by default that of the last segment.
    """
    part = min(size, PART)
    if until is None:
        until = max((segment.last_ordinal for segment in segments), default=0)
    segments = [segment for segment in segments if segment.first_ordinal <= until]
    ends = [segment.last_ordinal for segment in segments]
    begin = done = position.ordinal
    cut = Cut((_between(record, begin, until) for record in files.read(one.written, begin)) for one in segments)
    while cut.more:
        piece = cut.piece(size, most_bytes)
        parts = (
            _parts(piece, part, max(part, whole), most_bytes) if in_parts else _some_at_a_time(piece, PART, MOST_BYTES)
        )
        for records, last in parts:
            changes = pa.Table.from_batches(records, CHANGES)
            end = changes["ordinal"][-1].as_py()
            transactions, done = end - done, end
            yield Batch(changes, Position(segments[bisect_left(ends, end)].number, end), transactions, last)


def _parts(records: Iterator[pa.RecordBatch], size: int, whole: int, most_bytes: int) -> Iterator[_Part]:
    """A piece of the log as batches: each transaction of more than `whole` changes is one, in parts of `size`."""
    held: list[pa.RecordBatch] = []
    own: list[pa.RecordBatch] = []
    coming = chain.from_iterable(map(partial(_with_large_at_end, whole), records))
    while (record := next(coming, None)) is not None:
        ordinals = record.column("ordinal").to_numpy()
        last = ordinals[-1]
        begin = int(np.searchsorted(ordinals, last, side="left"))
        if begin or (own and own[-1].column("ordinal")[0].as_py() != last):
            held += [*own, *([record.slice(0, begin)] if begin else [])]
            own = []
        own.append(record.slice(begin))
        if sum(map(len, own)) > whole or sum(one.nbytes for one in own) > most_bytes:
            if held:
                yield held, True
            behind: list[pa.RecordBatch] = []
            held = []
            del record
            yield from _some_at_a_time(_until(last, chain(_given_away(own), coming), behind), size, most_bytes)
            coming = chain(behind, coming)
    if held or own:
        yield [*held, *own], True


def _with_large_at_end(size: int, record: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The record, cut behind each of its transactions that is larger than that."""
    starts = np.flatnonzero(np.diff(record.column("ordinal").to_numpy(), prepend=-1))
    ends = np.append(starts[1:], len(record))
    for begin, end in pairwise([0, *ends[:-1][np.diff(starts) > size].tolist(), len(record)]):
        yield record.slice(begin, end - begin)


def _until(ordinal: int, records: Iterator[pa.RecordBatch], behind: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What there is up to that transaction; what is left of the last record goes to `behind`."""
    for record in records:
        end = int(np.searchsorted(record.column("ordinal").to_numpy(), ordinal, side="right"))
        if end:
            yield record.slice(0, end)
        if end < len(record):
            behind.append(record.slice(end))
            return


def _some_at_a_time(records: Iterable[pa.RecordBatch], size: int, most_bytes: int) -> Iterator[_Part]:
    held: list[pa.RecordBatch] = []
    room = size
    for record in records:
        while len(record):
            if not room or sum(one.nbytes for one in held) >= most_bytes:
                yield held, False
                held, room = [], size
            held.append(record.slice(0, room))
            record = record.slice(room)
            room -= len(held[-1])
    yield held, True


def _given_away(records: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    while records:
        yield records.pop(0)


def _between(record: pa.RecordBatch, begin: int, until: int) -> pa.RecordBatch:
    """The transactions after one of them up to another."""
    first, end = np.searchsorted(record.column("ordinal").to_numpy(), (begin, until), side="right").tolist()
    return record.slice(first, end - first)
