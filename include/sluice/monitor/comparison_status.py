"""Comparisons as pages and REST show them: how many rows differ, and these rows, master and slave side by side.

Keys and values of rows are for administrators alone. Others see how many rows differ, and in which columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sluice import shell
from sluice.context import Context
from sluice.errors import UnknownName
from sluice.model import compared_points
from sluice.model.compared_points import ComparedPoint
from sluice.model.names import Pair
from sluice.model.row_difference import KINDS, RowDifference, Values
from sluice.model.row_numbers import RowNumbers
from sluice.model.sample_bound import SampleBound, statement, weakest
from sluice.repair import chosen_rows
from sluice.store import comparison_list, comparisons
from sluice.store.comparison_list import ComparisonTotals
from sluice.store.comparisons import TableReport

PAGE = 50

# The values of a row by the names of their columns.
Named = dict[str, str | None]


@dataclass(frozen=True)
class ComparisonPage:
    """Comparisons of a source, the newest first.

    Attributes:
        older: the `before` of the next page; None if this page is the last one.
    """

    comparisons: Sequence[ComparisonTotals]
    older: str | None


@dataclass(frozen=True)
class PartsCompared:
    """The parts, tables or ranges of their keys, that were compared at a position.

    Attributes:
        at: when, if an earlier try of the run did it.
    """

    position: str
    parts: int
    at: str | None

    @classmethod
    def from_tables(cls, points: Iterable[Sequence[ComparedPoint]]) -> list[PartsCompared]:
        """The points at which some tables were compared."""
        return [cls(str(point.position), point.parts, point.at or None) for point in compared_points.add_up(points)]


@dataclass(frozen=True)
class TableOutcome:
    """The findings of a comparison in a table.

    Attributes:
        more: rows that differ and were not kept.
        percent: the share of keys that was compared.
        bound: of the rows that differ, by a sample of a table with a key.
        unknown: 1 if it was sampled and has no key, and so no bound.
        ranges: of keys that alone were compared; 0 if all were.
        keyed: whether its rows have a key, so that some of them can be repaired.
        since: only rows changed since this position were compared; empty if all were.
        keys: how many keys of such rows the change log had.
        within: these, as people write them; none for who may not see keys.
        points: where parts of the table were compared, the oldest first.
    """

    table: str
    compared: int
    different: int
    missing: int
    extra: int
    changed: int
    more: int
    percent: float
    bound: SampleBound | None
    unknown: int
    ranges: int
    keyed: bool
    since: str
    keys: int
    within: Sequence[str] = ()
    points: Sequence[PartsCompared] = ()

    @property
    def sure(self) -> str:
        """The sample's statement as people read it; empty if all rows were compared."""
        return statement(self.bound, self.unknown)


@dataclass(frozen=True)
class ComparisonReport:
    """A comparison of a slave, table by table.

    Attributes:
        percent: the share of keys that was compared, of the table of which it was least.
        bound: of the rows that differ, by samples; of the table with a key of which they say least.
        unknown: sampled tables without a key, which have no bound.
        ranges: of keys that alone were compared; 0 if all were.
        since: of some tables only rows changed since this position were compared; empty if all were.
        keys: how many keys of such rows the change log had.
        position: where both sides were compared, as segment/transaction; the last one, if there are several.
        points: all positions, the oldest first; a comparison that broke off goes on at another one.
    """

    report: int
    source: str
    slave: str
    at: datetime
    percent: float
    bound: SampleBound | None
    unknown: int
    ranges: int
    since: str
    keys: int
    position: str
    points: Sequence[PartsCompared]
    tables: Sequence[TableOutcome]

    @property
    def different(self) -> int:
        """The rows that differ in all tables."""
        return sum(table.different for table in self.tables)

    @property
    def sure(self) -> str:
        """The samples' statement as people read it; empty if all rows were compared."""
        return statement(self.bound, self.unknown)


@dataclass(frozen=True)
class ComparedRow:
    """A row that differs.

    Attributes:
        kind: `missing`, `extra` or `changed`.
        key: the values of its key; of a row without one a digest, or all its values. None for who may not see it.
        columns: those whose values differ, of a changed row.
        master, slave: its values on both sides; None if there is no such row, if values were not kept, and for who may
            not see them.
    """

    number: int
    kind: str
    key: Named | None
    columns: Sequence[str]
    master: Named | None
    slave: Named | None


@dataclass(frozen=True)
class RowPage:
    """Rows of a table that differ, in the order of the comparison.

    Attributes:
        next: the `after` of the next page; None if this page is the last one.
    """

    rows: Sequence[ComparedRow]
    next: int | None


def list_comparisons(context: Context, source: str, slave: str, before: str | None) -> ComparisonPage:
    """The newest comparisons of a source. Raises UnknownName SLC-003."""
    context.config.source(source)
    if slave:
        context.config.replication(source, slave)
    number, _, slave_of_page = (before or "").partition("/")
    begin = (int(number), slave_of_page) if before else None
    page, older = comparison_list.page(context.store, source, slave, begin)
    return ComparisonPage(page, older and f"{older[0]}/{older[1]}")


def read_comparison(context: Context, pair: Pair, report: int, *, values: bool = False) -> ComparisonReport:
    """A comparison of a slave. Raises UnknownName SLC-003.

    Args:
        values: whether keys may be seen.
    """
    return _report(pair, report, find_tables(context, pair, report), values=values)


