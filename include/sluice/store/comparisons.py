"""Reports of comparisons: the tables compared, and the rows in which they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, func, select
from sqlalchemy.dialects.postgresql import array

from sluice.model.compared_points import ComparedPoint
from sluice.model.key_range import KeyInterval
from sluice.model.layout import Layout
from sluice.model.names import Pair, TableName
from sluice.model.position import Position
from sluice.model.row_difference import RowDifference
from sluice.model.sample_bound import SampleBound
from sluice.store import known_differences
from sluice.store.engine import Store
from sluice.store.first_rows import keep_first
from sluice.store.tables import comparison, row_difference

_AT_ONCE = 5_000


@dataclass(frozen=True)
class ChangedSince:
    """The rows of a table that alone were compared.

    Attributes:
        keys: how many keys the change log had.
        since: the position behind which it was read.
    """

    keys: int
    since: str


@dataclass(frozen=True)
class TableReport:
    """The findings of a comparison in one table of a slave.

    Attributes:
        id: of the table in this comparison.
        report: of the whole comparison.
        position: where both sides were compared; if parts of the table were at several points, the oldest one.
        layout: the slave's view of the table's columns at that time, as `shape_of` gives it.
        counts: missing, extra and changed rows, and `more` that differ and are not kept.
        ranges: where these are: pairs of leading values of keys, the last one excluded.
        share_moved: the share of both sides' data that was sent to the comparing task.
        update: the initial update that had filled the slave.
        on_slave: what the slave calls the table.
        key: the slave's columns of its key.
        columns: the names of the values of a row that differs, in their order; none if they are not known.
        percent: the share of keys that was compared.
        bound: of the rows that differ, by a sample of a table with a key.
        within: the ranges of keys that were compared; none if all were.
        only: rows of so many keys alone were compared, those changed since a position; None if all were.
        points: where parts of the table were compared, the oldest first.
    """

    id: int
    report: int
    pair: Pair
    table: TableName
    at: datetime
    compared: int
    different: int
    position: Position
    layout: str
    counts: dict[str, int]
    ranges: list[Any]
    share_moved: float
    update: int | None
    on_slave: TableName
    key: tuple[str, ...]
    columns: tuple[str, ...] = ()
    percent: float = 100
    bound: SampleBound | None = None
    within: tuple[KeyInterval, ...] = ()
    only: ChangedSince | None = None
    points: tuple[ComparedPoint, ...] = ()

    @property
    def more(self) -> int:
        """Rows that differ and are not kept."""
        return self.counts.get("more", 0)


def is_whole() -> ColumnElement[bool]:
    """Whether all rows of a table were compared, or a sample of all, and not those of some keys."""
    some: ColumnElement[bool] = comparison.c.body.has_any(array(["within", "only"]))
    return ~some


def equal_tables(store: Store, pair: Pair) -> dict[str, TableName]:
    """The tables whose last comparison of all rows found the same ones on both sides, and none of the slave's own; what
    the slave called each, by the master's name.

    A later one of some rows takes that back if it found others, and gives it to no table: it says nothing of the rest.
    """
    body, own = comparison.c.body, func.coalesce(comparison.c.body["own"].as_integer(), 0)
    all_rows = is_whole() & (func.coalesce(body["percent"].as_float(), 100) >= 100)
    telling = all_rows | (comparison.c.different > 0) | (own > 0)
    last = (
        # A report that does not tell the slave's own rows is not one of none.
        select(body["on_slave"], all_rows & (comparison.c.different == 0) & (body["own"].as_integer() == 0))
        .add_columns(comparison.c.table)
        .where(comparison.c.source == pair.source, comparison.c.slave == pair.slave, telling)
        .order_by(comparison.c.table, comparison.c.point.desc())
    )
    with store.begin() as connection:
        rows = connection.execute(keep_first(last, comparison.c.table)).all()
    return {table: TableName(*on_slave) for on_slave, equal, table in rows if equal}


def shape_of(layout: Layout) -> str:
    """A text that is another one when a table has other columns or another key."""
    columns = ", ".join(f"{column.name} {column.type}" for column in layout.columns)
    return f"{layout.name} ({columns}) by ({', '.join(layout.key_names)})"


def record(
    store: Store, report: int, pair: Pair, table: str, values: dict[str, object], rows: Sequence[RowDifference] = ()
) -> None:
    """Record what was found of a table."""
    named = {"point": report, "source": pair.source, "slave": pair.slave, "table": table}
    with store.begin() as connection:
        insertion = comparison.insert().values(**named, **values).returning(comparison.c.id)
        number = connection.execute(insertion).scalar_one()
        body: Any = values.get("body", {})
        known_differences.record_comparison(connection, report, pair, table, int(str(values["different"])), body)
        for start in range(0, len(rows), _AT_ONCE):
            # People count from 1.
            some = enumerate(rows[start : start + _AT_ONCE], start + 1)
            differences = [{"comparison": number, "number": index, **vars(row)} for index, row in some]
            connection.execute(row_difference.insert(), differences)


def tables_of(store: Store, report: int, pair: Pair) -> list[TableReport]:
    """The findings of a comparison of a slave, table by table."""
    chosen = select(comparison).where(
        comparison.c.point == report, comparison.c.source == pair.source, comparison.c.slave == pair.slave
    )
    with store.begin() as connection:
        return [_report(row) for row in connection.execute(chosen.order_by(comparison.c.table))]


def last(store: Store, pair: Pair) -> int | None:
    """The number of the last comparison of a slave."""
    newest = select(func.max(comparison.c.point)).where(
        comparison.c.source == pair.source, comparison.c.slave == pair.slave
    )
    with store.begin() as connection:
        return connection.execute(newest).scalar()


def rows_of(store: Store, table: int, most: int | None = None, after: int = -1) -> list[tuple[int, RowDifference]]:
    """The rows that the report keeps of a table, in order, each with its number.

    Args:
        table: `TableReport.id`.
        after: those behind this number.
    """
    chosen = select(row_difference).where(row_difference.c.comparison == table, row_difference.c.number > after)
    with store.begin() as connection:
        rows = connection.execute(chosen.order_by(row_difference.c.number).limit(most)).all()
    return [
        (row.number, RowDifference(row.kind, *map(_tuple, (row.key, row.columns, row.ours, row.theirs))))
        for row in rows
    ]


def row_counts(store: Store, tables: Sequence[int]) -> dict[tuple[int, str], int]:
    """The numbers of rows that are kept, by `TableReport.id` and kind."""
    columns = (row_difference.c.comparison, row_difference.c.kind)
    with store.begin() as connection:
        rows = connection.execute(select(*columns, func.count()).where(columns[0].in_(tables)).group_by(*columns)).all()
    return {(table, kind): count for table, kind, count in rows}


def trim(store: Store, days: float) -> int:
    """Delete rows of comparisons that are older than these days; their counts stay. Returns how many rows went."""
    old = select(comparison.c.id).where(comparison.c.at < func.clock_timestamp() - timedelta(days=days))
    with store.begin() as connection:
        return connection.execute(row_difference.delete().where(row_difference.c.comparison.in_(old))).rowcount


def _tuple(values: list[Any] | None) -> Any:
    return None if values is None else tuple(values)


def _report(row: Row[Any]) -> TableReport:
    body = row.body
    table = TableName(body.get("schema", ""), body.get("name", ""))
    position = Position(body.get("segment", 0), body.get("ordinal", 0))
    return TableReport(
        row.id,
        row.point,
        Pair(row.source, row.slave),
        table,
        row.at,
        row.compared,
        row.different,
        position,
        body.get("layout", ""),
        body.get("counts", {}),
        body.get("ranges", []),
        body.get("share_moved", 1.0),
        body.get("update"),
        TableName(*body.get("on_slave", ["", ""])),
        tuple(body.get("key", ())),
        tuple(body.get("columns", ())),
        body.get("percent", 100),
        SampleBound(**body["bound"]) if body.get("bound") else None,
        tuple(KeyInterval(table, *map(_tuple, bounds)) for bounds in body.get("within", ())),
        ChangedSince(**body["only"]) if body.get("only") else None,
        tuple(
            ComparedPoint(Position(segment, ordinal), parts, at)
            for segment, ordinal, parts, at in body.get("points", ((position.segment, position.ordinal, 1, ""),))
        ),
    )
