"""Repair rows that both sides write: a rule decides at points of both streams, and the winner goes to the other side.

Two points are held, one of each stream, and the second is made when the first is reached. So the first side's row that
the second point's snapshot lacks cannot be: what is in it was delivered. A row is decided on only if it was not written
on the first side since its snapshot, and it is written only where it still is of the version that was decided on. So no
change is on its way to a side that the decision did not know (R10, in both directions).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa

from sluice.apply.mapping.table_view import TableView, view
from sluice.changelog import points
from sluice.changelog.points import Point, PointWait
from sluice.context import Context
from sluice.errors import FencedError, KeyConflict, TransientError
from sluice.log import event
from sluice.model.names import Pair, TableName
from sluice.model.row_difference import RowDifference
from sluice.repair import reverse_replication
from sluice.repair.plan import RowsPlan, expect_given, expect_ready, expect_unchanged, outdated_error, statement
from sluice.repair.rule_choice import RuleChoice
from sluice.repair.rules import Conflict, Row, Rule, Winner
from sluice.store import comparisons
from sluice.store.comparisons import TableReport
from sluice.values.copy_text import columns_of, lines_of
from sluice.vendors.protocol.load import Reading
from sluice.vendors.protocol.read import Key
from sluice.vendors.protocol.repair import VersionedRepair
from sluice.vendors.registry import master, vendor

_BATCH = 500
_ROUND = 20_000
# How often rows are looked at that keep changing, or that were written; each time at other points.
_ROUNDS = 5


@dataclass(frozen=True)
class Directions:
    """The rule of a repair, and what it may do.

    Attributes:
        rule: says which side's row wins, of rows of these kinds.
        dry_run: nothing is written.
        strict: every table has to go both ways.
    """

    rule: RuleChoice
    kinds: Collection[str]
    dry_run: bool
    patience_s: float
    strict: bool = True


@dataclass
class Settlement:
    """The outcome for the rows.

    Attributes:
        to_slave, to_source: how many were written there, or would be.
        equal: how many both sides had alike by then: what made them differ was on its way.
        left: how many the rule left.
        undecided: how many it left because it could not decide on them.
        changing: how many kept changing, and were left for that.
        statements: what a dry run would do, with the slave that it would do it to.
    """

    to_slave: int = 0
    to_source: int = 0
    equal: int = 0
    left: int = 0
    undecided: int = 0
    changing: int = 0
    statements: list[str] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """All of these numbers."""
        return {name: value for name, value in vars(self).items() if name != "statements"}

    def __str__(self) -> str:
        return (
            f"{self.to_slave:,} rows to the slave's side, {self.to_source:,} to the source's, "
            f"{self.left:,} left by the rule, {self.undecided:,} undecided, "
            f"{self.changing:,} left since they kept changing"
        )

    def count_written(self, winner: Winner, rows: int) -> None:
        """Count rows that the winner's side gave the other."""
        if winner is Winner.SOURCE:
            self.to_slave += rows
        else:
            self.to_source += rows


@dataclass(frozen=True)
class _TableSide:
    """One side of a table: what it gives away, at a point of its stream.

    Attributes:
        winner: whose rows these are.
        pair: the replication that takes them to the other side.
        key: its names of the columns of the key, in the order of the report's.
        named: the source's names of the columns that are read.
        writer: into the other side.
    """

    winner: Winner
    pair: Pair
    point: Point
    view: TableView
    key: tuple[str, ...]
    named: tuple[str, ...]
    reading: Reading
    version: str
    writer: VersionedRepair
    patience_s: float

    def wait(self) -> PointWait:
        """The other side on its way to the point."""
        return PointWait(self.pair, self.point.position, self.patience_s, nearing=True)

    def rows(self, keys: Sequence[Key]) -> dict[Key, tuple[Row, str]]:
        """The rows of these keys at the point, by the source's names, with their versions."""
        rows: dict[Key, tuple[Row, str]] = {}
        columns = (*self.view.read_columns, self.version)
        where = [self.view.read_columns.index(name) for name in self.key]
        for buffer in self.reading.keyed(self.view.master.name, columns, self.key, keys):
            texts = (column.to_pylist() for column in columns_of(buffer, len(columns)))
            for *values, version in zip(*texts, strict=True):
                rows[tuple(values[place] for place in where)] = dict(zip(self.named, values, strict=True)), version
        return rows

    def lines(self, rows: Sequence[Row]) -> bytes:
        """Rows as the other side's COPY takes them."""
        return lines_of([pa.array([row[name] for row in rows], pa.string()) for name in self.named])


