"""The drain of one slave: one lease, many batches, the gate looked at before each, until nothing more comes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

from sluice import extensions, hints
from sluice.airflow_api import outbox
from sluice.config.models import DrainSchedule
from sluice.connections import salt_of
from sluice.context import Context
from sluice.drain import offline_slaves, shared_tables
from sluice.drain.ddl_policy import DdlPermission, UndecidedDdl
from sluice.drain.drain import Delivered, Drain
from sluice.drain.gate import Gate
from sluice.errors import FencedError, SluiceError, TransientError
from sluice.log import event
from sluice.model.names import Pair, TableName, drain_dag
from sluice.model.row_conflict import RejectedChange, Tolerated
from sluice.state.ddl_question import QuestionState
from sluice.state.dispatcher import Hold
from sluice.state.replication import Status
from sluice.store import (
    blocked,
    ddl_questions,
    leases,
    rejected_changes,
    replications,
    statement_results,
    updates,
)
from sluice.store.engine import Store
from sluice.store.leases import Lease
from sluice.store.notify import SegmentListener
from sluice.vendors.protocol.slave import SlaveDatabase

Keep = Callable[[Store, Pair, Sequence[RejectedChange]], None]

_RENEW_S = 5.0
_DURABLE_S = 3.0
# How often the note of a run says where the slave stands.
_NOTE_S = 15.0


def drain(context: Context, pair: Pair, *, once: bool = False, describe: Callable[[], str] = str) -> dict[str, object]:
    """Deliver until nothing came for the schedule's linger time, the gate shuts, or all is delivered if `once`.

    Args:
        describe: says where the replication stands, for the note of the run.

    Returns:
        transactions, changes and tolerated rows delivered, and the position; `standby`, why the gate is shut, if it is;
        `idle`, the same if nothing was delivered for that; and `note`, where the replication stands.

    Raises:
        SluiceError: terminal: the slave is on STANDBY (EXCEPTION) with this error until it is activated (R8).
    """
    schedule = context.config.replication(pair.source, pair.slave).schedule
    gate = Gate(context.store, pair, context.switch(pair))
    total = Totals(pair.slave)
    shut = gate.begin()
    outbox.send(context.store, context.runs(), pair)
    if shut:
        offline_slaves.fill_if_reachable(context, pair)
    else:
        shut = _deliver(context, pair, gate, total, _Times.once() if once else _Times.of_schedule(schedule), describe)
    if shut:
        event("standby", slave=pair.slave, why=shut)
    idle = "" if total.transactions else shut
    return {**vars(total), "standby": shut, "idle": idle, "note": describe()}


def drain_of(
    context: Context,
    pair: Pair,
    slave: SlaveDatabase,
    keep: Keep = rejected_changes.keep,
    left_out: Collection[TableName] = frozenset(),
) -> Drain:
    """The drain of a slave as it is configured.

    Args:
        keep: keeps what the slave does not carry out.
        left_out: tables of the master that it is not given, beside those that somebody had left out.
    """
    settings, own = context.config.replication(pair.source, pair.slave), context.config.slave(pair.slave)
    return Drain(
        slave,
        context.manifest(pair.source),
        context.files(),
        own.max_batch,
        context.read_snapshot(pair.source),
        answered=partial(statement_results.answered, context.store, pair) if settings.statements else None,
        collected=settings.collected,
        salt=salt_of(context.connections, own.salt),
        rejected=partial(keep, context.store, pair),
        permission=DdlPermission(
            settings.policies,
            ddl_questions.decided(context.store, pair),
            slave.mapper.excludes,
            partial(shared_tables.others, context, pair),
            slave.doubts,
        ),
        skipped={*left_out, *blocked.left_out(context.store, pair)},
    )


@dataclass
class Totals:
    """What one run delivered."""

    slave: str
    transactions: int = 0
    changes: int = 0
    tolerated: int = 0
    position: str = ""


@dataclass(frozen=True)
class _Times:
    """How long a run stays up, in seconds.

    Attributes:
        quiet_s: it ends when nothing came for so long.
        most_s: it ends after so long at the latest, at the end of a batch: the next one reads the configuration anew.
    """

    quiet_s: float
    most_s: float
    poll_s: float

    @classmethod
    def of_schedule(cls, schedule: DrainSchedule) -> _Times:
        """As it is configured."""
        return cls(schedule.run_for_s, max(schedule.every_s, schedule.run_for_s), schedule.poll_s)

    @classmethod
    def once(cls) -> _Times:
        """Until all is delivered."""
        return cls(0.0, float("inf"), 0.0)


def _deliver(
    context: Context, pair: Pair, gate: Gate, total: Totals, times: _Times, describe: Callable[[], str]
) -> str:
    """Deliver under a lease until nothing more comes or the gate shuts; why it did, if it did."""
    slave = context.slave(pair)
    drain_: Drain | None = None
    try:
        with leases.leased(context.store, f"drain {pair}") as held:
            drain_ = drain_of(context, pair, slave)
            return _Run(context, gate, drain_, held, pair, total, describe).until(times)
    except FencedError:
        # An initial update, or another drain, took this slave over; the gate tells which.
        if shut := gate.shut():
            return shut
        raise
    except TransientError:
        raise
    except SluiceError as error:
        if extensions.leaving.is_set():
            # A signal interrupted whatever was at work: that says nothing of the slave.
            raise
        updating = replications.get(context.store, pair).status is Status.TRANSITION
        stuck = drain_.stuck if drain_ else None
        hints.for_drain(error, pair, stuck, updating=updating)
        if stuck:
            blocked.stand(context.store, pair, stuck)
        if isinstance(error, UndecidedDdl):
            state = QuestionState.WAITING if error.asked else QuestionState.STOPPED
            ddl_questions.put(context.store, pair, error.asking, state)
            if error.asked:
                outbox.send(context.store, context.runs(), pair)
                return gate.shut()
        replications.shut(context.store, pair, Hold.EXCEPTION, str(error))
        # Airflow pauses the DAG as well, but only if this run is the newest: whoever looks must see the standby.
        context.switch(pair).pause()
        context.runs().drop_queued(drain_dag(pair))
        raise
    finally:
        if drain_:
            drain_.close()
        slave.close()


class _Run:
    """One lease of a drain."""

    def __init__(
        self,
        context: Context,
        gate: Gate,
        drain_: Drain,
        held: Lease,
        pair: Pair,
        total: Totals,
        describe: Callable[[], str],
    ) -> None:
        self._context = context
        self._store = store = context.store
        self._gate = gate
        self._drain = drain_
        self._held = held
        self._pair = pair
        self._total = total
        self._describe = describe
        self._renewed = self._durable_at = self._noted = time.monotonic()
        drain_.begin(held.epoch, after_crash=held.after_crash)
        # What is told, not what the slave has: a drain that died may have come further than it said.
        self._durable = replications.get(store, pair).position
        self._tolerated = Tolerated()
        self._news = SegmentListener(store, pair.source)
        self._skipped: Counter[TableName] = Counter()

    def until(self, times: _Times) -> str:
        """Deliver, then wait for more, until nothing more comes or the gate shuts; why it did, if it did."""
        shut = ""
        began = came = time.monotonic()
        try:
            while not shut and time.monotonic() - began < times.most_s:
                delivered = self._drain.deliver()
                if delivered:
                    self._count(delivered)
                    came = time.monotonic()
                elif (left := came + times.quiet_s - time.monotonic()) <= 0:
                    break
                else:
                    self._news.wait(min(left, times.poll_s))
                self._keep_up()
                shut = self._gate.shut()
        finally:
            self._news.close()
            self._record()
        return shut

    def _count(self, delivered: Delivered) -> None:
        self._total.transactions += delivered.transactions
        self._total.changes += delivered.changes
        self._total.tolerated += delivered.tolerated.total()
        self._tolerated += delivered.tolerated
        self._skipped += delivered.skipped
        for (table, conflict), rows in delivered.tolerated.items():
            event("not as expected", slave=self._pair.slave, table=table, **{conflict: rows})
        self._total.position = str(delivered.position)
        event(
            "delivered",
            slave=self._pair.slave,
            position=delivered.position,
            changes=delivered.changes,
            tolerated=delivered.tolerated.total(),
        )

    def _keep_up(self) -> None:
        now = time.monotonic()
        if now - self._renewed > _RENEW_S:
            leases.renew(self._store, self._held)
            self._renewed = now
        if self._drain.position != self._durable and now - self._durable_at > _DURABLE_S:
            self._record()
        if now - self._noted > _NOTE_S:
            self._noted = now
            self._context.runs().note(updates.own_run(), self._describe())

    def _record(self) -> None:
        """Make the slave durable, then tell the store how far it is."""
        if self._drain.position != self._durable:
            self._durable = self._drain.make_durable()
            replications.delivered(self._store, self._pair, self._durable, self._tolerated)
            blocked.count(self._store, self._pair, self._skipped)
            self._tolerated, self._skipped = Tolerated(), Counter()
            self._durable_at = time.monotonic()
