"""The drain of one slave: one lease, and one step after the other, until nothing more comes.

This process moves no rows. It holds the lease, looks at the gate, waits for news, and asks for steps: `step.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sluice import extensions
from sluice.airflow_api import outbox
from sluice.config.mapper import Mapper
from sluice.config.replication import DrainSchedule
from sluice.context import Context
from sluice.drain import offline_slaves
from sluice.drain.gate import Gate
from sluice.drain.step_result import StepDone
from sluice.errors import FencedError, LockTimeout, SluiceError, TransientError
from sluice.log import event
from sluice.model.names import Pair, TableName, drain_dag
from sluice.model.position import Position
from sluice.spark_environment import work_name
from sluice.state.dispatcher import Hold
from sluice.steps import LOOK_S, STEP_S, LocalSteps, Result, Steps, run_step
from sluice.store import leases, outcomes, replications, updates
from sluice.store.leases import Lease
from sluice.store.notify import SegmentListener

_RENEW_S = 5.0
# How often the note of a run says where the slave stands.
_NOTE_S = 15.0
# The longest rest after a step.
_REST_S = 3.0
# With so many changes a step has paid its own price (sessions, a plan, a task): a rest would only delay the next one.
_FEW_CHANGES = 5_000
# How long a drain that found rows locked leaves its place to others.
_LOCKED_S = 5.0


def drain(
    context: Context,
    pair: Pair,
    *,
    once: bool = False,
    describe: Callable[[], str] = str,
    signal: Callable[[], None] = lambda: None,
    steps: Steps | None = None,
) -> dict[str, object]:
    """Deliver until nothing came for `run_for_s` seconds, the gate shuts, or all is delivered if `once`.

    Args:
        describe: says where the replication stands, for the note of the run.
        signal: called again and again while the drain is at work.
        steps: runs the steps, which move the rows; by default in this process.

    Returns:
        transactions, changes and tolerated rows delivered, and the position; `standby`, why the gate is shut, if it is;
        `idle`, that reason again if this run delivered nothing; and `note`, where the replication stands.

    Raises:
        SluiceError: terminal: the slave is on STANDBY (EXCEPTION) with this error until it is activated (R8).
    """
    with outcomes.note_failure(context.store, f"drain {pair}"):
        return _drain(context, pair, once, describe, signal, steps or LocalSteps(context))


def _drain(
    context: Context,
    pair: Pair,
    once: bool,
    describe: Callable[[], str],
    signal: Callable[[], None],
    steps: Steps,
) -> dict[str, object]:
    schedule = context.config.replication(pair.source, pair.slave).schedule
    gate = Gate(context.store, pair, context.switch(pair))
    total = Totals(pair.slave)
    shut = gate.begin()
    outbox.send(context.store, context.runs(), pair)
    if shut:
        offline_slaves.fill_if_reachable(context, pair)
    else:
        times = _Times.once() if once else _Times.from_schedule(schedule)
        shut = _deliver(context, pair, gate, total, times, describe, signal, steps)
    if shut:
        event("standby", slave=pair.slave, why=shut)
    idle = "" if total.transactions else shut
    return {**vars(total), "standby": shut, "idle": idle, "note": describe()}


@dataclass
class Totals:
    """The deliveries of one run."""

    slave: str
    transactions: int = 0
    changes: int = 0
    tolerated: int = 0
    position: str = ""


@dataclass(frozen=True)
class _Times:
    """The limits of a run, in seconds.

    Attributes:
        quiet_s: it ends when nothing came for so long.
        most_s: it ends after so long at the latest, at the end of a batch: the next one reads the configuration anew.
    """

    quiet_s: float
    most_s: float
    poll_s: float

    @classmethod
    def from_schedule(cls, schedule: DrainSchedule) -> _Times:
        """As it is configured."""
        return cls(schedule.run_for_s, max(schedule.every_s, schedule.run_for_s), schedule.poll_s)

    @classmethod
    def once(cls) -> _Times:
        """Until all is delivered."""
        return cls(0.0, float("inf"), 0.0)


def _deliver(
    context: Context,
    pair: Pair,
    gate: Gate,
    total: Totals,
    times: _Times,
    describe: Callable[[], str],
    signal: Callable[[], None],
    steps: Steps,
) -> str:
    """Deliver under a lease until nothing more comes or the gate shuts. Return why it shut, or ""."""
    try:
        with leases.hold_lease(context.store, f"drain {pair}", configuration=context.config.fingerprint) as held:
            event("configuration", fingerprint=held.configuration)
            return _DrainRun(context, gate, held, pair, total, describe, signal, steps).until(times)
    except FencedError:
        # An initial update, or another drain, took this slave over; the gate tells which.
        if shut := gate.why_shut():
            return shut
        raise
    except TransientError:
        raise
    except SluiceError as error:
        if extensions.leaving.is_set():
            # A signal interrupted whatever was at work: that says nothing of the slave.
            raise
        if Hold.APPROVAL in replications.holds(context.store, pair):
            outbox.send(context.store, context.runs(), pair)
            return gate.why_shut()
        replications.shut(context.store, pair, Hold.EXCEPTION, str(error))
        # Airflow pauses the DAG as well, but only if this run is the newest: people who look must see the standby.
        context.switch(pair).pause()
        context.runs().drop_queued(drain_dag(pair))
        raise


def _mapper(context: Context, pair: Pair) -> Mapper:
    """The slave's mapper with its stylesheet, which is here and not where steps run."""
    try:
        return context.mapper(pair)
    except TransientError:
        raise
    except SluiceError as error:
        # Imported late: it loads Arrow, which this process needs for nothing but to explain this error.
        from sluice.drain.step import explain

        explain(context.store, pair, error)
        raise


