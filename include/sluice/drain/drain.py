"""Delivers the log to one slave: decides how large batches are, and what is tried when one fails. The steps of a batch
are in `pipeline.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.net.effects import Step
from sluice.arrow_rows import filter_rows
from sluice.changelog.manifest import Manifest, Segment
from sluice.changelog.segment_files import SegmentFiles
from sluice.crash import CrashPoint, crash_if_asked
from sluice.drain.batches import MOST_BYTES, Batch
from sluice.drain.ddl_policy import ALL, DdlPermission
from sluice.drain.isolate_failure import FailingTransaction, describe, narrow
from sluice.drain.pipeline import BatchPipeline
from sluice.drain.prepare import BatchPreparation
from sluice.drain.remove_transaction import WithoutTransaction, no_obstacle
from sluice.errors import KeyConflict, LogBehind, SluiceError, TooSlow, TransientError, Unready
from sluice.model.blocking_transaction import BlockingTransaction
from sluice.model.names import TableName
from sluice.model.position import Position
from sluice.model.row_conflict import RejectedChange, Tolerated
from sluice.model.sequence import SequenceValue
from sluice.model.statement import NodeOutcome, Statement
from sluice.vendors.protocol.slave import MOST_REPLAYED, SlaveDatabase
from sluice.vendors.protocol.visibility import ReadSnapshot, Visibility

# As many changes as there are.
_ANY = 1 << 30
# How many changes the first batch has after a crash: few enough to be delivered before the next one.
_SMALL = 1_000
# A batch that fails on its own is tried together with what follows, up to so many times its size (R1).
_WIDEST = 64
# Of a slave that is far behind, so many segments are looked up for a batch.
_SEGMENTS = 1_000


@dataclass(frozen=True)
class Delivered:
    """The result of one pass over the log: changes that were delivered, and changes of skipped tables."""

    position: Position
    transactions: int = 0
    changes: int = 0
    tolerated: Tolerated = field(default_factory=Tolerated)
    skipped: Counter[TableName] = field(default_factory=Counter)


class Drain:
    """Delivers to one slave, from the position that the slave itself keeps.

    Args:
        read_snapshot: reads snapshots of the master.
        answered: called with the result of each statement; without it the slave skips statements.
        collected: replay transactions in their order, several together until they have so many changes; without
            it batches are applied by their net effect.
        salt: what hashes are made with.
        rejected: called with the changes that the slave did not carry out, before the commit.
        permission: what the slave does about commands of the master.
        skipped: tables of the master that the slave is not given.
    """

    def __init__(
        self,
        slave: SlaveDatabase,
        manifest: Manifest,
        files: SegmentFiles,
        size: int,
        read_snapshot: ReadSnapshot,
        answered: Callable[[Statement, NodeOutcome], None] | None = None,
        collected: int | None = None,
        salt: bytes = b"",
        rejected: Callable[[Iterable[RejectedChange]], None] = lambda _: None,
        permission: DdlPermission = ALL,
        skipped: Collection[TableName] = (),
    ) -> None:
        self._slave = slave
        self._manifest = manifest
        self._size = self._full_size = size
        self._collected = collected
        self._rejected = rejected
        self._skipped = skipped
        self._pipeline = BatchPipeline(slave, manifest, files, salt, skipped, permission, rejected, answered)
        self._preparing = BatchPreparation(self._pipeline.prepare, slave.looks_through)
        self._left: Batch | None = None
        self._tried: list[int] = []
        self._refused: list[int] = []
        self._slow: FailingTransaction | None = None
        self.position = Position(0, 0)
        self.stuck: BlockingTransaction | None = None
        self._read_snapshot = read_snapshot
        self._seen: Visibility | None = None

    def begin(self, epoch: int, *, after_crash: bool = False) -> None:
        """Take over from an earlier drain and read the slave's position.

        Sessions of an initial update in blocks are not ended.

        Args:
            after_crash: the earlier drain died: begin with a small batch, and double it with each that is delivered.

        Raises:
            SluiceError: SLC-052, the slave is ahead of the log: its ordinals would be given out twice.
        """
        self.position, snapshot = self._slave.take_over(epoch, blocks=False)
        self._seen = self._read_snapshot(snapshot) if snapshot else None
        self._size = min(_SMALL, self._full_size) if after_crash else self._full_size
        self._slave.loosen(self._skipped)
        end = self._manifest.end()
        if self.position.ordinal > end.ordinal:
            raise LogBehind(
                52,
                f"slave {self._slave.pair.slave} is at {self.position}, but the change log ends at {end}",
                "the control store was restored to an earlier state: trigger the DAG bootstrap with rebase, then "
                "initial_update for all slaves of this source",
            )

    @property
    def is_narrowing(self) -> bool:
        """Whether a batch failed, and the transaction that is the reason was not found yet."""
        return any(ordinal > self.position.ordinal for ordinal in self._refused)

    @property
    def emptied_tables(self) -> Collection[TableName] | None:
        """The tables of the slave that the drain emptied; None if it may have made, emptied or altered any."""
        return None if self._pipeline.commanded else self._pipeline.emptied

    def deliver(self) -> Delivered | None:
        """The next batch, if there is one.

        Raises:
            SluiceError: terminal; the slave has what comes before `stuck`, which is the transaction that fails (R8).
        """
        rest = [ordinal for ordinal in self._refused if ordinal > self.position.ordinal]
        segments = self._ahead(None if rest else _SEGMENTS)
        if not segments:
            return None
        crash_if_asked(CrashPoint.GATED)
        if self._slow and rest == [self._slow.ordinal]:
            raise self._describe(segments, self._slow)
        try:
            return self._deliver_some(segments, rest)
        except TooSlow as error:
            return self._deliver_before(error)

    def _deliver_some(self, segments: list[Segment], rest: list[int]) -> Delivered:
        """Deliver the next batch.

        Args:
            rest: transactions of one that failed, as far as they are not delivered.
        """
        if rest and rest[-1] <= segments[-1].last_ordinal:
            return self._narrow(segments, rest)
        self._tried = self._refused = []
        try:
            delivered = self._deliver_next(segments)
        except (TransientError, TooSlow):
            raise
        except SluiceError:
            if not self._tried:
                raise
            self._refused, self._left = self._tried, None
            return self._narrow(self._ahead(), self._refused)
        self._size = min(2 * self._size, self._full_size)
        return delivered

    def _deliver_next(self, segments: list[Segment]) -> Delivered:
        if self._collected is None:
            try:
                return self._apply_prepared(segments, partial(self._next, segments))
            except (TransientError, TooSlow):
                raise
            except SluiceError:
                # Again from the log, as one piece, which can be made wider, or narrower.
                return self._widen(self._full_size)
        # A batch of one segment, so that each of its transactions has a position.
        batches = self._batches(segments[:1], self._size, in_parts=True, whole=MOST_REPLAYED)
        batch = self._left or next(batches)
        if not batch.last:
            return self._apply_large(segments, chain([batch], batches))
        replayed = self._replay(batch, self._collected, _sequences(segments[:1], batch.end))
        self._left = batch.beyond(self.position)
        if replayed.transactions:
            return replayed
        try:
            applied = self._apply_together(segments[:1], iter([batch.first()]))
        except Unready as error:
            self._left = None
            return self._again(error)
        self._left = batch.beyond(self.position)
        return applied

    def _apply_large(self, segments: list[Segment], batches: Iterator[Batch]) -> Delivered:
        """Apply one transaction, the first of these, part by part; it is too large to be replayed."""
        try:
            return self._apply_prepared(segments[:1], partial(_first, batches))
        except (TransientError, TooSlow):
            raise
        except SluiceError as error:
            return self._again(error)

    def _again(self, error: SluiceError) -> Delivered:
        """Apply the next transaction in one piece together with later ones that it may need.

        They are many if it may need a late ALTER, and few if it needs a key that is freed soon.
        """
        far = isinstance(error, Unready) and not isinstance(error, KeyConflict)
        return self._widen(self._full_size if far else 1)

    def _narrow(self, segments: list[Segment], rest: list[int]) -> Delivered:
        """Deliver a part of a batch that failed as a whole, or name the transaction that fails."""
        result = narrow(rest, lambda ordinal: self._apply_together(segments, self._until(segments, ordinal)))
        if not isinstance(result, FailingTransaction):
            return result
        raise self._describe(segments, result)

    def _deliver_before(self, error: TooSlow) -> Delivered:
        """Deliver what comes before the first change of a table that takes too long, or name its transaction.

        Each try of fewer changes would take as long again.
        """
        self._left, segments = None, self._ahead()
        ordinal = self._find_first(segments, error.table)
        self._slow, self._refused = FailingTransaction(ordinal, error), [ordinal]
        if ordinal == self.position.ordinal + 1:
            raise self._describe(segments, self._slow)
        try:
            return self._apply_together(segments, self._until(segments, ordinal - 1))
        except TransientError:
            raise
        except TooSlow as earlier:
            return self._deliver_before(earlier)
        except Unready:
            # It needs what comes later.
            raise self._describe(segments, self._slow) from None
        except SluiceError:
            self._slow, self._refused = None, self._tried or [ordinal]
            return self._narrow(segments, self._refused)

    def _find_first(self, segments: list[Segment], table: object) -> int:
        """The first transaction of a table of the slave; the next one if none is."""
        for batch in self._batches(segments, self._full_size, in_parts=True):
            changes, layouts = self._pipeline.see(batch.changes, batch.ddl)
            numbers = [number for number, layout in layouts.items() if layout.name == table]
            own = filter_rows(changes, pc.is_in(changes["layout"], value_set=pa.array(numbers, pa.int64())))
            if len(own):
                return int(own["ordinal"][0].as_py())
        return self.position.ordinal + 1

    def _describe(self, segments: list[Segment], failing: FailingTransaction) -> SluiceError:
        """Describe the transaction that fails as `stuck`; its error."""
        read = (part.changes for part in self._until(segments, failing.ordinal))
        own = (filter_rows(changes, pc.equal(changes["ordinal"], failing.ordinal)) for changes in read)
        self.stuck = describe(own, self._manifest.layouts)
        return failing.error

    def _until(self, segments: list[Segment], ordinal: int) -> Iterator[Batch]:
        return self._batches(segments, _ANY, _ANY, until=ordinal)

    def remove(self, ordinal: int) -> Delivered:
        """Move the slave past a transaction without applying it. Earlier ones that it lacks are applied.

        Raises:
            SluiceError: SLC-172, the slave has it, or the log has none of that number; or what the slave refuses.
        """
        segments = self._ahead()
        inside = next(
            (segment.number for segment in segments if segment.first_ordinal <= ordinal <= segment.last_ordinal), None
        )
        if inside is None or ordinal <= self.position.ordinal:
            raise no_obstacle(self._slave.pair, ordinal)
        others = WithoutTransaction(self._pipeline.see, self._pipeline.views, self._manifest, ordinal)
        prepare = partial(self._pipeline.prepare, see=others.see)
        ahead = self._until(segments, ordinal)
        piece = BatchPreparation(prepare, self._slave.looks_through).together(ahead, [])
        end = Position(inside, ordinal)
        told = self._report(others.removed_changes())
        tolerated = self._pipeline.write(piece.steps, end, _sequences(segments, end), told)
        return self._at(end, piece.changes, tolerated, piece.skipped)

    def make_durable(self) -> Position:
        """Flush the slave; the log may be trimmed up to the position returned."""
        self._slave.make_durable()
        return self.position

    def close(self) -> None:
        """Forget what was prepared for batches to come."""
        self._preparing.close()

    def _ahead(self, most: int | None = None) -> list[Segment]:
        return self._manifest.ahead(self._slave.pair.slave, self.position, most=most)

    def _apply_prepared(self, segments: list[Segment], read: Callable[[], Iterator[Batch]]) -> Delivered:
        """Apply the next batch. It is read now if it was not prepared."""
        batch = self._preparing.next(segments[-1].last_ordinal, read)
        try:
            tolerated = self._pipeline.write(batch.steps(), batch.end, _sequences(segments, batch.end))
        except BaseException:
            # What is prepared begins behind it.
            self.close()
            raise
        return self._at(batch.end, batch.changes, tolerated, batch.skipped)

    def _widen(self, size: int) -> Delivered:
        """Apply a batch of about that size, or a larger one that frees the keys it needs (R1)."""
        segments = self._ahead()
        wider = 1
        while True:
            batches = self._batches(segments, size * wider, wider)
            try:
                return self._apply_together(segments, batches)
            except Unready:
                if next(batches, None) is None or wider >= _WIDEST:
                    raise
                wider *= 4

    def _next(self, segments: list[Segment]) -> Iterator[Batch]:
        """The next batches of one size."""
        batches = self._batches(segments, self._size, in_parts=True)
        return batches if self._size == self._full_size else _first(batches)

    def _batches(self, segments: list[Segment], size: int, wider: int = 1, **how: Any) -> Iterator[Batch]:
        return self._pipeline.read(segments, self.position, self._seen, size, MOST_BYTES * wider, **how)

    def _replay(self, batch: Batch, collected: int, sequences: list[SequenceValue]) -> Delivered:
        begin = self.position
        replayed = self._pipeline.replay(batch, begin, collected, sequences)
        self.position = replayed.position
        left = batch.beyond(self.position)
        done = batch.changes.slice(0, len(batch.changes) - (len(left.changes) if left else 0))
        skipped = self._pipeline.views.left_out(done)
        return Delivered(self.position, self.position.ordinal - begin.ordinal, len(done), replayed.tolerated, skipped)

    def _apply_together(self, segments: list[Segment], batches: Iterator[Batch]) -> Delivered:
        """Apply the first of these batches as one piece."""
        self._tried = []
        piece = self._preparing.together(batches, self._tried)
        tolerated = self._pipeline.write(piece.steps, piece.end, _sequences(segments, piece.end))
        return self._at(piece.end, piece.changes, tolerated, piece.skipped)

    def _at(self, end: Position, changes: int, tolerated: Tolerated, skipped: Counter[TableName]) -> Delivered:
        begin, self.position = self.position, end
        return Delivered(end, end.ordinal - begin.ordinal, changes, tolerated, skipped)

    def _report(self, removed: Iterable[RejectedChange]) -> Iterator[Step]:
        """Report the removed changes when all steps are done. Adds no step."""
        self._rejected(removed)
        yield from ()


def _first(parts: Iterator[Batch]) -> Iterator[Batch]:
    """The parts of the first batch."""
    for part in parts:
        yield part
        if part.last:
            return


def _sequences(segments: list[Segment], end: Position) -> list[SequenceValue]:
    """The newest value of each sequence that moved in the segments that are delivered whole with this batch."""
    newest = {
        value.use: value for segment in segments if segment.last_ordinal <= end.ordinal for value in segment.sequences
    }
    return list(newest.values())
