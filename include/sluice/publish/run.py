"""The periodic drain of ITEMS: one lease, and one step after the other, until the run's time is over.

This process moves no rows. It holds the lease and the snapshots that were asked for, looks whether something is queued,
keeps the source's triggers and the log in order, and asks for steps: `step.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import Any

from sluice.capture import unwatched
from sluice.capture.reconcile import heal, leave_unreadable, make_inconsistent, reconcile
from sluice.changelog import points
from sluice.context import Context
from sluice.errors import AlteredMeanwhile, StrangeSource, UnreadableTable
from sluice.log import event
from sluice.model.names import Pair, TableName
from sluice.model.unwatched import Unwatched
from sluice.publish.drain_runs import DrainRuns
from sluice.publish.publisher import PointRequest
from sluice.publish.retention import trim
from sluice.publish.step import Swept, publisher_of, sweep
from sluice.spark_environment import work_name
from sluice.state.replication import Status
from sluice.statements import issue
from sluice.steps import STEP_S, LocalSteps, Steps, run_step
from sluice.store import activities, history, leases, outcomes, publishers, removal, upgrades
from sluice.store.leases import Lease
from sluice.vendors.protocol.master import Source

_RENEW_S = 5.0
_HEAL_S = 5.0
_TRIM_S = _FORGET_S = 300.0
# How often the store is told how far the publisher is; without a word for some time longer nobody looks at the source.
_NOTE_S, _SILENT_S = 5.0, 15.0
# A run that is due may take so long to start.
_STARTS_S = 60.0
# How often it is written down how the slaves are, and how often that is rolled up.
_RECORD_S, _ROLL_S = 60.0, 3600.0
# ITEMS is counted up to so many changes.
_COUNTED = 100_000
# The database's own upkeep may come once a minute; at full speed that is millions of purged changes. Where it helps
# nothing, because an old transaction still sees them, it takes no more than this share of the time.
_RECLAIM = 100_000
_RECLAIM_SHARE = 0.1


def publish(
    context: Context,
    source: str,
    *,
    once: bool = False,
    signal: Callable[[], None] = lambda: None,
    steps: Steps | None = None,
) -> dict[str, object]:
    """Publish until the schedule's linger time is over, or all that is queued if `once`.

    Args:
        signal: called while the publisher is at work.
        steps: where rows are moved; in this process if nothing else is said.

    Returns:
        transactions, changes and segments published, the ordinal the log ends with, and that in a `note`; or `idle`,
        that nothing is published before an upgrade of the master is over.
    """
    with outcomes.note_failure(context.store, f"publish {source}"):
        return _publish(context, source, once, signal, steps or LocalSteps(context))


def _publish(context: Context, source: str, once: bool, signal: Callable[[], None], steps: Steps) -> dict[str, object]:
    settings = context.config.source(source)
    if context.store.has_tables and (awaited := upgrades.find(context.store, source)):
        DrainRuns(context, source).ask(at_once=True)
        return {"source": source, "transactions": 0, "idle": awaited.fact, "note": f"{awaited.fact}.\n{awaited.hint}"}
    database = context.source(source)
    if not database.capture.is_installed():
        context.store.migrate()
        removal.expect_wanted(context.store, source)
        reconcile(context, source)
    with leases.hold_lease(context.store, f"publish {source}", configuration=context.config.fingerprint) as lease:
        event("configuration", fingerprint=lease.configuration)
        run = _PublisherRun(context, source, database, lease, signal, steps)
        try:
            # Somebody may have prepared one meanwhile.
            upgrades.expect_none(context.store, source)
            database.capture.claim(context.store.id)
            publisher_of(context, source, database, lease).begin()
            issue.resolve(context, source)
            linger = 0.0 if once else settings.schedule.run_for_s
            run.until(time.monotonic() + linger, settings.schedule.poll_s)
            run.note(due_s=max(settings.schedule.every_s - settings.schedule.run_for_s, 0.0) + _STARTS_S)
        except StrangeSource as error:
            make_inconsistent(context, source, error.fact, {Status.NORMAL, Status.TRANSITION, Status.INITIAL})
            raise
        finally:
            run.close()
            database.close()
    end = context.manifest(source).end()
    event("published", source=source, transactions=run.transactions, changes=run.changes, end=end)
    return {
        "source": source,
        "transactions": run.transactions,
        "changes": run.changes,
        "segments": run.segments,
        "ordinal": end.ordinal,
        "note": f"published {run.transactions:,} transactions, {run.changes:,} changes; the log ends at {end}",
    }


def publish_rest(context: Context, source: str, database: Source, lease: Lease) -> None:
    """Publish what is queued, in this process, under a lease that is held.

    Raises:
        SluiceError: see `Publisher.publish`.
    """
    run = _PublisherRun(context, source, database, lease, lambda: None, LocalSteps(context))
    try:
        publisher_of(context, source, database, lease).begin()
        issue.resolve(context, source)
        run.until(time.monotonic(), context.config.source(source).schedule.poll_s)
    finally:
        run.close()


class _PublisherRun:
    """One run: steps, answers to requests for points, upkeep."""

    def __init__(
        self, context: Context, source: str, database: Source, lease: Lease, signal: Callable[[], None], steps: Steps
    ) -> None:
        self._context = context
        self._source = source
        self._database = database
        self._lease = lease
        self._signal = signal
        self._steps = steps
        self._logged: Sequence[Mapping[str, Any]] = ()
        self._backlog: str | None = None
        self._sweep_s: float | None = None
        self._drain_runs = DrainRuns(context, source)
        self._snapshots: dict[int, ExitStack] = {}
        self._renewed = self._caught_up = time.monotonic()
        self._succeeds = False
        self._noted = self._recorded = self._rolled = float("-inf")
        self._behind = False
        self._trimmed = self._healed = self._forgot = self._reclaim_at = float("-inf")
        self._reclaimed = 0
        self._unwatched: frozenset[Unwatched] = frozenset()
        self._unreadable: list[TableName] = []
        self._reported = float("-inf")
        self.transactions = self.changes = self.segments = 0

    def until(self, end: float, poll_s: float) -> None:
        """Sweep and sleep in turn until the time is over and no job reads in an exported snapshot."""
        bound = self._context.config.source(self._source).segments.max_changes
        while True:
            self._heal()
            # Where this is of consequence, as something is queued, the step looks again, for longer.
            with suppress(AlteredMeanwhile):
                self._database.capture.poll_ddl()
            self._report()
            looked = time.monotonic()
            more = self._behind = self._sweep_once(bound)
            self._succeeds = True
            if not more:
                self._caught_up = looked
            self._keep_up()
            if more:
                continue
            self._reclaim()
            self._forget()
            if time.monotonic() >= end and not self._snapshots:
                # No later look of this run sees its last step's changes.
                self._drain_runs.ask(at_once=True)
                return
            time.sleep(poll_s)

    def _sweep_once(self, bound: int) -> bool:
        """Answer requests for points and publish queued changes. Return whether there is more to do at once."""
        for request in points.list_requests(self._context.store, self._source):
            self._answer(request, bound)
        return self._database.capture.queued() and self._step(bound)

    def _step(self, bound: int, asked: PointRequest | None = None) -> bool:
        """Do a step. Return whether there is more to do at once."""
        self._behind = True
        work = partial(
            sweep,
            source=self._source,
            lease=self._lease,
            bound=bound,
            seconds=STEP_S,
            logged=self._logged,
            backlog=self._backlog,
            asked=asked,
        )
        try:
            swept = Swept(**run_step(self._steps, work_name("publish", self._source), work, self._keep_up))
        except UnreadableTable:
            # A purge that was missed names all that is in the log, also of that table.
            if not publisher_of(self._context, self._source, self._database, self._lease).purge_listed():
                raise
            unreadable = leave_unreadable(self._context, self._source, self._database)
            if not unreadable or unreadable == self._unreadable:
                raise
            self._unreadable = unreadable
            return True
        self._unreadable = []
        if swept.segments:
            event("swept", source=self._source, segments=swept.segments, changes=swept.changes)
        self._logged, self._backlog = swept.sequences, swept.backlog
        self._sweep_s = swept.sweep_s or self._sweep_s
        self.transactions += swept.transactions
        self.changes += swept.changes
        self.segments += swept.segments
        return swept.more

    def note(self, due_s: float = _SILENT_S) -> None:
        """Record how far the publisher is, and when its next look is due."""
        self._noted = time.monotonic()
        if self._succeeds:
            outcomes.note_success(self._context.store, f"publish {self._source}")
            self._succeeds = False
        queued = self._database.capture.count_queued(_COUNTED) if self._behind else 0
        publishers.note(
            self._context.store,
            self._source,
            looked_s=None if self._behind else self._noted - self._caught_up,
            queued=queued,
            due_s=due_s,
            sweep_s=self._sweep_s,
        )
        self._signal()

    def _record(self, now: float) -> None:
        self._recorded = now
        kept = self._database.capture.kept_log()
        if kept and kept.is_urgent(self._context.config.source(self._source).slot_retains_mb):
            event("WARNING the server keeps much of its log", source=self._source, **asdict(kept))
        slaves = self._context.config.slaves_of(self._source)
        history.record(self._context.store, [Pair(self._source, slave) for slave in slaves])
        if now - self._rolled > _ROLL_S:
            self._rolled = now
            history.roll_up(self._context.store, self._source)
            activities.roll_up(self._context.store, self._source)
            watched = self._database.capture.present(self._list_watched())
            activities.trim(self._context.store, self._source, watched)

    def close(self) -> None:
        """End every snapshot still held."""
        for stack in self._snapshots.values():
            stack.close()

    def _answer(self, request: int, bound: int) -> None:
        stack = ExitStack()
        exported = stack.enter_context(self._database.master.exported_snapshot())
        try:
            while self._step(bound, PointRequest(request, *exported)):
                self._keep_up()
        except BaseException:
            stack.close()
            raise
        self._snapshots[request] = stack
        event("point", source=self._source, request=request, snapshot=exported[0])

    def _heal(self) -> None:
        now = time.monotonic()
        if now - self._healed > _HEAL_S:
            self._healed = now
            heal(self._context, self._source, self._database)

    def _list_watched(self) -> list[TableName]:
        return list(self._context.watched_tables(self._source, self._database))

    def _report(self) -> None:
        """Log tables that are configured and not watched: once each, and again if the reason is another one."""
        now = time.monotonic()
        if now - self._reported > _HEAL_S:
            self._reported = now
            tables = frozenset(self._database.capture.unwatched(self._list_watched()))
            for table in sorted(tables - self._unwatched, key=lambda table: table.name):
                event("not watched", source=self._source, table=table.name, why=unwatched.fact(table))
            self._unwatched = tables

    def _reclaim(self) -> None:
        began = time.monotonic()
        if self.changes - self._reclaimed < _RECLAIM or began < self._reclaim_at:
            return
        self._database.capture.reclaim()
        self._reclaimed = self.changes
        self._reclaim_at = began + (time.monotonic() - began) / _RECLAIM_SHARE

    def _forget(self) -> None:
        if time.monotonic() - self._forgot > _FORGET_S:
            self._database.capture.forget_layouts()
            self._forgot = time.monotonic()

    def _keep_up(self) -> None:
        now = time.monotonic()
        if self._snapshots:
            alive = points.alive(self._context.store, list(self._snapshots))
            for request in self._snapshots.keys() - alive:
                self._snapshots.pop(request).close()
        if now - self._renewed > _RENEW_S:
            leases.renew(self._context.store, self._lease)
            self._renewed = now
        if now - self._noted > _NOTE_S:
            self.note()
        if now - self._recorded > _RECORD_S:
            self._record(now)
        self._drain_runs.ask()
        if now - self._trimmed > _TRIM_S:
            self._trimmed = now
            settings = self._context.config.source(self._source).segments
            trim(
                self._context,
                self._source,
                keep=timedelta(hours=settings.keep_hours),
                warn_bytes=settings.warn_bytes,
            )
