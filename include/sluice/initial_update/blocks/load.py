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
from sluice.initial_update.blocks.plan import ranges_of
from sluice.initial_update.blocks.schedule import Schedule
from sluice.initial_update.targets import plan_of
from sluice.log import event
from sluice.model.names import Pair
from sluice.model.progress import LoadProgress
from sluice.state.initial_update import UpdateEvent
from sluice.state.replication import Event, Status
from sluice.store import blocked, replications, updates
from sluice.store.replications import read_holdback
from sluice.throttle import Throttle
from sluice.vendors.protocol.read import KeyRange
from sluice.vendors.protocol.tasks import BlockJob, BlockLoaded, FromMaster

LoadBlocks = Callable[[BlockJob], Sequence[BlockLoaded]]

_LOOK_S = 1.0


def load_online(context: Context, source: str, slaves: Sequence[str], load: LoadBlocks) -> dict[str, dict[str, int]]:
    """Load what slaves lack of the tables that they get in blocks, until they have all of it.

    Rounds go to the slaves in turn. One that fails becomes INCONSISTENT and holds nobody up; nor does one that cannot
    be reached (R8).

    Returns:
        `rows`: how many each slave has by blocks; `filled`: the update of each slave that has all rows of it now.

    Raises:
        SluiceError: every slave failed; what the last of them failed on.
        TransientError: SLC-094, no publisher runs, or none of those that are left can be reached. What is in stays, and
            the next run goes on.
    """
    with ExitStack() as stack:
        courtesy = Throttle(context, source, context.config.source(source).blocks.max_active)
        loads: list[_Loading] = []
        for slave in slaves:
            loads.append(_Loading(context, Pair(source, slave), load, courtesy, lambda: _report(context, loads), stack))
        while left := [one for one in loads if one.left]:
            _report(context, loads)
            loaded = [one.round() for one in left]
            away = [one.away for one in left if one.left and one.away]
            if away and len(away) == sum(one.left for one in left):
                raise away[-1]
            if not any(loaded):
                time.sleep(_LOOK_S)
        _report(context, loads)
        for one in loads:
            one.finish()
        for number in {one.update for one in loads if one.ranges and not one.error}:
            updates.finish(context.store, number, UpdateEvent.LOADED)
        failed = [one.error for one in loads if one.error]
        if failed and len(failed) == len(loads):
            raise failed[-1]
        rows = {one.pair.slave: sum(within.rows for within in one.ranges) for one in loads}
        return {"rows": rows, "filled": {one.pair.slave: one.update for one in loads if one.is_ours}}


def _report(context: Context, loads: Sequence[_Loading]) -> None:
    """Write down how far each update is where it is furthest behind."""
    for number in {one.update for one in loads if one.going_on}:
        ours = [one.progress for one in loads if one.update == number and one.going_on]
        updates.report_blocks(context.store, number, min(ours, key=lambda found: found.rows))


