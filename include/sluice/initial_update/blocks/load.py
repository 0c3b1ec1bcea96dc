"""Loading slaves block by block while their stream goes on, in rounds, each at a point of its own (R10).

At the point a slave has applied exactly what the snapshot shows, to the rows that it has. So these are the master's
rows of that moment, and what it lacks of a block can be put in beside them: then it has the block as the master has it,
and the stream goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing

from sluice.changelog import points
from sluice.connections import sealed_text
from sluice.context import Context
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.blocks.estimate import RemainingEstimate
from sluice.initial_update.blocks.plan import open_ranges
from sluice.initial_update.blocks.schedule import Schedule
from sluice.initial_update.targets import slave_plan
from sluice.log import event
from sluice.model.names import Pair
from sluice.model.progress import LoadProgress
from sluice.state.initial_update import UpdateEvent
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import blocked, replications, updates
from sluice.store.replications import read_holdback
from sluice.throttle import Throttle
from sluice.vendors.protocol.read import KeyRange
from sluice.vendors.protocol.tasks import BlockJob, BlockLoaded, FromMaster

LoadBlocks = Callable[[BlockJob], Sequence[BlockLoaded]]

_LOOK_S = 1.0


def load_online(context: Context, source: str, slaves: Sequence[str], load: LoadBlocks) -> dict[str, dict[str, int]]:
    """Load what slaves lack of the tables that they get in blocks, until they have all of it.

    Rounds go to the slaves in turn. A slave that fails becomes INCONSISTENT. Neither it nor a slave that cannot be
    reached holds up the others (R8).

    Returns:
        `rows`: how many each slave has by blocks; `filled`: the update of each slave that has all rows of it now.

    Raises:
        SluiceError: every slave failed; the error of the last one.
        TransientError: SLC-094, no publisher runs, or no remaining slave can be reached. What is in stays, and the next
            run goes on.
    """
    with ExitStack() as stack:
        throttle = Throttle(context, source, context.config.source(source).blocks.max_active)
        loaders: list[_SlaveLoader] = []
        for slave in slaves:
            loaders.append(
                _SlaveLoader(context, Pair(source, slave), load, throttle, lambda: _report(context, loaders), stack)
            )
        while unfinished := [loader for loader in loaders if loader.is_unfinished]:
            _report(context, loaders)
            loaded = [loader.round() for loader in unfinished]
            unreachable = [loader.unreachable for loader in unfinished if loader.is_unfinished and loader.unreachable]
            if unreachable and len(unreachable) == sum(loader.is_unfinished for loader in unfinished):
                raise unreachable[-1]
            if not any(loaded):
                time.sleep(_LOOK_S)
        _report(context, loaders)
        for loader in loaders:
            loader.finish()
        for number in {loader.update for loader in loaders if loader.ranges and not loader.error}:
            updates.finish(context.store, number, UpdateEvent.LOADED)
        failed = [loader.error for loader in loaders if loader.error]
        if failed and len(failed) == len(loaders):
            raise failed[-1]
        rows = {loader.pair.slave: sum(within.rows for within in loader.ranges) for loader in loaders}
        return {"rows": rows, "filled": {loader.pair.slave: loader.update for loader in loaders if loader.is_ours}}


def _report(context: Context, loaders: Sequence[_SlaveLoader]) -> None:
    """Write down how far each update is where it is furthest behind."""
    for number in {loader.update for loader in loaders if loader.can_finish}:
        reports = [loader.progress for loader in loaders if loader.update == number and loader.can_finish]
        updates.report_blocks(context.store, number, min(reports, key=lambda report: report.rows))


class _SlaveLoader:
    """One slave on its way to all rows.

    Attributes:
        update: the number of its update.
        is_unfinished: whether the slave lacks rows.
        error: the error that ended its load.
        unreachable: the error of a slave that cannot be reached.
    """

    def __init__(
        self,
        context: Context,
        pair: Pair,
        load: LoadBlocks,
        throttle: Throttle,
        report: Callable[[], None],
        stack: ExitStack,
    ) -> None:
        self._context = context
        self.pair = pair
        self._load = load
        self._throttle = throttle
        self._report = report
        self._waits = ""
        self._settings = context.config.source(pair.source).blocks
        self._excludes = context.config.slave(pair.slave).mapper.excludes
        self._switch = context.switch(pair)
        replication = replications.get(context.store, pair)
        # No other run's blocks are loaded by this one.
        self.update = replication.update_id or 0 if updates.is_ours(context.store, replication) else 0
        self._schedule = Schedule()
        self._estimate = RemainingEstimate(context, pair.source)
        self.ranges: list[KeyRange] = []
        self.error: SluiceError | None = None
        self.unreachable: TransientError | None = None
        self.is_unfinished = self.is_ours
        if self.is_unfinished:
            self._ranges = stack.enter_context(closing(open_ranges(context, pair)))
            self._refresh()

    @property
    def is_ours(self) -> bool:
        """Whether its slave is still in this update: it has not failed, and has no other update."""
        replication = replications.get(self._context.store, self.pair)
        return replication.status is Status.TRANSITION and replication.update_id == self.update

    @property
    def can_finish(self) -> bool:
        """Whether the slave has all rows, or can still get them."""
        return bool(self.ranges) and (self.is_unfinished or not any(map(self._lacks_rows, self.ranges)))

    @property
    def progress(self) -> LoadProgress:
        """The progress; the rate is this run's."""
        return self._estimate.progress(self.ranges, self._waits or None)

    def round(self) -> bool:
        """Load the next blocks, as many at once as there may be tasks; False if that cannot be now."""
        if not self.is_ours:
            event("left alone", slave=self.pair.slave, why="its update was given up")
            self.is_unfinished = False
            return True
        limit = self._context.config.bulk_tasks
        if self._has_to_wait() or not (chosen := self._schedule.next(filter(self._lacks_rows, self.ranges), limit)):
            return False
        began = time.monotonic()
        with points.hold(
            self._context.store,
            self.pair.source,
            [self.pair.slave],
            self._settings.patience_s,
            self._context.ask_publisher,
        ) as point:
            job = self._job(point, chosen)
            results = self._load(job)
        self._refresh()
        for key_range, result in zip(job.ranges, results, strict=True):
            if result.error:
                self._handle_failure(key_range, result.error)
            else:
                self._schedule.finish(key_range)
        busy = time.monotonic() - began
        rows = sum(result.rows for result in results)
        reached = "; ".join(
            f"{key_range.table} beyond {', '.join(key_range.reached)}" for key_range in self.ranges if key_range.reached
        )
        far = {"rows_per_s": int(rows / busy), **self.progress.facts}
        event("blocks", slave=self.pair.slave, rows=rows, **far, reached=reached)
        time.sleep(busy / self._settings.duty_cycle - busy)
        return any(not result.error for result in results)

    def finish(self) -> None:
        """Finish a slave whose ranges are all loaded.

        Raises:
            TransientError: the slave cannot be asked, or does not let us.
        """
        if not self.ranges or self.error or not self.is_ours:
            return
        try:
            self._ranges.finish(self.update, self._skipped.keys())
        except TransientError:
            raise
        except SluiceError as error:
            self._give_up(error)

    def _job(self, point: points.Point, chosen: tuple[KeyRange, ...]) -> BlockJob:
        context, source = self._context, self._context.config.source(self.pair.source)
        return BlockJob(
            source=self.pair.source,
            update=self.update,
            origin=FromMaster(source.vendor, source.connection, point.snapshot_id, tuple(source.trusted_code)),
            sealed=sealed_text(),
            slave=slave_plan(context, self.pair, 0),
            mapper=context.mapper(self.pair),
            ranges=chosen,
            at=point.position,
            rows=self._settings.rows,
            patience_s=self._settings.patience_s,
        )

    def _has_to_wait(self) -> bool:
        """Whether the slave has to wait with its next blocks; the reason is reported."""
        if (why := self._find_reason_to_wait()) != self._waits:
            if bool(why) != bool(self._waits):
                event("waits" if why else "goes on", slave=self.pair.slave, **({"why": why} if why else {}))
            self._waits = why
            self._report()
        return bool(why)

    def _find_reason_to_wait(self) -> str:
        """Why no block is to be begun; empty if it can be reached, its drain is at work, and near enough, and the
        master has time.
        """
        store = self._context.store
        if self.unreachable:
            self._refresh()
        if self.unreachable:
            return self.unreachable.fact
        if self._switch.find_pause() or replications.holds(store, self.pair):
            return "its drain is paused, or stands"
        _, lag_s = read_holdback(store, self.pair)
        if lag_s > self._settings.max_lag_s:
            return f"it is {lag_s:.0f} s behind, more than {self._settings.max_lag_s:.0f} s (`max_lag_s`)"
        return self._throttle.why_not()

    def _refresh(self) -> None:
        """See how far it is; a table that it does not get, or is not given any more, is left out."""
        self._skipped = blocked.skipped_tables(self._context.store, self.pair)
        try:
            self.ranges, self.unreachable = self._ranges.found(self.update), None
        except TransientError as error:
            self.unreachable = error
            return
        except SluiceError as error:
            self._give_up(error)
            return
        self.is_unfinished = any(map(self._lacks_rows, self.ranges))
        self._estimate.look(self.ranges, {key_range.number for key_range in self.ranges if self._lacks_rows(key_range)})
        if replaced := {key_range.table for key_range in self.ranges if key_range.replaces}:
            try:
                updates.expect_exact(self._context.store, self.update, replaced, self.pair.slave)
            except SluiceError as error:
                self._give_up(error)

    def _lacks_rows(self, key_range: KeyRange) -> bool:
        return not (key_range.ended or key_range.table in self._skipped or self._excludes(key_range.table))

    def _handle_failure(self, key_range: KeyRange, error: SluiceError) -> None:
        if isinstance(error, TransientError):
            self._schedule.put_off(key_range)
            event("block put off", slave=self.pair.slave, table=key_range.table, why=error.fact)
        elif self.is_unfinished:
            self._give_up(error)

    def _give_up(self, error: SluiceError) -> None:
        self.is_unfinished, self.error = False, error
        event("failed", slave=self.pair.slave, error=error.message)
        replications.try_record(
            self._context.store, self.pair, ReplicationEvent.FAIL, error.message, update_id=self.update
        )
