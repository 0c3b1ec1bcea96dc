"""Loading slaves block by block while their stream goes on, in rounds, each at a point of its own (R10).

At the point a slave has applied exactly what the snapshot shows, to the rows that it has. So these are the master's
rows of that moment, and what it lacks of a block can be put in beside them: then it has the block as the master has it,
and the stream goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import pairwise

from sluice.connections import sealed_text
from sluice.context import Context
from sluice.control import replications, stops, updates
from sluice.control.status import behind
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.copying import Target
from sluice.initial_update.job import BlockJob, BlockLoaded, OfMaster
from sluice.initial_update.plan import KeyRange
from sluice.initial_update.targets import plan_of
from sluice.log import event
from sluice.model.names import Pair, TableName
from sluice.model.wanted import chosen
from sluice.state.replication import Event, Status
from sluice.vendors.dumping import DumpSnapshot, SlaveRanges, TableDefinition
from sluice.vendors.registry import online
from sluice.verify import points

LoadBlocks = Callable[[BlockJob], Sequence[BlockLoaded]]

_LOST_SNAPSHOT = 83
_LOOK_S = 1.0


class Later:
    """What slaves get in blocks, once their stream goes on.

    Attributes:
        tables: those that are watched, and not to be copied out of one snapshot.
    """

    def __init__(
        self, context: Context, source: str, snapshot: DumpSnapshot, definitions: Sequence[TableDefinition]
    ) -> None:
        entries = context.config.source(source).patterns
        watched = {name: chosen(entries, name) for name in context.watched(source)}
        self.tables = frozenset(name for name, entry in watched.items() if entry and entries[entry].in_blocks)
        self._context = context
        self._definitions = definitions
        self._orders = {name: snapshot.order(name) for name in sorted(self.tables)}
        parts = [part for name, order in self._orders.items() if order for part in self._parts(snapshot, name, order)]
        self._ranges = [replace(part, number=number) for number, part in enumerate(parts)]

    def plan(self, target: Target) -> None:
        """Look whether a slave can get them so; nothing is changed.

        Raises:
            SluiceError: SLC-099, it cannot get one of them; SLC-088, none.
        """
        (pair,) = target.pairs
        with closing(_ranges_of(self._context, pair)) as there:
            unfit = there.unfit(self._definitions, self.tables)
        if self._context.wanted(pair.source).drained_into:
            unfit |= dict.fromkeys(self.tables, "its source does not hear of all that is written to it (`block_loop`)")
        for name in (name for name, order in self._orders.items() if order is None):
            unfit[name] = "it has no primary key that is checked at once and sorts its rows"
        if unfit:
            reasons = "; ".join(f"{name} ({why})" for name, why in unfit.items())
            raise SluiceError(
                99,
                f"slave {pair.slave} cannot get in blocks: {reasons}",
                "run initial_update in the mode `snapshot`, or set `in_blocks: false` for these tables in the "
                "configuration: then they come out of one snapshot, before the others",
            )

    def _parts(self, snapshot: DumpSnapshot, name: TableName, order: str) -> Iterator[KeyRange]:
        """The ranges of a table, so that as many blocks of it can be loaded at once as there may be tasks."""
        cuts = snapshot.cuts(name, self._context.config.bulk_tasks)
        for reached, until in pairwise([None, *cuts, None]):
            yield KeyRange(0, name, order, reached, until)

    def expect(self, target: Target, update: int) -> None:
        """Write down on a slave what an update is to load."""
        (pair,) = target.pairs
        with closing(_ranges_of(self._context, pair)) as there:
            there.expect(target.plan.epoch, update, self._ranges)


def load_online(context: Context, source: str, slaves: Sequence[str], load: LoadBlocks) -> dict[str, object]:
    """Load what slaves lack of the tables that they get in blocks, until they have all of it.

    Rounds go to the slaves in turn. One that fails becomes INCONSISTENT and holds nobody up (R8).

    Raises:
        SluiceError: every slave failed; what the last of them failed on.
        TransientError: SLC-094, nobody publishes. What is in stays, and the next run goes on.
    """
    with ExitStack() as stack:
        loads = [_Loading(context, Pair(source, slave), load, stack) for slave in slaves]
        while left := [one for one in loads if one.left]:
            loaded = [one.round() for one in left]
            updates.loading(context.store, *min(one.progress for one in loads if one.ranges))
            if not any(loaded):
                time.sleep(_LOOK_S)
        for number in {one.progress[0] for one in loads if one.ranges and not one.error}:
            updates.finish(context.store, number, "LOADED")
        failed = [one.error for one in loads if one.error]
        if failed and len(failed) == len(loads):
            raise failed[-1]
        return {"rows": {one.pair.slave: sum(within.rows for within in one.ranges) for one in loads}}


class _Loading:
    """One slave on its way to all rows.

    Attributes:
        left: whether there is something to be done yet.
        error: what it failed on.
    """

    def __init__(self, context: Context, pair: Pair, load: LoadBlocks, stack: ExitStack) -> None:
        self._context = context
        self.pair = pair
        self._load = load
        self._settings = context.config.source(pair.source).blocks
        self._switch = context.switch(pair)
        self._update = replications.get(context.store, pair).update_id or 0
        self.ranges: list[KeyRange] = []
        self.error: SluiceError | None = None
        self.left = self._ours()
        if self.left:
            self._there = stack.enter_context(closing(_ranges_of(context, pair)))
            self._look()

    @property
    def progress(self) -> tuple[int, int, int, int]:
        """The number of the update; how many ranges there are, how many rows and how many whole ranges are in."""
        ended = sum(one.ended for one in self.ranges)
        return self._update, len(self.ranges), sum(one.rows for one in self.ranges), ended

    def round(self) -> bool:
        """Load the next blocks, as many at once as there may be tasks; False if that cannot be now."""
        if not self._ours():
            event("left alone", slave=self.pair.slave, why="its update was given up")
            self.left = False
            return True
        if not self._ready():
            return False
        began = time.monotonic()
        with points.held(self._context.store, self.pair.source, [self.pair.slave], self._settings.patience_s) as point:
            job = self._job(point)
            done = self._load(job)
        self._look()
        for within, one in zip(job.ranges, done, strict=True):
            if one.error:
                self._failed(within, one.error)
        busy = time.monotonic() - began
        rows = sum(one.rows for one in done)
        reached = "; ".join(f"{one.table} beyond {', '.join(one.reached)}" for one in self.ranges if one.reached)
        event("blocks", slave=self.pair.slave, rows=rows, rows_per_s=int(rows / busy), reached=reached)
        time.sleep(busy / self._settings.share - busy)
        return any(not one.error for one in done)

    def _job(self, point: points.Point) -> BlockJob:
        context, source = self._context, self._context.config.source(self.pair.source)
        waiting = [one for one in self.ranges if self._wanted(one)]
        return BlockJob(
            source=self.pair.source,
            update=self._update,
            origin=OfMaster(source.vendor, source.connection, point.snapshot_id),
            sealed=sealed_text(),
            slave=plan_of(context, self.pair, 0),
            mapper=context.mapper(self.pair),
            ranges=tuple(waiting[: context.config.bulk_tasks]),
            at=point.position,
            rows=self._settings.rows,
            patience_s=self._settings.patience_s,
        )

    def _ours(self) -> bool:
        known = replications.get(self._context.store, self.pair)
        return known.status is Status.TRANSITION and known.update_id == self._update

    def _ready(self) -> bool:
        """Whether its drain is at work, and near enough."""
        store = self._context.store
        if self._switch.paused() or replications.holds(store, self.pair):
            return False
        _, lag_s = behind(store, self.pair)
        return lag_s <= self._settings.max_lag_s

    def _look(self) -> None:
        """See how far it is; a table that it is not given any more is left out."""
        self._skipped = stops.left_out(self._context.store, self.pair)
        self.ranges = self._there.found(self._update)
        self.left = any(map(self._wanted, self.ranges))

    def _wanted(self, within: KeyRange) -> bool:
        return not within.ended and within.table not in self._skipped

    def _failed(self, within: KeyRange, error: SluiceError) -> None:
        if isinstance(error, TransientError) or error.code == _LOST_SNAPSHOT:
            event("block put off", slave=self.pair.slave, table=within.table, why=error.fact)
        elif self.left:
            self.left, self.error = False, error
            event("failed", slave=self.pair.slave, error=error.said)
            replications.happened(self._context.store, self.pair, Event.FAIL, error.said, update_id=self._update)


def _ranges_of(context: Context, pair: Pair) -> SlaveRanges:
    """The ranges of a slave. Raises ConfigError SLC-088 if it cannot be loaded in blocks."""
    slave = context.config.slave(pair.slave)
    port = online(slave.vendor).ranges
    return port(context.connection(slave.connection), pair, slave.schema_, context.mapper(pair))