class BothSides:
    """A repair in both directions.

    Args:
        pair: the replication whose report it is.
        opposites: the replications that go the other way.

    Raises:
        SluiceError: SLC-627, there is no opposite direction; SLC-020 and SLC-468, its slave cannot be repaired.
    """

    def __init__(self, context: Context, pair: Pair, opposites: list[Pair], how: Directions) -> None:
        if error := reverse_replication.unfit_both_ways(context, pair, opposites):
            raise error
        self._context = context
        self._pair = pair
        self._how = how
        self.opposites = opposites
        self._began = {direction: expect_ready(context, direction) for direction in (pair, *opposites)}
        self.settled = Settlement()

    def carries(self, table: TableReport) -> bool:
        """Whether rows of the slave's table go to the source's database, as far as the configuration says."""
        return reverse_replication.find_for_table(self._context, self.opposites, table.on_slave) is not None

    @property
    def strict(self) -> bool:
        """Whether every table has to go both ways."""
        return self._how.strict

    @property
    def rule_text(self) -> str:
        """The rule in words."""
        return str(self._how.rule)

    def settle(self, planned: RowsPlan) -> None:
        """Decide on the rows of a table, and write them."""
        keys = planned.keys
        for start in range(0, len(keys), _ROUND):
            self._settle(planned, keys[start : start + _ROUND])

    def _settle(self, planned: RowsPlan, keys: list[Key]) -> None:
        waiting, tried, size = set(keys), set[Key](), _BATCH
        for number in range(_ROUNDS):
            try:
                with self._round(planned, tried) as decided:
                    for begin in range(0, len(keys), size):
                        batch = [key for key in keys[begin : begin + size] if key in waiting]
                        if batch:
                            waiting -= decided.batch(batch)
            except FencedError:
                raise
            except KeyConflict:
                if size >= len(keys) or number + 1 == _ROUNDS:
                    raise
                # A row of another batch is in the way.
                size = len(keys)
            except TransientError as error:
                if number + 1 == _ROUNDS:
                    raise
                event("repair put off", slave=self._pair.slave, table=planned.report.table, why=error.fact)
            if not waiting or self._how.dry_run:
                break
        self.settled.changing += len(waiting)

    @contextmanager
    def _round(self, planned: RowsPlan, tried: set[Key]) -> Iterator[_Round]:
        """Hold a point of each stream. All repairs take them in one order, so none waits for one that waits for it."""
        context, table = self._context, planned.report
        back = reverse_replication.find_for_table(context, self.opposites, table.on_slave)
        if back is None:
            why = f"no source in the slave's database watches {table.on_slave}"
            raise reverse_replication.unlike(self._pair, table.table, why)
        expect_given(context, back, table.on_slave)
        reverse_replication.expect_two_alone(context, self._pair, back, table.table, table.on_slave)
        order = sorted([(self._pair, Winner.SOURCE), (back, Winner.SLAVE)], key=lambda direction: direction[0])
        with ExitStack() as stack:
            held: dict[Pair, tuple[Point, VersionedRepair]] = {}
            for pair, _ in order:
                slave = context.config.slave(pair.slave)
                opened = vendor(slave.vendor).repair_versions
                assert opened is not None
                info = context.connection(slave.connection)
                writer = opened(info, pair, slave.schema_, context.mapper(pair), context.unheard(pair))
                stack.enter_context(closing(writer))
                point = stack.enter_context(
                    points.hold(context.store, pair.source, [pair.slave], self._how.patience_s, context.ask_publisher)
                )
                writer.arrive(PointWait(pair, point.position, self._how.patience_s, nearing=True))
                held[pair] = point, writer
            there = self._view(planned, self._pair, held[self._pair][0], table.table)
            here = self._view(planned, back, held[back][0], table.on_slave)
            if comparisons.shape_of(there.layout) != table.layout:
                raise outdated_error(self._pair, table.report, table.table, "it was altered")
            reverse_replication.expect_mirrored(self._pair, there, here)
            kinds = {self._pair: (there, there.ours.key_names, there.read_columns)}
            kinds[back] = here, there.layout.key_names, here.written_columns
            sides = []
            for pair, winner in order:
                source = context.config.source(pair.source)
                reader = master(source.vendor)
                assert reader.version is not None
                origin, (point, writer) = context.connection(source.connection), held[pair]
                reading = stack.enter_context(reader.read(origin, point.snapshot_id, tuple(source.trusted_code)))
                table_view, key, named = kinds[pair]
                patience_s, version = self._how.patience_s, reader.version
                sides.append(
                    _TableSide(winner, pair, point, table_view, key, named, reading, version, writer, patience_s)
                )
            rule = self._how.rule.rule(there, self._how.kinds)
            allowed = partial(self._expect_allowed, planned, back)
            yield _Round(sides[0], sides[1], rule, self.settled, tried, allowed, dry_run=self._how.dry_run)

    def _view(self, planned: RowsPlan, pair: Pair, point: Point, table: TableName) -> TableView:
        database = self._context.source(pair.source)
        try:
            layout = database.master.shape(point.snapshot_id, table)
        finally:
            database.close()
        if layout is None:
            raise outdated_error(self._pair, planned.report.report, table, "it is not there any more")
        return view(self._context.mapper(pair), layout)

    def _expect_allowed(self, planned: RowsPlan, back: Pair) -> None:
        for pair, table in ((self._pair, planned.report.table), (back, planned.report.on_slave)):
            expect_unchanged(self._context, pair, self._began[pair])
            expect_given(self._context, pair, table)


