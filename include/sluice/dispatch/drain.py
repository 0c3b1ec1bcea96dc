"""Delivering the change log to one slave: obsolete check -> net -> staging -> one transaction with the position."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow.compute as pc

from sluice.changelog.files import SegmentFiles
from sluice.changelog.manifest import Manifest
from sluice.crash import CrashPoint, reached
from sluice.dispatch.batches import Batch, batches
from sluice.dispatch.runs import runs
from sluice.errors import KeyConflict, SluiceError
from sluice.model.layout import Layout
from sluice.model.position import Position, Snapshot
from sluice.vendors.protocol import SlaveDatabase

# A batch that meets a key of the slave is tried together with what follows, up to so many times its size (R1).
_WIDEST = 64


@dataclass(frozen=True)
class Delivered:
    """What one pass over the log brought to the slave."""

    position: Position
    transactions: int = 0
    changes: int = 0
    tolerated: int = 0


class Drain:
    """Delivers to one slave, from the position that the slave itself keeps."""

    def __init__(self, slave: SlaveDatabase, manifest: Manifest, files: SegmentFiles, size: int) -> None:
        self._slave = slave
        self._manifest = manifest
        self._files = files
        self._size = size
        self._layouts: dict[int, Layout] = {}
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
                "the control store was restored to an earlier state; run initial_update for the slaves of this source",
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
        size = self._size
        while True:
            found = batches(self._files, segments, self.position, self._snapshot, size)
            try:
                return self._apply(next(found))
            except KeyConflict:
                if next(found, None) is None or size >= self._size * _WIDEST:
                    raise
                size *= 4

    def make_durable(self) -> Position:
        """Flush the slave; the log may be trimmed up to the position returned."""
        self._slave.make_durable()
        return self.position

    def _apply(self, batch: Batch) -> Delivered:
        numbers = set(pc.unique(batch.changes["layout"]).to_pylist())
        if unknown := numbers - self._layouts.keys():
            self._layouts |= self._manifest.layouts(unknown)
        tolerated = self._slave.apply(runs(batch.changes, self._layouts), batch.end)
        reached(CrashPoint.DELIVERED)
        self.position = batch.end
        return Delivered(batch.end, batch.transactions, len(batch.changes), tolerated)
