"""Filling some tables of a slave anew, while the others keep their rows (R5).

The slave is brought to a point of its stream first, without these tables; they are read in the snapshot of that point.
So there is one position again, at which all tables are what the master had, and the stream goes on from there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import ExitStack

from sluice.changelog import points
from sluice.context import Context
from sluice.drain.drain_to_point import reach
from sluice.initial_update.chunks.catch_up import PATIENCE_S
from sluice.initial_update.chunks.copy import LoadTarget, NoResume
from sluice.initial_update.chunks.plan import chunks
from sluice.log import event
from sluice.model.names import Pair, TableName
from sluice.model.position import Position
from sluice.store import blocked, updates
from sluice.vendors.protocol.load import DumpSnapshot
from sluice.vendors.protocol.read import Chunk


class HeldPoint:
    """A point at which slaves are held until they have all come.

    Args:
        stack: ends it at the latest.
    """

    def __init__(self, context: Context, pairs: Sequence[Pair], stack: ExitStack) -> None:
        self._context = context
        self._pairs = pairs
        self._stack = stack.enter_context(ExitStack())

    def __call__(self) -> tuple[Position, str]:
        """Ask for it: where it is, and the snapshot that shows exactly that. Raises TransientError SLC-094."""
        slaves = [pair.slave for pair in self._pairs]
        held = points.hold(self._context.store, self._pairs[0].source, slaves, PATIENCE_S, self._context.ask_publisher)
        point = self._stack.enter_context(held)
        return point.position, point.snapshot_id

    def end(self) -> None:
        """End the hold: all slaves have come, or none will come any more."""
        self._stack.close()


class SomeTables(NoResume):
    """See `chunks.copy.ResumeStrategy`: the other tables of a slave follow up to the snapshot of the dump.

    Attributes:
        shown: that snapshot.
    """

    def __init__(
        self,
        context: Context,
        snapshot: DumpSnapshot,
        stages: Sequence[Sequence[TableName]],
        update: int,
        tables: frozenset[TableName],
        at: HeldPoint,
    ) -> None:
        super().__init__(chunks(snapshot.leaves(), context.config.bulk_tasks, stages))
        self.shown = snapshot
        self._context = context
        self._update = update
        self._tables = tables
        self._others = frozenset(name for stage in stages for name in stage) - self._tables
        self._at = at

    def begin(self, target: LoadTarget) -> None:
        """Take over from earlier jobs, and drain the slave to the point.

        Raises:
            SluiceError: what stops a drain; SLC-091, the slave does not come to the point.
        """
        super().begin(target)
        (pair,) = target.pairs
        position = self.shown.position
        reach(self._context, pair, target.plan.epoch, position, self._tables, PATIENCE_S)
        event("came to the point", slave=pair.slave, position=position)

    def catch_up(self, target: LoadTarget) -> None:
        """Check that the other tables are still exact.

        Raises:
            SluiceError: SLC-079, changes of unknown tables were lost meanwhile.
        """
        updates.expect_exact(self._context.store, self._update, self._tables, target.name)

    def incomplete_tables(self, target: LoadTarget) -> Collection[TableName]:
        """The skipped tables that this update does not fill."""
        (pair,) = target.pairs
        return blocked.skipped_tables(self._context.store, pair).keys() - self._tables

    def chunks(self) -> Sequence[Chunk]:
        """The chunks of the tables; all targets are at the point by now."""
        self._at.end()
        return super().chunks()

    def kept_tables(self, target: LoadTarget) -> frozenset[TableName]:
        """The other tables."""
        return self._others
