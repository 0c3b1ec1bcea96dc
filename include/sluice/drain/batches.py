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
# Larger transactions come in parts of this size, so that the slave's server writes one while the next is read.
PART = 16_384

# Records of a batch, and whether they are its last.
_Part = tuple[list[pa.RecordBatch], bool]


@dataclass(frozen=True)
class Batch:
    """Whole transactions, in order (R4).

    Attributes:
        last: False for a part if more parts of the same transactions follow.
        ddl: the parsed commands of the batch.
    """

    changes: pa.Table
    end: Position
    transactions: int
    last: bool = True
    ddl: ParsedDdl = field(default_factory=ParsedDdl, compare=False)

    def first(self) -> Batch:
        """Its first transaction, with empty ones before it."""
        return self.until(self.changes["ordinal"][0].as_py()) if len(self.changes) else self

    def beyond(self, position: Position) -> Batch | None:
        """The rest of the batch after a position; None if there is none."""
        done = self.until(position.ordinal)
        left = self.transactions - done.transactions
        return replace(self, changes=self.changes.slice(len(done.changes)), transactions=left) if left else None

    def until(self, ordinal: int) -> Batch:
        """Its transactions up to an ordinal, which is in the segment of its end."""
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
        most_bytes: the limit of a batch's size in bytes.
        in_parts: True splits only single transactions with more than `size` or `PART` changes; False splits every batch
            with more than `PART` changes.
        whole: transactions with up to this many changes are not split, unless they exceed `most_bytes`.
        until: the ordinal of the last transaction; by default the last one of the last segment.
    """
    part = min(size, PART)
    if until is None:
        until = max((segment.last_ordinal for segment in segments), default=0)
    segments = [segment for segment in segments if segment.first_ordinal <= until]
    ends = [segment.last_ordinal for segment in segments]
    begin = done = position.ordinal
    cut = Cut((_between(record, begin, until) for record in files.read(segment.file, begin)) for segment in segments)
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
    """Records of the log as batches: each transaction of more than `whole` changes is one, in parts of `size`."""
    pending: list[pa.RecordBatch] = []
    own: list[pa.RecordBatch] = []
    coming = chain.from_iterable(map(partial(_with_large_at_end, whole), records))
    while (record := next(coming, None)) is not None:
        ordinals = record.column("ordinal").to_numpy()
        last = ordinals[-1]
        begin = int(np.searchsorted(ordinals, last, side="left"))
        if begin or (own and own[-1].column("ordinal")[0].as_py() != last):
            pending += [*own, *([record.slice(0, begin)] if begin else [])]
            own = []
        own.append(record.slice(begin))
        if sum(map(len, own)) > whole or sum(piece.nbytes for piece in own) > most_bytes:
            if pending:
                yield pending, True
            behind: list[pa.RecordBatch] = []
            pending = []
            del record
            yield from _some_at_a_time(_until(last, chain(_given_away(own), coming), behind), size, most_bytes)
            coming = chain(behind, coming)
    if pending or own:
        yield [*pending, *own], True


def _with_large_at_end(size: int, record: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The record, cut behind each of its transactions that is larger than that."""
    starts = np.flatnonzero(np.diff(record.column("ordinal").to_numpy(), prepend=-1))
    ends = np.append(starts[1:], len(record))
    for begin, end in pairwise([0, *ends[:-1][np.diff(starts) > size].tolist(), len(record)]):
        yield record.slice(begin, end - begin)


def _until(ordinal: int, records: Iterator[pa.RecordBatch], behind: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The records up to a transaction; the rest of the last one is appended to `behind`."""
    for record in records:
        end = int(np.searchsorted(record.column("ordinal").to_numpy(), ordinal, side="right"))
        if end:
            yield record.slice(0, end)
        if end < len(record):
            behind.append(record.slice(end))
            return


def _some_at_a_time(records: Iterable[pa.RecordBatch], size: int, most_bytes: int) -> Iterator[_Part]:
    pending: list[pa.RecordBatch] = []
    room = size
    for record in records:
        while len(record):
            if not room or sum(piece.nbytes for piece in pending) >= most_bytes:
                yield pending, False
                pending, room = [], size
            pending.append(record.slice(0, room))
            record = record.slice(room)
            room -= len(pending[-1])
    yield pending, True


def _given_away(records: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    while records:
        yield records.pop(0)


def _between(record: pa.RecordBatch, begin: int, until: int) -> pa.RecordBatch:
    """The transactions after one of them up to another."""
    first, end = np.searchsorted(record.column("ordinal").to_numpy(), (begin, until), side="right").tolist()
    return record.slice(first, end - first)
