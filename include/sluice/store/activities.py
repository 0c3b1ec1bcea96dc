"""The activity of each table of a source: rows that changed, counted when a segment is listed.

A row of the store counts ten minutes; those of more than a day ago are one row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, func, select, text
from sqlalchemy.dialects.postgresql import insert

from sluice.model.activity import RowCounts
from sluice.model.names import TableName
from sluice.sqlfiles import statement
from sluice.store.comparisons import is_whole
from sluice.store.engine import Store
from sluice.store.first_rows import keep_first
from sluice.store.tables import activity, comparison, rejected, tolerated

_STEP_S = 600
_KINDS = ("inserts", "updates", "deletes")


@dataclass(frozen=True)
class Activity:
    """Counts of a table's changes: since counting began, in the last 24 hours, and in the last hour."""

    ever: RowCounts = field(default_factory=RowCounts)
    day: RowCounts = field(default_factory=RowCounts)
    hour: RowCounts = field(default_factory=RowCounts)


@dataclass(frozen=True)
class LastComparison:
    """The last comparison of a table of a slave."""

    rows: int
    different: int
    at: str


def count(connection: Connection, source: str, changed: Mapping[TableName, RowCounts]) -> None:
    """Count rows of a segment, in the transaction that lists it."""
    if not changed:
        return
    step = func.to_timestamp(func.floor(func.extract("epoch", func.clock_timestamp()) / _STEP_S) * _STEP_S)
    rows = [
        {
            "source": source,
            "schema": name.schema,
            "table": name.table,
            **{kind: getattr(changed[name], kind) for kind in _KINDS},
        }
        for name in sorted(changed)
    ]
    new = insert(activity).values(at=step)
    more = {kind: activity.c[kind] + new.excluded[kind] for kind in _KINDS}
    count_in = new.on_conflict_do_update(index_elements=["source", "schema", "table", "at"], set_=more)
    # In one statement more tables than a protocol has parameters for could not be listed.
    connection.execute(count_in, rows)


def roll_up(store: Store, source: str) -> None:
    """Let what was more than a day ago be one row of each table."""
    with store.begin() as connection:
        connection.execute(text(statement("control", "activity_rolled")), {"source": source})


def trim(store: Store, source: str, watched: Collection[TableName]) -> None:
    """Forget tables that are gone, a day after their last change.

    Args:
        watched: the tables that are not gone.
    """
    names = {"schemas": [name.schema for name in watched], "tables": [name.table for name in watched]}
    with store.begin() as connection:
        connection.execute(text(statement("control", "activity_trimmed")), {"source": source, **names})


def by_table(store: Store, source: str) -> dict[TableName, Activity]:
    """The activity of each table of the master that had any."""
    with store.begin() as connection:
        rows = connection.execute(text(statement("control", "activity")), {"source": source}).all()
    return {TableName(row.schema, row.table): Activity(*map(_counts, (row.ever, row.day, row.hour))) for row in rows}


def _counts(numbers: list[int]) -> RowCounts:
    return RowCounts(*map(int, numbers))


def conflicts(store: Store, source: str) -> dict[tuple[str, TableName], int]:
    """Rows that were not as expected, by slave and its name of the table."""
    number = tolerated.c.missing + tolerated.c.duplicate
    wanted = select(tolerated.c.slave, tolerated.c.schema, tolerated.c.table, number).where(
        tolerated.c.source == source
    )
    with store.begin() as connection:
        rows = connection.execute(wanted).all()
    return {(slave, TableName(schema, table)): int(count) for slave, schema, table, count in rows}


def rejections(store: Store, source: str) -> dict[tuple[str, TableName], int]:
    """Changes that were not carried out, by slave and the name of the table that they are kept under."""
    schema, table = (rejected.c.layout[name].astext for name in ("schema", "table"))
    wanted = select(rejected.c.slave, schema, table, func.count()).where(rejected.c.source == source)
    with store.begin() as connection:
        rows = connection.execute(wanted.group_by(rejected.c.slave, schema, table)).all()
    return {(slave, TableName(of, name)): int(number) for slave, of, name, number in rows if name}


def comparisons(store: Store, source: str) -> dict[tuple[str, str], LastComparison]:
    """The last comparison of each table, by slave and the master's name of the table.

    One of some keys counts only if rows differed: it says nothing of the others.
    """
    which = (comparison.c.slave, comparison.c.table)
    last = (
        select(*which, comparison.c.compared, comparison.c.different, comparison.c.at)
        .where(comparison.c.source == source, is_whole() | (comparison.c.different > 0))
        .order_by(*which, comparison.c.point.desc())
    )
    with store.begin() as connection:
        rows = connection.execute(keep_first(last, *which)).all()
    return {(row.slave, row.table): LastComparison(row.compared, row.different, row.at.isoformat()) for row in rows}
