"""A step of a repair in both directions: a rule decides on rows at two points that the job's process holds, and the
winner goes to the other side.

A step that is begun again finds what was written before alike on both sides. It counts that as written, and once
(`store.repair_counts`). A step whose job is gone finds the first point over, and writes nothing (R6).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field

import pyarrow as pa

from sluice.apply.mapping.table_view import TableView, view
from sluice.changelog.points import Point, PointWait
from sluice.config.mapper import Mapper
from sluice.context import Context
from sluice.model.names import Pair, TableName
from sluice.model.row_difference import RowDifference
from sluice.repair import reverse_replication
from sluice.repair.plan import expect_given, expect_unchanged, outdated_error, statement
from sluice.repair.rule_choice import RuleChoice
from sluice.repair.rules import Conflict, Row, Rule, Winner
from sluice.spark.errors import failure
from sluice.steps import Result
from sluice.store import comparisons, repair_counts
from sluice.store.comparisons import TableReport
from sluice.store.replications import ReplicationState
from sluice.values.copy_text import columns_of, lines_of
from sluice.vendors.protocol.load import Reading
from sluice.vendors.protocol.read import Key
from sluice.vendors.protocol.repair import RowsRepaired, VersionedRepair
from sluice.vendors.registry import master, vendor


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

    def add(self, counts: Mapping[str, int], statements: Sequence[str] = ()) -> None:
        """Add the outcome for other rows."""
        for name, count in counts.items():
            setattr(self, name, getattr(self, name) + count)
        self.statements += statements


@dataclass(frozen=True)
class Direction:
    """A replication, held at a point of its stream.

    Attributes:
        winner: whose rows it takes to the other side.
        mapper: as the job's process has it, which alone reads stylesheets.
        table: as its source calls it.
        began: the replication when the repair began.
    """

    winner: Winner
    pair: Pair
    mapper: Mapper
    table: TableName
    began: ReplicationState
    point: Point


@dataclass(frozen=True)
class Settling:
    """Rows of one table on which a rule decides at two points.

    Attributes:
        first, second: the second's point was made when the slave of the first was at its own.
        batches: keys, by numbers that no other batch of the table has.
        tried: keys of rows that were to be written before.
    """

    report: TableReport
    first: Direction
    second: Direction
    how: Directions
    batches: Mapping[int, Sequence[Key]]
    tried: Collection[Key]

    @property
    def there(self) -> Direction:
        """The direction of the report."""
        return self.first if self.first.winner is Winner.SOURCE else self.second

    @property
    def back(self) -> Direction:
        """The opposite direction."""
        return self.second if self.first.winner is Winner.SOURCE else self.first


def settle_rows(context: Context, wanted: Settling) -> Result:
    """Decide on the rows, and write them.

    Returns:
        `counts` and `statements` of a `Settlement`; `batches`: the numbers of the ones that are done;
        `over`: the keys that need no other look: both sides have them alike, or the rule leaves them; `tried`: the keys
        of rows that were to be written; `failure`: why no more was done, as a text, or None.
    """
    settled, over, tried = Settlement(), set[Key](), set(wanted.tried)
    batches: list[int] = []
    why = None
    try:
        with _look(context, wanted, settled, tried) as look:
            for number, keys in wanted.batches.items():
                over |= look.batch(number, keys)
                batches.append(number)
    except Exception as error:
        why = failure(error)
    told = {"counts": settled.counts, "statements": settled.statements}
    return {**told, "batches": batches, "over": sorted(over), "tried": sorted(tried), "failure": why}


@contextmanager
def _look(context: Context, wanted: Settling, settled: Settlement, tried: set[Key]) -> Iterator[_Look]:
    """Open both sides at their points."""
    how, report, forth, opposite = wanted.how, wanted.report, wanted.there, wanted.back
    there, here = (_view(context, wanted, direction) for direction in (forth, opposite))
    if comparisons.shape_of(there.layout) != report.layout:
        raise outdated_error(forth.pair, report.report, report.table, "it was altered")
    reverse_replication.expect_mirrored(forth.pair, there, here)
    kinds = {forth.pair: (there, there.ours.key_names, there.read_columns)}
    kinds[opposite.pair] = here, there.layout.key_names, here.written_columns
    with ExitStack() as stack:
        sides = []
        for direction in (wanted.first, wanted.second):
            pair, point = direction.pair, direction.point
            slave, source = context.config.slave(pair.slave), context.config.source(pair.source)
            opened, reader = vendor(slave.vendor).repair_versions, master(source.vendor)
            assert opened is not None
            assert reader.version is not None
            info, origin = context.connection(slave.connection), context.connection(source.connection)
            writer = opened(info, pair, slave.schema_, direction.mapper, context.unheard(pair))
            stack.enter_context(closing(writer))
            reading = stack.enter_context(reader.read(origin, point.snapshot_id, tuple(source.trusted_code)))
            table_view, key, named = kinds[pair]
            sides.append(_TableSide(direction, table_view, key, named, reading, reader.version, writer, how.patience_s))
        yield _Look(context, wanted, sides[0], sides[1], how.rule.rule(there, how.kinds), settled, tried)


def _view(context: Context, wanted: Settling, direction: Direction) -> TableView:
    database = context.source(direction.pair.source)
    try:
        layout = database.master.shape(direction.point.snapshot_id, direction.table)
    finally:
        database.close()
    if layout is None:
        raise outdated_error(wanted.there.pair, wanted.report.report, direction.table, "it is not there any more")
    return view(direction.mapper, layout)


@dataclass(frozen=True)
class _TableSide:
    """One side of a table: what it gives away, at a point of its stream.

    Attributes:
        direction: takes them to the other side.
        key: its names of the columns of the key, in the order of the report's.
        named: the source's names of the columns that are read.
        writer: into the other side.
    """

    direction: Direction
    view: TableView
    key: tuple[str, ...]
    named: tuple[str, ...]
    reading: Reading
    version: str
    writer: VersionedRepair
    patience_s: float

    def wait(self) -> PointWait:
        """The other side on its way to the point."""
        return PointWait(self.direction.pair, self.direction.point.position, self.patience_s, nearing=True)

    @property
    def winner(self) -> Winner:
        """The side that gives these rows."""
        return self.direction.winner

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


@dataclass(frozen=True)
class _Look:
    """Rows at two points. The second was made when `first` had given everything up to its own.

    Attributes:
        tried: keys of rows that were to be written, in this step or before.
    """

    context: Context
    wanted: Settling
    first: _TableSide
    second: _TableSide
    rule: Rule
    settled: Settlement
    tried: set[Key]

    def batch(self, number: int, keys: Sequence[Key]) -> set[Key]:
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
        equal, dry_run = alike - self.tried, self.wanted.how.dry_run
        written = dict.fromkeys(Winner, 0)
        try:
            for giver, taker in ((self.first, self.second), (self.second, self.first)):
                won = [key for key, winner in answers.items() if winner is giver.winner]
                if won and dry_run:
                    written[giver.winner] = len(won)
                    self._tell(giver, won, sides[giver.winner], sides[taker.winner])
                elif won:
                    self.tried.update(won)
                    self._write(giver, won, sides[giver.winner], sides[taker.winner], number, written)
        except Exception:
            self._count(written)
            raise
        counted = written if dry_run else self._note(number, written)
        self._count(counted)
        # A lost step may have made them so.
        before = sum(counted.values()) - sum(written.values())
        self.settled.equal += max(len(equal) - before, 0)
        self.settled.left += len(left)
        self.settled.undecided += len(undecided)
        return alike | left | undecided | (answers.keys() if dry_run else set())

    def _count(self, written: Mapping[Winner, int]) -> None:
        self.settled.to_slave += written[Winner.SOURCE]
        self.settled.to_source += written[Winner.SLAVE]

    def _note(self, number: int, written: Mapping[Winner, int]) -> Mapping[Winner, int]:
        """Note how many rows each side gave in a batch; how many they are with those of a lost step."""
        counts = written[Winner.SOURCE], written[Winner.SLAVE]
        counts = repair_counts.note(self.context.store, self.first.direction.point.id, number, counts)
        return dict(zip((Winner.SOURCE, Winner.SLAVE), counts, strict=True))

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
            self.settled.statements.append(f"{giver.direction.pair.slave}: {text}")

    def _write(
        self,
        giver: _TableSide,
        keys: Sequence[Key],
        rows: Mapping[Key, tuple[Row, str]],
        theirs: Mapping[Key, tuple[Row, str]],
        number: int,
        written: dict[Winner, int],
    ) -> None:
        def note(rows: RowsRepaired) -> RowsRepaired:
            self._note(number, {**written, giver.winner: rows.deleted + rows.written})
            return rows

        giver.writer.begin(giver.view)
        if come := [rows[key][0] for key in keys if key in rows]:
            giver.writer.write(giver.lines(come))
        versions = {key: theirs[key][1] for key in keys if key in theirs}
        done = giver.writer.end_unchanged(keys, versions, giver.wait(), self._expect_allowed, note)
        written[giver.winner] = done.deleted + done.written

    def _expect_allowed(self) -> None:
        for direction in (self.wanted.there, self.wanted.back):
            expect_unchanged(self.context, direction.pair, direction.began)
            expect_given(self.context, direction.pair, direction.table)
