"""Repairing a slave: the master's rows of some keys come at points of the stream (R10).

At a point the slave has applied exactly what the snapshot shows. So its rows of these keys have to be those of the
snapshot there, and the stream goes on from them: no newer change is undone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from sluice import shell
from sluice.changelog import points
from sluice.context import Context
from sluice.drain.third_databases import hold_together
from sluice.errors import FencedError, KeyConflict, LogTrimmed, NotByKeys, RowsDiffer, SluiceError, TransientError
from sluice.log import event
from sluice.model.names import Pair, TableName
from sluice.model.row_difference import KINDS
from sluice.model.row_numbers import RowNumbers
from sluice.repair import chosen_rows, reverse_replication
from sluice.repair.both_sides import BothSides
from sluice.repair.both_sides_step import Directions
from sluice.repair.counted_steps import CountedSteps
from sluice.repair.plan import (
    LeftOut,
    RowsPlan,
    expect_alone_in_table,
    expect_given,
    expect_ready,
    plan,
    sift,
)
from sluice.repair.rule_choice import RuleChoice
from sluice.repair.step import Round, repair_rows
from sluice.spark.errors import raise_any
from sluice.steps import LocalSteps, Steps
from sluice.store import comparisons, replications
from sluice.store.replications import ReplicationState
from sluice.vendors.protocol.read import Key
from sluice.verify.rounds import CompareAll
from sluice.verify.run import PATIENCE_S, VerifyRequest, verify

# Keys of one transaction of the slave's, and of one point.
_BATCH = 500
_ROUND = 20_000
# How often a batch is tried at another point, if a lock is in its way or the slave did not come.
_TRIES = 5
# Statements in the result of a dry run.
_SHOWN = 1_000
# Characters of the chosen numbers in the audit trail.
_NUMBERS = 200


@dataclass(frozen=True)
class RepairRequest:
    """The rows to repair: of a report, or of a comparison that is made first.

    Attributes:
        tables: of the master; all that differ if none is named.
        dry_run: nothing is changed; the result has the first statements.
        who: if not this run.
        rows: of one table of the report, these alone.
        rule: which side's row wins where both are masters.
    """

    source: str
    slave: str
    tables: tuple[TableName, ...] = ()
    report: int | None = None
    kinds: tuple[str, ...] = KINDS
    dry_run: bool = False
    who: str | None = None
    rows: RowNumbers | None = None
    rule: RuleChoice = field(default_factory=RuleChoice)

    @property
    def pair(self) -> Pair:
        """The replication."""
        return Pair(self.source, self.slave)

    @property
    def command(self) -> str:
        """The command that compares anew, and repairs the same tables and kinds of rows by the same rule."""
        words = [word for table in self.tables for word in ("--table", table)]
        words += [word for kind in self.kinds if set(self.kinds) != set(KINDS) for word in ("--kind", kind)]
        return shell.sluice("repair", self.source, self.slave, *words, *self.rule.options)


@dataclass
class _Progress:
    keys: int = 0
    deleted: int = 0
    written: int = 0
    tables: list[str] = field(default_factory=list)

    def add(self, keys: int, deleted: int, written: int) -> None:
        self.keys += keys
        self.deleted += deleted
        self.written += written

    def __str__(self) -> str:
        return f"{self.keys:,} keys: {self.deleted:,} rows deleted, {self.written:,} inserted or updated"


def repair(
    context: Context,
    request: RepairRequest,
    compare_all: CompareAll,
    patience_s: float = PATIENCE_S,
    steps: Steps | None = None,
) -> dict[str, object]:
    """Repair rows of a slave, and compare its tables again.

    Args:
        steps: where rows are moved; in this process if nothing else is said.

    Raises:
        SluiceError: SLC-020, SLC-466, SLC-467, SLC-468, SLC-603, SLC-627, it cannot
            be done, nothing was changed; SLC-603, a rule fails on a row; a row that is not repaired is
            in the way; SLC-469, rows of these kinds, or these rows, differ afterwards.
        TransientError: the slave does not come to a point, or the like; what is repaired already stays.
    """
    pair = request.pair
    chosen_rows.expect_alone(request.rows, request.report, request.kinds)
    began = expect_ready(context, pair)
    for table in request.tables:
        expect_given(context, pair, table)
    where = steps or LocalSteps(context)
    both = _both(context, where, request, patience_s)
    report = request.report if request.report is not None else _compare(context, request, compare_all, patience_s)
    if report is None:
        return {"note": f"{pair.slave}: nothing differs", "deleted": 0, "written": 0}
    left_out: LeftOut = None if request.tables or request.rows else []
    planned = plan(context, pair, report, request.tables, request.kinds, request.rows, left_out)
    # Nothing is on its way from the slave in a table that no source there watches.
    by_rule = [table for table in planned if both and (both.strict or both.carries(table.report))]
    others = [table for table in planned if table not in by_rule]
    rest = sift(others, lambda table: expect_alone_in_table(context, pair, table), left_out)
    if left_out and not (by_rule or rest):
        raise left_out[0]
    results = [_by_rule(context, request, both, report, by_rule)] if both and by_rule else []
    if rest or not results:
        results.append(_one_way(context, where, request, report, rest, began, compare_all, patience_s, left_out))
    note = "; ".join([*(str(result["note"]) for result in results), *(result.message for result in left_out or ())])
    facts = {"left_out": [error.fact for error in left_out]} if left_out else {}
    return {name: value for result in results for name, value in result.items()} | {"note": note} | facts


def _one_way(
    context: Context,
    steps: Steps,
    request: RepairRequest,
    report: int,
    planned: Sequence[RowsPlan],
    began: ReplicationState,
    compare_all: CompareAll,
    patience_s: float,
    left_out: LeftOut,
) -> dict[str, object]:
    """Make rows of the slave the source's, and compare the tables again."""
    pair = request.pair
    if request.dry_run:
        statements = [text for table in planned for text in table.statements()]
        note = f"report {report}: {len(statements):,} statements, nothing was changed"
        return {"note": note, "statements": statements[:_SHOWN]}
    what = _summary(request, planned)
    _note(context, request, "repair", f"report {report}: {what or 'nothing'}")
    done = _Progress()
    with _audit(context, request, done):
        planned = sift(planned, lambda table: _repair(context, steps, pair, table, began, done, patience_s), left_out)
    event("repaired", slave=pair.slave, report=report, keys=done.keys, deleted=done.deleted, written=done.written)
    others = _differing_otherwise(context, request, planned, compare_all, patience_s)
    which = "that were not chosen" if request.rows else "of other kinds"
    again = f"{others:,} rows {which} differ" if others else "equal"
    note = f"{pair.slave}: {done}; compared again: {again}" if planned else f"{pair.slave}: nothing differs"
    return {"note": note, "report": report, "deleted": done.deleted, "written": done.written}


