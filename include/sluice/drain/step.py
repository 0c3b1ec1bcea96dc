"""A step of a drain: deliver to one slave from where it stands, for some seconds or until all is delivered.

It opens log and slave by itself, under the epoch of the drain that asks for it, and tells the control store how far the
slave is and what stops it. The drain's process has the lease and the pause switch; it is `run.py`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence, Set
from contextlib import suppress
from dataclasses import asdict
from functools import partial

from sluice import extensions, hints
from sluice.config.mapper import Mapper
from sluice.connections import find_salt
from sluice.context import Context
from sluice.drain import shared_tables
from sluice.drain.ddl_policy import DdlPermission, UndecidedDdl
from sluice.drain.drain import Delivered, Drain
from sluice.drain.gate import why_held
from sluice.drain.replaced_tables import ReplacedTables
from sluice.drain.step_result import StepDone
from sluice.errors import SluiceError, TransientError
from sluice.model.names import Pair, TableName
from sluice.model.row_conflict import RejectedChange, Tolerated
from sluice.state.ddl_question import QuestionState
from sluice.state.replication import Status
from sluice.steps import Result
from sluice.store import blocked, ddl_questions, rejected_changes, replications, statement_results, watched_tables
from sluice.store.engine import Store
from sluice.vendors.protocol.slave import SlaveDatabase

Keep = Callable[[Store, Pair, Sequence[RejectedChange]], None]

_DURABLE_S = 3.0


def deliver(
    context: Context,
    pair: Pair,
    mapper: Mapper,
    epoch: int,
    seconds: float,
    *,
    after_crash: bool = False,
    first: bool = False,
) -> Result:
    """Deliver until nothing is left, the store holds the gate, or so many seconds are over at the end of a batch.

    Args:
        mapper: as the drain's process has it, which alone reads stylesheets.
        epoch: of the lease under which this is asked for.
        after_crash: begin with a small batch.
        first: the first step of a run, which checks that no table is of a kind that a crash of the server empties.

    Returns:
        the fields of `StepDone`.

    Raises:
        SluiceError: terminal; the store has the transaction that the slave stands in front of, and the question if
            there is one, and the HINT says what to type.
    """
    slave = context.slave(pair, mapper)
    drain: Drain | None = None
    try:
        # Read before the drain reads the same list: if the list changes after this, the step ends.
        left_out = blocked.skipped_tables(context.store, pair).keys()
        watched = watched_tables.known_tables(context.store, pair.source) - left_out
        tables = sorted(name for name in watched if context.gives(pair, name))
        if first:
            slave.expect_lasting(tables)
        drain = drain_of(context, pair, slave)
        step = _Step(context.store, pair, drain, epoch, left_out, after_crash=after_crash)
        replaced = ReplacedTables(context, pair, slave, tables)
        replaced.look(drain.position.ordinal)
        try:
            done = step.deliver(seconds)
        except SluiceError:
            # What is delivered stays so, and the next step compares with what it is now.
            with suppress(SluiceError):
                replaced.record(drain.position.ordinal, drain.emptied_tables)
            raise
        if first or done.transactions:
            replaced.record(drain.position.ordinal, drain.emptied_tables)
        return asdict(done)
    except TransientError:
        raise
    except SluiceError as error:
        if not extensions.leaving.is_set():
            # Else a signal interrupted whatever was at work: that says nothing of the slave.
            explain(context.store, pair, error, drain)
        raise
    finally:
        if drain:
            drain.close()
        slave.close()


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
        left_out: tables of the master that it is not given, beside what a person had left out.
    """
    settings, own = context.config.replication(pair.source, pair.slave), context.config.slave(pair.slave)
    return Drain(
        slave,
        context.manifest(pair.source),
        context.files(),
        own.max_batch,
        context.read_snapshot(pair.source),
        answered=partial(statement_results.record_answer, context.store, pair) if settings.statements else None,
        collected=settings.collect_limit,
        salt=find_salt(context.connections, own.salt),
        rejected=partial(keep, context.store, pair),
        permission=DdlPermission(
            settings.policies,
            ddl_questions.decisions(context.store, pair),
            slave.mapper.excludes,
            partial(shared_tables.others, context, pair),
            slave.doubts,
        ),
        skipped={*left_out, *blocked.skipped_tables(context.store, pair)},
    )


def explain(store: Store, pair: Pair, error: SluiceError, drain: Drain | None = None) -> None:
    """Complete the error of a slave that stands, and keep in the store what it stands in front of."""
    updating = replications.get(store, pair).status is Status.TRANSITION
    stuck = drain.stuck if drain else None
    # A question names its transaction, and is answered: to go on without that would throw the command away.
    hints.for_drain(error, pair, None if isinstance(error, UndecidedDdl) else stuck, updating=updating)
    if stuck:
        blocked.record(store, pair, stuck)
    if isinstance(error, UndecidedDdl):
        ddl_questions.put(store, pair, error.asking, QuestionState.WAITING if error.asked else QuestionState.STOPPED)


class _Step:
    def __init__(
        self, store: Store, pair: Pair, drain: Drain, epoch: int, left_out: Set[TableName], *, after_crash: bool
    ) -> None:
        self._store = store
        self._pair = pair
        self._drain = drain
        self._left_out = left_out
        drain.begin(epoch, after_crash=after_crash)
        # The recorded position: a drain that died may have come further than it recorded.
        self._durable = replications.get(store, pair).position
        self._durable_at = time.monotonic()
        self._done = StepDone()
        self._tolerated = Tolerated()
        self._batch_s: float | None = None
        self._skipped: Counter[TableName] = Counter()

    def deliver(self, seconds: float) -> StepDone:
        end = time.monotonic() + seconds
        try:
            # What fails is looked for in one step: the next one would begin with all of it again.
            while time.monotonic() < end or self._drain.is_narrowing:
                if why_held(self._store, self._pair):
                    self._done.shut = True
                    break
                if blocked.skipped_tables(self._store, self._pair).keys() != self._left_out:
                    # The next step knows them.
                    break
                began = time.monotonic()
                if (delivered := self._drain.deliver()) is None:
                    break
                self._batch_s = time.monotonic() - began
                self._count(delivered)
                # Only this task knows of these, and it may be ended after its next batch.
                if delivered.tolerated or delivered.skipped:
                    self._record()
                if time.monotonic() - self._durable_at > _DURABLE_S:
                    self._record()
        finally:
            self._record()
        position = self._drain.position
        self._done.segment, self._done.ordinal = position.segment, position.ordinal
        return self._done

    def _count(self, delivered: Delivered) -> None:
        self._done.transactions += delivered.transactions
        self._done.changes += delivered.changes
        self._done.conflicts += [
            (name.schema, name.table, kind, rows) for (name, kind), rows in delivered.tolerated.items()
        ]
        self._tolerated += delivered.tolerated
        self._skipped += delivered.skipped

    def _record(self) -> None:
        """Make the slave durable, then tell the store how far it is."""
        if self._drain.position != self._durable:
            self._durable = self._drain.make_durable()
            replications.record_delivery(self._store, self._pair, self._durable, self._tolerated, self._batch_s)
            blocked.count(self._store, self._pair, self._skipped)
            self._tolerated, self._skipped = Tolerated(), Counter()
            self._durable_at = time.monotonic()