class _Loading:
    """One slave on its way to all rows.

    Attributes:
        update: the number of its update.
        left: whether there is something to be done yet.
        error: what it failed on.
        away: why its slave cannot be asked how far it is.
    """

    def __init__(
        self,
        context: Context,
        pair: Pair,
        load: LoadBlocks,
        courtesy: Throttle,
        report: Callable[[], None],
        stack: ExitStack,
    ) -> None:
        self._context = context
        self.pair = pair
        self._load = load
        self._courtesy = courtesy
        self._report = report
        self._waits = ""
        self._settings = context.config.source(pair.source).blocks
        self._excludes = context.config.slave(pair.slave).mapper.excludes
        self._switch = context.switch(pair)
        known = replications.get(context.store, pair)
        # No other run's blocks are loaded by this one.
        self.update = known.update_id or 0 if updates.is_ours(context.store, known) else 0
        self._turns = Schedule()
        self._ahead = RemainingEstimate(context, pair.source)
        self.ranges: list[KeyRange] = []
        self.error: SluiceError | None = None
        self.away: TransientError | None = None
        self.left = self.is_ours
        if self.left:
            self._ranges = stack.enter_context(closing(ranges_of(context, pair)))
            self._look()

    @property
    def is_ours(self) -> bool:
        """Whether its slave is still in this update; who failed, or was given another one, is not."""
        known = replications.get(self._context.store, self.pair)
        return known.status is Status.TRANSITION and known.update_id == self.update

    @property
    def going_on(self) -> bool:
        """Whether it has all of it, or comes to it."""
        return bool(self.ranges) and (self.left or not any(map(self._wanted, self.ranges)))

    @property
    def progress(self) -> LoadProgress:
        """The progress; the rate is that of this run."""
        return self._ahead.progress(self.ranges, self._waits or None)

    def round(self) -> bool:
        """Load the next blocks, as many at once as there may be tasks; False if that cannot be now."""
        if not self.is_ours:
            event("left alone", slave=self.pair.slave, why="its update was given up")
            self.left = False
            return True
        most = self._context.config.bulk_tasks
        if self._kept() or not (chosen := self._turns.next(filter(self._wanted, self.ranges), most)):
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
            done = self._load(job)
        self._look()
        for within, one in zip(job.ranges, done, strict=True):
            if one.error:
                self._failed(within, one.error)
            else:
                self._turns.done(within)
        busy = time.monotonic() - began
        rows = sum(one.rows for one in done)
        reached = "; ".join(f"{one.table} beyond {', '.join(one.reached)}" for one in self.ranges if one.reached)
        far = {"rows_per_s": int(rows / busy), **self.progress.facts}
        event("blocks", slave=self.pair.slave, rows=rows, **far, reached=reached)
        time.sleep(busy / self._settings.duty_cycle - busy)
        return any(not one.error for one in done)

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
            self._given_up(error)

    def _job(self, point: points.Point, chosen: tuple[KeyRange, ...]) -> BlockJob:
        context, source = self._context, self._context.config.source(self.pair.source)
        return BlockJob(
            source=self.pair.source,
            update=self.update,
            origin=FromMaster(source.vendor, source.connection, point.snapshot_id, tuple(source.trusted_code)),
            sealed=sealed_text(),
            slave=plan_of(context, self.pair, 0),
            mapper=context.mapper(self.pair),
            ranges=chosen,
            at=point.position,
            rows=self._settings.rows,
            patience_s=self._settings.patience_s,
        )

    def _kept(self) -> bool:
        """Whether the slave has to wait with its next blocks; the reason is reported."""
        if (why := self._waits_for()) != self._waits:
            if bool(why) != bool(self._waits):
                event("waits" if why else "goes on", slave=self.pair.slave, **({"why": why} if why else {}))
            self._waits = why
            self._report()
        return bool(why)

    def _waits_for(self) -> str:
        """Why no block is to be begun; empty if it can be reached, its drain is at work, and near enough, and the
        master has time."""
        store = self._context.store
        if self.away:
            self._look()
        if self.away:
            return self.away.fact
        if self._switch.paused() or replications.holds(store, self.pair):
            return "its drain is paused, or stands"
        _, lag_s = read_holdback(store, self.pair)
        if lag_s > self._settings.max_lag_s:
            return f"it is {lag_s:.0f} s behind, more than {self._settings.max_lag_s:.0f} s (`max_lag_s`)"
        return self._courtesy.why_not()

    def _look(self) -> None:
        """See how far it is; a table that it does not get, or is not given any more, is left out."""
        self._skipped = blocked.skipped_tables(self._context.store, self.pair)
        try:
            self.ranges, self.away = self._ranges.found(self.update), None
        except TransientError as error:
            self.away = error
            return
        except SluiceError as error:
            self._given_up(error)
            return
        self.left = any(map(self._wanted, self.ranges))
        self._ahead.look(self.ranges, {one.number for one in self.ranges if self._wanted(one)})
        if replaced := {one.table for one in self.ranges if one.replaces}:
            try:
                updates.expect_exact(self._context.store, self.update, replaced, self.pair.slave)
            except SluiceError as error:
                self._given_up(error)

    def _wanted(self, within: KeyRange) -> bool:
        return not (within.ended or within.table in self._skipped or self._excludes(within.table))

    def _failed(self, within: KeyRange, error: SluiceError) -> None:
        if isinstance(error, TransientError):
            self._turns.put_off(within)
            event("block put off", slave=self.pair.slave, table=within.table, why=error.fact)
        elif self.left:
            self._given_up(error)

    def _given_up(self, error: SluiceError) -> None:
        self.left, self.error = False, error
        event("failed", slave=self.pair.slave, error=error.message)
        replications.try_record(self._context.store, self.pair, Event.FAIL, error.message, update_id=self.update)