def _both(context: Context, steps: Steps, request: RepairRequest, patience_s: float) -> BothSides | None:
    """A repair in both directions, if there are two, or if the rule needs both."""
    reverse_replication.expect_connections(context, request.pair)
    opposites = reverse_replication.reverse_pairs(context, request.pair)
    strict = request.rule.needs_both
    if not strict and (not opposites or reverse_replication.unfit_both_ways(context, request.pair, opposites)):
        return None
    how = Directions(request.rule, request.kinds, request.dry_run, patience_s, strict)
    return BothSides(context, steps, request.pair, opposites, how)


def _by_rule(
    context: Context, request: RepairRequest, both: BothSides, report: int, planned: Sequence[RowsPlan]
) -> dict[str, object]:
    """Repair rows to the sides that a rule says. Raises SluiceError SLC-469, more rows differ than the report names."""
    pair, settled = request.pair, both.settled
    what = _summary(request, planned)
    pairs = () if request.dry_run else (pair, *both.opposites)
    for direction in pairs:
        _note(context, request, "repair", f"report {report} of {pair}, {both.rule_text}: {what}", direction)
    with _audit(context, request, settled, pairs):
        for table in planned:
            both.settle(table)
    event("repaired", slave=pair.slave, report=report, **settled.counts)
    if more := 0 if request.dry_run or request.rows else sum(table.more for table in planned):
        raise SluiceError(
            469,
            f"rows were repaired ({settled}), and {more:,} rows differ that report {report} does not name",
            f"what was repaired is correct; type again: {request.command}",
        )
    others = sum(table.left for table in planned)
    would = f"; {others:,} rows were not chosen" if others else ""
    would += "; nothing was changed" if request.dry_run else ""
    extra = {"statements": settled.statements[:_SHOWN]} if request.dry_run else {}
    return {"note": f"{pair.slave}, {both.rule_text}: {settled}{would}", "report": report, **settled.counts, **extra}


def _summary(request: RepairRequest, planned: Sequence[RowsPlan]) -> str:
    """The rows, for the audit trail."""
    what = ", ".join(f"{len(table.rows):,} rows of {table.report.table}" for table in planned)
    return what + (f", chosen by number: {str(request.rows)[:_NUMBERS]}" if request.rows else "")


def _compare(context: Context, request: RepairRequest, compare_all: CompareAll, patience_s: float) -> int | None:
    """Compare; the number of the report, or None if nothing differs."""
    try:
        verify(context, VerifyRequest(request.source, (request.slave,), request.tables), compare_all, patience_s)
    except RowsDiffer as error:
        return error.report
    return None