def with_rows(
    context: Context, pair: Pair, report: int, table: str, after: int | None, *, values: bool
) -> tuple[ComparisonReport, TableOutcome, RowPage]:
    """A comparison of a slave, one of its tables, and rows of that; the report is read once.

    Args:
        table: if it is blank, the one that is shown first.
        after, values: as `rows` has them.

    Raises:
        UnknownName: SLC-003.
    """
    tables = find_tables(context, pair, report)
    summary = _report(pair, report, tables, values=values)
    name = table or summary.tables[0].table
    report_of_table = _named_tables(pair, report, tables, [name])[name]
    return summary, _outcome(report_of_table, values=values), _rows(context, report_of_table, after, values=values)


def with_row_counts(context: Context, pair: Pair, report: int) -> tuple[ComparisonReport, dict[str, dict[str, int]]]:
    """A comparison of a slave, and the numbers of rows of each kind that it keeps, by tables; the report is read once.

    Raises:
        UnknownName: SLC-003.
    """
    tables = find_tables(context, pair, report)
    counts = comparisons.row_counts(context.store, [table.id for table in tables])
    kept: dict[str, dict[str, int]] = {
        str(table.table): {kind: counts.get((table.id, kind), 0) for kind in KINDS} for table in tables
    }
    return _report(pair, report, tables), kept


def count_ticked(context: Context, pair: Pair, report: int, table: str, numbers: RowNumbers) -> dict[str, int]:
    """Count these rows by kind. Raises UnknownName SLC-003; SluiceError SLC-466, it keeps no such
    rows.
    """
    table_report = expect_tables(context, pair, report, [table])[table]
    return dict(Counter(row.kind for _, row in chosen_rows.read(context.store, pair, table_report, numbers)))


def _report(pair: Pair, report: int, tables: Sequence[TableReport], *, values: bool = False) -> ComparisonReport:
    points = PartsCompared.from_tables(table.points for table in tables)
    return ComparisonReport(
        report,
        pair.source,
        pair.slave,
        max(table.at for table in tables),
        min(table.percent for table in tables),
        weakest(table.bound for table in tables),
        sum(_unknown_rest(table) for table in tables),
        sum(len(table.within) for table in tables),
        next((table.only.since for table in tables if table.only), ""),
        sum(table.only.keys for table in tables if table.only),
        points[-1].position,
        points,
        [_outcome(table, values=values) for table in sorted(tables, key=lambda it: (not it.different, it.table))],
    )


def rows(context: Context, pair: Pair, report: int, table: str, after: int | None, *, values: bool) -> RowPage:
    """Rows of a table that differ. Raises UnknownName SLC-003.

    Args:
        after: those behind this number.
        values: whether keys and values may be seen.
    """
    return _rows(context, expect_tables(context, pair, report, [table])[table], after, values=values)


def _rows(context: Context, table: TableReport, after: int | None, *, values: bool) -> RowPage:
    page = comparisons.rows_of(context.store, table.id, PAGE + 1, -1 if after is None else after)
    rows = [name_values(table, number, row, values=values) for number, row in page[:PAGE]]
    return RowPage(rows, rows[-1].number if len(page) > PAGE else None)


def expect_tables(context: Context, pair: Pair, report: int, tables: Sequence[str]) -> dict[str, TableReport]:
    """The tables of a comparison by their names. Raises UnknownName SLC-003; `tables` are not among them."""
    return _named_tables(pair, report, find_tables(context, pair, report), tables)


def _named_tables(
    pair: Pair, report: int, reports: Sequence[TableReport], tables: Sequence[str]
) -> dict[str, TableReport]:
    named = {str(table.table): table for table in reports}
    if not set(tables) <= named.keys():
        raise _unknown(pair, report, " of this table")
    return named


def find_tables(context: Context, pair: Pair, report: int) -> list[TableReport]:
    """The tables of a comparison. Raises UnknownName SLC-003."""
    context.config.replication(pair.source, pair.slave)
    tables = comparisons.tables_of(context.store, report, pair)
    if not tables:
        raise _unknown(pair, report)
    return tables


def name_values(table: TableReport, number: int, row: RowDifference, *, values: bool) -> ComparedRow:
    """A row with the names of its values."""
    if not values:
        return ComparedRow(number, row.kind, None, row.columns, None, None)
    key = _pair_with_names(table.key or table.columns, row.key, lone="digest")
    assert key is not None
    ours, theirs = (_pair_with_names(table.columns, side) for side in (row.ours, row.theirs))
    return ComparedRow(number, row.kind, key, row.columns, ours, theirs)


def _pair_with_names(names: Sequence[str], values: Values | None, lone: str = "1") -> Named | None:
    if values is None:
        return None
    if len(names) != len(values):
        # A digest, or a row of a report that does not tell the names.
        names = [lone] if len(values) == 1 else [str(index) for index in range(1, len(values) + 1)]
    return dict(zip(names, values, strict=True))


def _outcome(table: TableReport, *, values: bool) -> TableOutcome:
    counts = {kind: table.counts.get(kind, 0) for kind in KINDS}
    return TableOutcome(
        str(table.table),
        table.compared,
        table.different,
        **counts,
        more=table.more,
        percent=table.percent,
        bound=table.bound,
        unknown=_unknown_rest(table),
        ranges=len(table.within),
        keyed=bool(table.key),
        since=table.only.since if table.only else "",
        keys=table.only.keys if table.only else 0,
        within=[str(within) for within in table.within] if values else (),
        points=PartsCompared.from_tables([table.points]),
    )


def _unknown_rest(table: TableReport) -> int:
    return int(table.percent < 100 and not (table.key or table.bound))


def _unknown(pair: Pair, report: int, what: str = "") -> UnknownName:
    again = shell.trigger("verify", source=pair.source, slaves=[pair.slave])
    return UnknownName(
        3,
        f"there is no comparison {report} of slave {pair.slave}{what}",
        f"nothing was changed; the list of comparisons has those that there are; to make another, type: {again}",
    )