def _deliver_step(context: Context, **arguments: Any) -> Result:
    """Do a step where it runs. This process does not load what moves rows."""
    from sluice.drain.step import deliver

    return deliver(context, **arguments)


class _DrainRun:
    """One lease of a drain: steps, one after the other, and a look at lease and gate while they are at work."""

    def __init__(
        self,
        context: Context,
        gate: Gate,
        held: Lease,
        pair: Pair,
        total: Totals,
        describe: Callable[[], str],
        signal: Callable[[], None],
        steps: Steps,
    ) -> None:
        self._context = context
        self._store = store = context.store
        self._gate = gate
        self._held = held
        self._pair = pair
        self._total = total
        self._describe = describe
        self._signal = signal
        self._steps = steps
        self._after_crash = held.after_crash
        self._mapper = _mapper(context, pair)
        self._renewed = self._noted = time.monotonic()
        self._succeeds = False
        # Only the slave knows: the first step asks it.
        self._position: Position | None = None
        self._took, self._brought = 0.0, 0
        self._news = SegmentListener(store, pair.source)

    def until(self, times: _Times) -> str:
        """Deliver, then wait for more, until nothing more comes or the gate shuts. Return why it shut, or ""."""
        shut = ""
        began = came = time.monotonic()
        # A scheduled run tries locked rows again until its time is over. With `once` the first timeout is raised.
        patient = began + times.most_s if times.quiet_s else began
        try:
            while not shut and time.monotonic() - began < times.most_s:
                if self._is_behind() and self._do_step_or_leave(patient):
                    if times.quiet_s:
                        self._rest()
                    came = time.monotonic()
                elif (left := came + times.quiet_s - time.monotonic()) <= 0:
                    break
                else:
                    self._succeeds = True
                    self._news.wait(min(left, times.poll_s))
                self._keep_up()
                shut = self._gate.why_shut()
            self._note_success()
        finally:
            self._news.close()
        return shut

    def _rest(self) -> None:
        """Rest as long as the last step took, if it caught up and brought little.

        Where many drains share the slots, more changes go with the next step.
        """
        if self._took < STEP_S and self._brought <= _FEW_CHANGES:
            self._leave(min(self._took, _REST_S))

    def _leave(self, seconds: float) -> None:
        """Ask for no step for so long, whatever comes, unless the gate shuts."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self._gate.why_shut():
            time.sleep(min(left, LOOK_S))
            self._keep_up()

    def _is_behind(self) -> bool:
        if self._position is None:
            return True
        return self._context.manifest(self._pair.source).has_ahead(self._pair.slave, self._position)

    def _do_step_or_leave(self, patient: float) -> bool:
        """Do a step. Return True if it delivered, or if it has to be repeated because rows are locked.

        Raises:
            LockTimeout: SLC-036, it is later than `patient`.
        """
        try:
            return self._do_step()
        except LockTimeout as error:
            if time.monotonic() + _LOCKED_S > patient:
                raise
            event("locked", slave=self._pair.slave, why=error.fact)
            self._leave(_LOCKED_S)
            return True

    def _do_step(self) -> bool:
        """Do a step. Return whether it delivered anything."""
        begins = self._position
        work = partial(
            _deliver_step,
            pair=self._pair,
            mapper=self._mapper,
            epoch=self._held.epoch,
            seconds=STEP_S,
            after_crash=self._after_crash,
            first=begins is None,
        )
        name = work_name("drain", self._pair.source, [self._pair.slave]) + (f" from {begins}" if begins else "")
        began = time.monotonic()
        step = StepDone(**run_step(self._steps, name, work, self._look))
        self._took, self._brought = time.monotonic() - began, step.changes
        self._after_crash = False
        self._position, self._succeeds = step.position, True
        self._count(step)
        return step.transactions > 0

    def _look(self) -> None:
        """Keep up, and write down who paused the DAG: a step sees that before its next batch."""
        self._keep_up()
        self._gate.why_shut()

    def _count(self, step: StepDone) -> None:
        self._total.transactions += step.transactions
        self._total.changes += step.changes
        tolerated = sum(rows for *_, rows in step.conflicts)
        self._total.tolerated += tolerated
        for schema, table, conflict, rows in step.conflicts:
            event("not as expected", slave=self._pair.slave, table=TableName(schema, table), **{conflict: rows})
        if step.transactions:
            self._total.position = str(step.position)
            event(
                "delivered",
                slave=self._pair.slave,
                position=step.position,
                changes=step.changes,
                tolerated=tolerated,
            )

    def _note_success(self) -> None:
        if self._succeeds:
            outcomes.note_success(self._store, self._held.name)
            self._succeeds = False

    def _keep_up(self) -> None:
        now = time.monotonic()
        if now - self._renewed > _RENEW_S:
            leases.renew(self._store, self._held)
            self._renewed = now
            self._note_success()
        if now - self._noted > _NOTE_S:
            self._noted = now
            self._context.runs().note(updates.own_run(), self._describe())
            self._signal()