def _repair(
    context: Context,
    steps: Steps,
    pair: Pair,
    planned: RowsPlan,
    began: ReplicationState,
    done: _Progress,
    patience_s: float,
) -> RowsPlan:
    """Repair the rows of one table, so many at a point."""
    batches = {start: planned.keys[start : start + _BATCH] for start in range(0, len(planned.keys), _BATCH)}
    counted = CountedSteps(context, steps, pair)
    tries = 0
    try:
        while batches:
            some = dict(islice(batches.items(), _ROUND // _BATCH))
            try:
                for number, deleted, written in _round(context, counted, pair, planned, began, some, patience_s):
                    done.add(len(batches.pop(number)), deleted, written)
                    counted.forget([number])
                    tries = 0
            except FencedError:
                raise
            except KeyConflict:
                if len(batches) == 1:
                    raise
                # A row of a later batch is in the way.
                batches = {len(planned.keys): [key for keys in batches.values() for key in keys]}
            except TransientError as error:
                tries += 1
                if tries >= _TRIES:
                    raise
                event("repair put off", slave=pair.slave, table=planned.report.table, why=error.fact)
    except BaseException:
        for number, counts in counted.lost.items():
            done.add(len(batches.get(number, ())), *counts)
        raise
    return planned


def _round(
    context: Context,
    steps: CountedSteps,
    pair: Pair,
    planned: RowsPlan,
    began: ReplicationState,
    batches: Mapping[int, Sequence[Key]],
    patience_s: float,
) -> Iterator[tuple[int, int, int]]:
    """Repair batches at a point; of each that is done its number, and how many rows were deleted and written.

    Raises:
        SluiceError: why the others are not.
    """
    mapper = context.mapper(pair)
    with (
        hold_together(context, pair, planned.report.on_slave, patience_s) as held,
        points.hold(context.store, pair.source, [pair.slave], patience_s, context.ask_publisher) as point,
    ):
        wanted = Round(pair, mapper, planned.report, began, point, held, batches, patience_s)
        result = steps.run(partial(repair_rows, wanted=wanted), point)
    yield from result["done"]
    raise_any(filter(None, [result["failure"]]))


def _differing_otherwise(
    context: Context, request: RepairRequest, planned: Collection[RowsPlan], compare_all: CompareAll, patience_s: float
) -> int:
    """Compare the tables again, and count rows that differ and were not to be repaired.

    Raises:
        SluiceError: SLC-469, rows of a kind that was asked for differ, or chosen ones.
    """
    if not planned:
        return 0
    tables = tuple(table.report.table for table in planned if not table.report.within)
    ranges = tuple(within for table in planned for within in table.report.within)
    since = next((table.report.only.since for table in planned if table.report.only), "")
    again = VerifyRequest(request.source, (request.slave,), tables, ranges=ranges, since=since)
    try:
        _again(context, again, compare_all, patience_s)
    except RowsDiffer as error:
        reports = comparisons.tables_of(context.store, error.report, request.pair)
        if request.rows:
            keys = {table.report.table: tuple(table.keys) for table in planned}
            some_keys = {name: set(table_keys) for name, table_keys in keys.items()}
            asked_for = chosen_rows.still_differing(context, reports, some_keys)
            if asked_for is None:
                asked_for = _differ(context, replace(again, since="", ranges=(), given=keys), compare_all, patience_s)
        else:
            asked_for = any(report.counts[kind] for report in reports for kind in request.kinds)
        if not asked_for:
            return sum(report.different for report in reports)
        left = sum(table.more for table in planned)
        raise SluiceError(
            469,
            f"rows were repaired, and rows differ: {error.fact}",
            (f"the report did not name {left:,} of them; " if left else "")
            + f"look who else writes to the slave, then type again: {request.command}",
        ) from None
    return 0


def _again(context: Context, request: VerifyRequest, compare_all: CompareAll, patience_s: float) -> None:
    """Compare again; all rows if the log does not go back any more as far as it did for the report."""
    try:
        verify(context, request, compare_all, patience_s)
    except LogTrimmed:
        verify(context, replace(request, since=""), compare_all, patience_s)


def _differ(context: Context, request: VerifyRequest, compare_all: CompareAll, patience_s: float) -> bool:
    """Whether rows of the given keys differ, or cannot be asked for."""
    try:
        verify(context, replace(request, tables=tuple(request.given)), compare_all, patience_s)
    except (RowsDiffer, NotByKeys):
        return True
    return False


@contextmanager
def _audit(
    context: Context, request: RepairRequest, done: object, pairs: Sequence[Pair | None] = (None,)
) -> Iterator[None]:
    """Note in the audit trail what was repaired in the end, or that it failed, and what was repaired by then.

    Args:
        done: what is repaired, as its text says.
        pairs: whose trail it is; of the request if nothing else is said.
    """
    try:
        yield
    except BaseException as error:
        code = f"SLC-{error.code:03d}" if isinstance(error, SluiceError) else type(error).__name__
        for pair in pairs:
            _note(context, request, "repair failed", f"{code}; by then: {done}", pair)
        raise
    for pair in pairs:
        _note(context, request, "repaired", str(done), pair)


def _note(context: Context, request: RepairRequest, what: str, detail: str, pair: Pair | None = None) -> None:
    with context.store.begin() as connection:
        replications.note(connection, pair or request.pair, what, detail, request.who)