@dataclass(frozen=True)
class _Round:
    """Rows at two points. The second was made when `first` had given everything up to its own.

    Attributes:
        tried: keys of rows that were to be written, in this round or before.
    """

    first: _TableSide
    second: _TableSide
    rule: Rule
    settled: Settlement
    tried: set[Key]
    expect_allowed: Callable[[], None]
    dry_run: bool

    def batch(self, keys: Sequence[Key]) -> set[Key]:
        """Decide on rows and write them. Returns the keys that need no other look: both sides have them alike, or the
        rule leaves them.
        """
        sides = {side.winner: side.rows(keys) for side in (self.first, self.second)}
        now = self._now(keys)
        then, nothing = sides[self.first.winner], (None, "")
        alike, open_ = set[Key](), list[Conflict]()
        for key in keys:
            (ours, _), (theirs, _) = (sides[winner].get(key, nothing) for winner in (Winner.SOURCE, Winner.SLAVE))
            here, version = now.get(key, nothing)
            # What the second side changed since the first one's snapshot is there now.
            if ours == theirs or here == sides[self.second.winner].get(key, nothing)[0]:
                alike.add(key)
            elif version == then.get(key, nothing)[1]:
                open_.append(Conflict(key, ours, theirs))
        winners = self.rule.winners(open_) if open_ else ()
        answers = {conflict.key: winner for conflict, winner in zip(open_, winners, strict=True)}
        left, undecided = (
            {key for key, winner in answers.items() if winner is answer} for answer in (Winner.LEAVE, Winner.UNDECIDED)
        )
        self.settled.equal += len(alike - self.tried)
        self.settled.left += len(left)
        self.settled.undecided += len(undecided)
        for giver, taker in ((self.first, self.second), (self.second, self.first)):
            won = [key for key, winner in answers.items() if winner is giver.winner]
            if won and self.dry_run:
                self.settled.count_written(giver.winner, len(won))
                self._tell(giver, won, sides[giver.winner], sides[taker.winner])
            elif won:
                self.tried.update(won)
                self._write(giver, won, sides[giver.winner], sides[taker.winner])
        return alike | left | undecided | (answers.keys() if self.dry_run else set())

    def _now(self, keys: Sequence[Key]) -> dict[Key, tuple[Row, str]]:
        """The first side's rows of this moment: they have all that the second one gave up to its point."""
        rows = self.second.writer.rows(self.second.view, keys, self.second.wait())
        return {
            key: (dict(zip(self.second.named, values, strict=True)), version) for key, (values, version) in rows.items()
        }

    def _tell(
        self,
        giver: _TableSide,
        keys: Sequence[Key],
        rows: Mapping[Key, tuple[Row, str]],
        theirs: Mapping[Key, tuple[Row, str]],
    ) -> None:
        """Say what a dry run would write."""
        names = dict(zip(giver.named, giver.view.written_columns, strict=True))
        for key in keys:
            ours, other = (side[key][0] if key in side else None for side in (rows, theirs))
            kind = Conflict(key, ours, other).kind
            columns = tuple(names[name] for name in names if ours and other and ours[name] != other[name])
            text = statement(giver.view.layout.name, giver.view.layout.key_names, RowDifference(kind, key, columns))
            self.settled.statements.append(f"{giver.pair.slave}: {text}")

    def _write(
        self,
        giver: _TableSide,
        keys: Sequence[Key],
        rows: Mapping[Key, tuple[Row, str]],
        theirs: Mapping[Key, tuple[Row, str]],
    ) -> None:
        giver.writer.begin(giver.view)
        if come := [rows[key][0] for key in keys if key in rows]:
            giver.writer.write(giver.lines(come))
        versions = {key: theirs[key][1] for key in keys if key in theirs}
        done = giver.writer.end_unchanged(keys, versions, giver.wait(), self.expect_allowed, lambda rows: rows)
        self.settled.count_written(giver.winner, done.deleted + done.written)
