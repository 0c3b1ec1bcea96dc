"""Verifying slaves against their master at one point of the stream: a DAG, and an update's last step (R10)."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from sluice import shell
from sluice.airflow_api import outbox, standby
from sluice.apply.mapping.table_view import view
from sluice.capture.unwatched import expect_present
from sluice.changelog import points
from sluice.changelog.points import Point
from sluice.connections import sealed_text
from sluice.context import Context
from sluice.drain.third_databases import arrival_check
from sluice.errors import SluiceError, TransientError
from sluice.log import event
from sluice.model import compared_points
from sluice.model.action import FilledRows
from sluice.model.key_range import KeyInterval
from sluice.model.key_sample import KeySample
from sluice.model.layout import Layout
from sluice.model.names import RECEIVE_INITIAL_FILES, Pair, TableName
from sluice.model.sample_bound import CONFIDENCE, sample_size, statement, weakest
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import blocked, cascades, replications, transfers, updates
from sluice.store.replications import ReplicationState
from sluice.vendors.protocol.compare import Comparison, Side
from sluice.vendors.protocol.read import Key
from sluice.vendors.protocol.slave import SlaveDatabase
from sluice.verify import progress, ranges
from sluice.verify.changed_rows import ChangedRows
from sluice.verify.checkpoints import Parts
from sluice.verify.difference import Difference, Keeping
from sluice.verify.given_rows import GivenRows
from sluice.verify.outcome import raise_if_different
from sluice.verify.record import expect_enough, record, table_bound
from sluice.verify.rounds import CompareAll, Pace, compare_in_rounds, give_way_to_others

PATIENCE_S = 900.0
_NEAR_S = 60.0
_LOOK_S = 0.2

# The rows of a comparison, if it is not of all rows.
SomeRows = ChangedRows | GivenRows


@dataclass(frozen=True)
class VerifyRequest:
    """The scope of a comparison: all watched tables if none is named; `percent` of the keys.

    Attributes:
        initial: an initial update is to end with it.
        update: the number of the initial update that may end; 0: any.
        confidence: of the bound that a sample gives.
        at_most: draw so many keys of each table that the sample can show that less than this share of its rows differs.
        ranges: of keys; no other row of their tables is compared.
        since: a place in the change log; only rows are compared that it has changes of since.
        given: keys of the tables that are named, in the order of the slave's; no other row is compared, and no report
            is made.
        run: takes over what an earlier try of it has compared; None: all is compared now.
    """

    source: str
    slaves: tuple[str, ...]
    tables: tuple[TableName, ...] = ()
    percent: float = 100
    initial: bool = False
    update: int = 0
    confidence: float = CONFIDENCE
    at_most: float | None = None
    ranges: tuple[KeyInterval, ...] = ()
    since: str = ""
    given: Mapping[TableName, tuple[Key, ...]] = field(default_factory=dict)
    run: str | None = None

    @property
    def is_sample(self) -> bool:
        """Whether some keys are drawn."""
        return self.percent < 100 or self.at_most is not None

    @property
    def named_tables(self) -> tuple[TableName, ...]:
        """The tables that are named."""
        return tuple(sorted({*self.tables, *(key_range.table for key_range in self.ranges)}))


def verify(
    context: Context, request: VerifyRequest, compare_all: CompareAll, patience_s: float = PATIENCE_S
) -> dict[str, object]:
    """Compare, record what was found, and, at the end of an initial update, let NORMAL or INCONSISTENT happen.

    Raises:
        SluiceError: SLC-090 with the tables and keys that differ; SLC-020 if a slave is not in a state to be compared.
            Others were compared (R8). SLC-040 if one of the named tables is not watched, or does not exist, SLC-914 if
            `percent` and `at_most` are both chosen, SLC-640 if `ranges` cannot be, SLC-620 if `since` cannot; then
            nothing was. SLC-622 if rows of a slave are not found by a key.
        TransientError: SLC-091 if a slave does not arrive at the point; SLC-098 if it has its initial data,
            and its first changes do not come: somebody paused its drain, or it is not there yet; if its master
            lacks what others have sent to it. SLC-575 if a sample had fewer keys than `at_most` needs.
    """
    if request.at_most and request.percent < 100:
        raise SluiceError(
            914,
            "the size of a sample, and what it has to say, cannot both be chosen",
            "nothing was compared; choose either `sample` or `at_most`",
        )
    present = context.present(request.source)
    expect_present(context, request.source, present, _expected_tables(context, request))
    ranges.expect_alone(request.ranges, request.tables, sampled=request.is_sample)
    alone = not (request.is_sample or request.ranges or request.initial)
    named = request.named_tables or present
    changed = (
        GivenRows(request.given)
        if request.given
        else ChangedRows.begin(context, request.source, request.since, named, present, alone=alone)
    )
    states, refused = _find_ready(context, request)
    ready = list(states)
    failed_slaves = (
        _wait_for_slaves(context, request, ready, named, min(patience_s, _NEAR_S)) if request.initial else {}
    )
    ready = [slave for slave in ready if slave not in failed_slaves]
    results: dict[str, dict[str, Difference]] = {}
    report = 0
    if ready:
        with points.hold(context.store, request.source, ready, patience_s, context.ask_publisher) as point:
            report = point.id
            results = _compare(context, request, ready, point, compare_all, patience_s, failed_slaves, changed)
    for slave, tables in results.items():
        compared = sum(diff.compared for diff in tables.values())
        different = sum(diff.different for diff in tables.values())
        event("verified", slave=slave, compared=compared, different=different)
        if request.initial:
            outcome = ReplicationEvent.FAIL if different else ReplicationEvent.VERIFIED
            pair = Pair(request.source, slave)
            if not replications.try_record(context.store, pair, outcome, update_id=states[slave].update_id):
                refused[slave] = replications.get(context.store, pair).status
            elif outcome is ReplicationEvent.VERIFIED:
                cascades.follow(context.store, pair, states[slave].update_id)
                outbox.send(context.store, context.runs(), pair)
    passing = [error for error in failed_slaves.values() if isinstance(error, TransientError)]
    if request.initial and passing:
        # It is tried again: the one that failed learns it then, and nobody who is on the way is given up with him (R8).
        raise passing[0]
    only = request.named_tables
    raise_if_different(request.source, report, results, refused, initial=request.initial, only=only)
    expect_enough(request.at_most, results)
    for error in [*passing, *failed_slaves.values()]:
        raise error
    return {
        "note": "; ".join(_summary(context, request, slave, tables, changed) for slave, tables in results.items()),
        "slaves": {
            slave: {
                "compared": sum(diff.compared for diff in tables.values()),
                "different": sum(diff.different for diff in tables.values()),
                "sample": {table: asdict(diff.bound) for table, diff in tables.items() if diff.bound},
                "ranges": [str(key_range) for key_range in request.ranges if str(key_range.table) in tables],
                "points": [
                    {"position": str(place.position), "parts": place.parts}
                    for place in compared_points.add_up(diff.points for diff in tables.values())
                ],
                "own": sum(diff.own for diff in tables.values()),
                "excluded": context.config.slave(slave).mapper.exclusions,
                "left_out": list(map(str, blocked.skipped_tables(context.store, Pair(request.source, slave)))),
                **(changed.result(slave) if changed else {}),
            }
            for slave, tables in results.items()
        },
    }


def _summary(
    context: Context,
    request: VerifyRequest,
    slave: str,
    tables: Mapping[str, Difference],
    changed: SomeRows | None,
) -> str:
    compared, different = (sum(getattr(diff, name) for diff in tables.values()) for name in ("compared", "different"))
    moved, size = (sum(getattr(diff, name) for diff in tables.values()) for name in ("moved", "size"))
    unknown = sum(not diff.bound for diff in tables.values()) if request.percent < 100 else 0
    text = statement(weakest(diff.bound for diff in tables.values()), unknown)
    sure = text and f"; {text}"
    share = f"; {min(1.0, moved / size):.1%} of the data went over the network" if size else ""
    left_out = ", ".join(map(str, blocked.skipped_tables(context.store, Pair(request.source, slave))))
    gone = left_out and f"; left out: {left_out}"
    only = "; ".join(str(key_range) for key_range in request.ranges if str(key_range.table) in tables)
    these = changed.describe(slave) if changed else only and f" (no others than {only})"
    points = compared_points.statement(diff.points for diff in tables.values())
    earlier = points and f"; {points}"
    return f"{slave}: {compared:,} rows compared{these}, {different:,} different{sure}{share}{gone}{earlier}"


def _find_ready(context: Context, request: VerifyRequest) -> tuple[dict[str, ReplicationState], dict[str, Status]]:
    wanted = {Status.TRANSITION} if request.initial else {Status.NORMAL, Status.TRANSITION}
    pairs = [Pair(request.source, slave) for slave in request.slaves]
    # What is on its way, or still to come, can be compared when it is there; then the update of those slaves ends.
    states = {pair.slave: replications.get(context.store, pair) for pair in pairs}
    away = {pair.slave for pair in pairs if transfers.pending_transfer(context.store, pair)}
    away |= {slave for slave, state in states.items() if updates.is_put_off(context.store, state)}
    # The task before the one that ends an update has brought them all.
    if not request.initial:
        away |= {slave for slave, state in states.items() if updates.lacks_blocks(context.store, state)}
    statuses = {slave: state.status for slave, state in states.items()}
    # Another update ends when its own run has brought all of it, and compared that.
    ours = {slave for slave, state in states.items() if request.update in (0, state.update_id)}
    if request.initial:
        receiving = context.config.dag_id(RECEIVE_INITIAL_FILES)
        ours &= {slave for slave, state in states.items() if updates.may_end(context.store, state, receiving)}
    ready = {slave: state for slave, state in states.items() if state.status in wanted and slave in ours - away}
    passed = {
        slave for slave, status in statuses.items() if request.initial and (status is Status.NORMAL or slave in away)
    }
    return ready, {slave: status for slave, status in statuses.items() if slave not in {*ready, *passed}}


def _wait_for_slaves(
    context: Context, request: VerifyRequest, slaves: Sequence[str], tables: Collection[TableName], patience_s: float
) -> dict[str, SluiceError]:
    """Slaves that have not come to where the log ends now, or whose master has not come to where they are in streams of
    others, so that an update cannot end for them yet.

    They are waited for here, and by trying again: a slave that waits at a point holds a snapshot of the master.
    """
    end = context.manifest(request.source).end()
    pairs = [Pair(request.source, slave) for slave in slaves]
    failed_slaves: dict[str, SluiceError] = {
        pair.slave: error for pair in pairs if (error := _paused_error(context, pair))
    }
    deadline = time.monotonic() + patience_s
    while behind := {
        pair.slave: end.ordinal - position.ordinal
        for pair in pairs
        if pair.slave not in failed_slaves and (position := replications.get(context.store, pair).position) < end
    }:
        if time.monotonic() > deadline:
            failed_slaves |= {
                slave: _not_caught_up(Pair(request.source, slave), count) for slave, count in behind.items()
            }
            break
        time.sleep(_LOOK_S)
    for pair in [pair for pair in pairs if pair.slave not in failed_slaves]:
        error_of = arrival_check(context, pair, tables)
        while error := error_of():
            if time.monotonic() > deadline:
                failed_slaves[pair.slave] = error
                break
            time.sleep(_LOOK_S)
    return failed_slaves


def _not_caught_up(pair: Pair, count: int) -> TransientError:
    return TransientError(
        98,
        f"slave {pair.slave} has its data, and lacks transactions of the log: {count}",
        f"the update ends by itself when it has them. If it stands, `{shell.status()}` says what to type. To give "
        f"the update up, type: {shell.cancel(pair)}",
    )


def _paused_error(context: Context, pair: Pair) -> TransientError | None:
    """Why an update does not end, if a person paused the drain. It is no failure: the data is in, and stays."""
    who = standby.paused_by(context.store, pair, context.switch(pair))
    if who is None:
        return None
    return TransientError(
        98,
        f"slave {pair.slave} has its data, but gets no changes: its drain DAG was paused by {who}",
        f"type: {shell.unpause(pair)}; the update then ends by itself. To give it up, type: {shell.cancel(pair)}",
    )


def _compare(
    context: Context,
    request: VerifyRequest,
    slaves: Sequence[str],
    point: Point,
    compare_all: CompareAll,
    patience_s: float,
    failed_slaves: dict[str, SluiceError],
    changed: SomeRows | None,
) -> dict[str, dict[str, Difference]]:
    settings = context.config.source(request.source)
    shapes = _layouts(context, request, point)
    # Samples and changed rows are others each time; at the end of an update all has to be equal at one point.
    run = None if request.initial or request.is_sample or changed else request.run
    parts = Parts(context, request.source, point, run)
    jobs: list[Comparison] = []
    pace = Pace.from_settings(context, request.source)
    with ExitStack() as stack:
        with ThreadPoolExecutor(len(slaves)) as pool:
            # All at the same time: a slave does not stand at the point while another one fails to come.
            aligned = list(pool.map(lambda slave: _align(context, request, slave, point, patience_s, stack), slaves))
        if changed:
            # No slave stands any more.
            changed.read_to(point.position)
        for slave, alignment in zip(slaves, aligned, strict=True):
            if isinstance(alignment, SluiceError):
                failed_slaves[slave] = alignment
                continue
            port, snapshot_id = alignment
            skipped, ours = blocked.skipped_tables(context.store, port.pair), []
            for name in [name for name in shapes if not (name in skipped or port.mapper.excludes(name))]:
                replica = context.config.slave(slave)
                own_rows = port.mapper.existing_rows(name) is FilledRows.MERGE
                kept = settings.verification
                ours.append(
                    Comparison(
                        sealed_text(),
                        slave,
                        view(port.mapper, shapes[name]),
                        Side(settings.vendor, settings.connection, point.snapshot_id, tuple(settings.trusted_code)),
                        Side(replica.vendor, replica.connection, snapshot_id, adopted=port.mapper.adopted),
                        sample=KeySample() if request.at_most else KeySample.draw(request.percent),
                        least=sample_size(request.at_most, request.confidence) if request.at_most else None,
                        salt=replica.salt,
                        own_rows=own_rows,
                        keeping=Keeping(kept.max_rows, kept.keep_values, extra=not own_rows),
                        checksums=kept.checksums,
                        keys=tuple(key_range for key_range in request.ranges if key_range.table == name),
                    )
                )
            try:
                ours = changed.narrow(slave, port.mapper, ours) if changed else ours
                cut = partial(ranges.cut, tasks=context.config.bulk_tasks, fine=pace.may_rest)
                jobs += parts.plan(slave, ours, cut)
            except SluiceError as error:
                failed_slaves[slave] = error
        gives_way = give_way_to_others(context, compare_all, settings.yields_after_s)
        keep = progress.keep_and_report(context, request.source, point, jobs, parts)
        compared = compare_in_rounds(jobs, gives_way, pace, failed_slaves, keep)
    results: dict[str, dict[str, Difference]] = {slave: {} for slave in slaves if slave not in failed_slaves}
    for job, difference in ranges.by_table(parts.merge(compared, failed_slaves)):
        outcome = difference.count_extra_as_own() if job.own_rows else difference
        bound = table_bound(job, outcome, request.confidence)
        computed = outcome.only_in(job.view.computed_columns)
        outcome = replace(outcome, bound=bound, points=parts.points(job), computed=computed)
        results[job.slave][str(job.view.master.name)] = outcome
        if isinstance(changed, ChangedRows):
            changed.note(job)
        if not request.given:
            since = changed.since if isinstance(changed, ChangedRows) else None
            record(context, request.source, point, job, outcome, since)
    for slave in results:
        parts.forget(slave)
    return results


def _align(
    context: Context, request: VerifyRequest, slave: str, point: Point, patience_s: float, stack: ExitStack
) -> tuple[SlaveDatabase, str] | SluiceError:
    """A slave at the point, with its snapshot, which is held open; or why it does not come there."""
    pair = Pair(request.source, slave)
    try:
        port = context.slave(pair)
        snapshot_id = stack.enter_context(port.aligned(point.position, patience_s))
    except SluiceError as error:
        event("not aligned", slave=slave, why=error.fact)
        return (_paused_error(context, pair) if request.initial else None) or error
    finally:
        points.let_pass(context.store, point.id, slave)
    event("aligned", slave=slave, position=point.position)
    return port, snapshot_id


def _expected_tables(context: Context, request: VerifyRequest) -> Iterable[TableName]:
    """The named tables, without those of an initial update that were dropped since it began: wildcards lose them."""
    watched = context.watched_tables(request.source).keys() if request.initial else request.named_tables
    return set(request.named_tables) & set(watched)


def _layouts(context: Context, request: VerifyRequest, point: Point) -> dict[TableName, Layout]:
    """The tables to be compared, as the point shows them: one that was made, dropped or renamed since is left out."""
    watched, present = context.watched_tables(request.source), context.present(request.source)
    database = context.source(request.source)
    try:
        shapes = {name: database.master.shape(point.snapshot_id, name) for name in request.named_tables or present}
    finally:
        database.close()
    gone = [] if request.named_tables else sorted(watched.keys() - set(present.values()))
    for name in (*gone, *(name for name, shape in shapes.items() if shape is None)):
        event("left out", source=request.source, table=name, why="the point does not show it as a watched table")
    return {name: shape for name, shape in shapes.items() if shape}
