"""Delivering the log to one slave: obsolete check -> view -> net -> staging -> one transaction with the position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.view import Sight, seen, view
from sluice.changelog.files import SegmentFiles
from sluice.changelog.manifest import Manifest, Segment
from sluice.changelog.schema import NO_LAYOUT
from sluice.crash import CrashPoint, reached
from sluice.dispatch.batches import MOST_BYTES, Batch, batches
from sluice.dispatch.permitted import permitted
from sluice.dispatch.steps import steps
from sluice.dispatch.timely import timely
from sluice.errors import KeyConflict, SluiceError, Unready
from sluice.model.action import APPLIED, Policies
from sluice.model.layout import Layout
from sluice.model.manners import Manners
from sluice.model.position import Position, Snapshot
from sluice.model.sequence import SequenceValue
from sluice.model.statement import Outcome, Statement
from sluice.model.tolerance import Rejected, Tolerated
from sluice.vendors.protocol import SlaveDatabase

# A batch that fails on its own is tried together with what follows, up to so many times its size (R1).
_WIDEST = 64


@dataclass(frozen=True)
class Delivered:
    """What one pass over the log brought to the slave."""

    position: Position
    transactions: int = 0
    changes: int = 0
    tolerated: Tolerated = field(default_factory=Tolerated)


class Drain:
    """Delivers to one slave, from the position that the slave itself keeps.

    Args:
        answered: told what became of each statement; without it the slave passes over statements.
        collected: replay each transaction as one of the slave's, or together until they have so many changes; without
            it batches are applied by their net effect.
        salt: what hashes are made with.
        rejected: told what the slave did not carry out, before that is committed.
        policies: what the slave does about commands of the master.
    """

    def __init__(
        self,
        slave: SlaveDatabase,
        manifest: Manifest,
        files: SegmentFiles,
        size: int,
        answered: Callable[[Statement, Outcome], None] | None = None,
        collected: int | None = None,
        salt: bytes = b"",
        rejected: Callable[[Sequence[Rejected]], None] = lambda _: None,
        policies: Policies = APPLIED,
    ) -> None:
        self._slave = slave
        self._manifest = manifest
        self._files = files
        self._size = size
        self._answered = answered
        self._collected = collected
        self._rejected = rejected
        self._left: Batch | None = None
        self._salt = salt
        self._policies = policies
        self._sights: dict[int, Sight] = {}
        self.position = Position(0, 0)
        self._snapshot: Snapshot | None = None

    def begin(self, epoch: int) -> Position:
        """Fence out an earlier drain and learn how far the slave is.

        Raises:
            SluiceError: SLC-052, the slave is ahead of the log: its ordinals would be given out twice.
        """
        self.position, self._snapshot = self._slave.take_over(epoch)
        end = self._manifest.end()
        if self.position.ordinal > end.ordinal:
            raise SluiceError(
                52,
                f"slave {self._slave.pair.slave} is at {self.position}, but the change log ends at {end}",
                "the control store was restored to an earlier state: trigger the DAG bootstrap with rebase, then "
                "initial_update for all slaves of this source",
            )
        return self.position

    def deliver(self) -> Delivered | None:
        """The next batch, if there is one.

        Raises:
            SluiceError: terminal; the slave is as it was before the batch (R8).
        """
        segments = self._manifest.ahead(self._slave.pair.slave, self.position)
        if not segments:
            return None
        reached(CrashPoint.GATED)
        if self._collected is None:
            return self._widened(segments, self._size)
        # A batch of one segment, so that each of its transactions has a position.
        batch = self._left or next(self._batches(segments[:1], self._size))
        replayed = self._replayed(batch, self._collected, _sequences(segments[:1], batch.end))
        self._left = batch.beyond(self.position)
        if replayed.transactions:
            return replayed
        first = batch.first()
        try:
            applied = self._apply(first, _sequences(segments[:1], first.end))
        except Unready as error:
            self._left = None
            # A key is freed soon; an ALTER that was found late may be further away.
            return self._widened(segments, 1 if isinstance(error, KeyConflict) else self._size)
        self._left = batch.beyond(self.position)
        return applied

    def make_durable(self) -> Position:
        """Flush the slave; the log may be trimmed up to the position returned."""
        self._slave.make_durable()
        return self.position

    def _widened(self, segments: list[Segment], size: int) -> Delivered:
        """Apply a batch of about that size, or as much as it takes to have the keys free that it needs (R1)."""
        wider = 1
        while True:
            found = self._batches(segments, size * wider, wider)
            try:
                batch = next(found)
                return self._apply(batch, _sequences(segments, batch.end))
            except Unready:
                if next(found, None) is None or wider >= _WIDEST:
                    raise
                wider *= 4

    def _batches(self, segments: list[Segment], size: int, wider: int = 1) -> Iterator[Batch]:
        return batches(self._files, segments, self.position, self._snapshot, size, MOST_BYTES * wider)

    def _replayed(self, batch: Batch, collected: int, sequences: list[SequenceValue]) -> Delivered:
        changes, layouts = self._seen(batch)
        manners = self._manners(layouts)
        # Answers come after commits there: too late for a table whose changes may be rejected, say.
        patient = {number: one for number, one in layouts.items() if not manners.of(one.name).by_row}
        begin = self.position
        replayed = self._slave.replay(changes, patient, begin, batch.end, collected, sequences)
        self.position = replayed.position
        left = batch.beyond(self.position)
        count = len(batch.changes) - (len(left.changes) if left else 0)
        return Delivered(
            self.position, self.position.ordinal - begin.ordinal, count, manners.counted(replayed.tolerated)
        )

    def _seen(self, batch: Batch) -> tuple[pa.Table, dict[int, Layout]]:
        """What the slave sees of a batch, and of the layouts in it."""
        numbers = set(pc.unique(batch.changes["layout"]).to_pylist()) - {NO_LAYOUT}
        if unknown := numbers - self._sights.keys():
            layouts = self._manifest.layouts(unknown)
            more = {number: view(self._slave.mapper, layout) for number, layout in layouts.items()}
            self._sights |= {number: Sight(one, self._salt) for number, one in more.items()}
        sights = {number: self._sights[number] for number in numbers}
        changes = timely(batch.changes, {number: one.view.master for number, one in sights.items()})
        return seen(changes, sights), {number: one.view.layout for number, one in sights.items()}

    def _manners(self, layouts: Iterable[int]) -> Manners:
        views = (self._sights[number].view for number in layouts)
        tables = {one.layout.name: self._slave.mapper.manner(one.master.name) for one in views}
        return Manners(tables, self._rejected)

    def _apply(self, batch: Batch, sequences: list[SequenceValue]) -> Delivered:
        changes, layouts = self._seen(batch)
        manners = self._manners(layouts)
        passed = permitted(steps(changes, layouts), self._policies)
        found = self._slave.apply(passed, batch.end, sequences, self._answered, manners)
        reached(CrashPoint.DELIVERED)
        self.position = batch.end
        return Delivered(batch.end, batch.transactions, len(batch.changes), manners.counted(found))


def _sequences(segments: list[Segment], end: Position) -> list[SequenceValue]:
    """The newest value of each sequence that moved in the segments that are delivered whole with this batch."""
    newest = {
        value.use: value for segment in segments if segment.last_ordinal <= end.ordinal for value in segment.sequences
    }
    return list(newest.values())
