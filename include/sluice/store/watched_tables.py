"""The tables that each source has or had, recorded for wildcards."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from sluice.model.names import TableName
from sluice.store import comparisons
from sluice.store.engine import Store
from sluice.store.first_rows import keep_first
from sluice.store.tables import comparison, layout, watched


def record(store: Store, source: str, tables: Iterable[TableName]) -> None:
    """Know from now on that a source has these tables."""
    rows = [{"source": source, "schema": name.schema, "table": name.table} for name in tables]
    with store.begin() as connection:
        if rows:
            connection.execute(insert(watched).on_conflict_do_nothing(), rows)


def known_tables(store: Store, source: str) -> set[TableName]:
    """The tables that a source has, or had: recorded ones, and the ones in its change log."""
    of_log = select(layout.c.body["schema"].astext, layout.c.body["table"].astext)
    known = select(watched.c.schema, watched.c.table).where(watched.c.source == source)
    with store.begin() as connection:
        rows = connection.execute(known.union(of_log.where(layout.c.source == source)))
        return {TableName(schema, table) for schema, table in rows}


def columns(store: Store, source: str) -> dict[TableName, list[str]]:
    """The columns of each table that the change log speaks of, as they were last."""
    names = layout.c.body["schema"].astext, layout.c.body["table"].astext
    newest = (
        select(*names, layout.c.body["columns"]).where(layout.c.source == source).order_by(*names, layout.c.id.desc())
    )
    with store.begin() as connection:
        rows = connection.execute(keep_first(newest, *names)).all()
    return {TableName(schema, table): [name for name, *_ in known] for schema, table, known in rows}


def row_counts(store: Store, source: str) -> dict[str, int]:
    """The rows of each table at its last comparison with any slave, but for those of some keys."""
    newest = (
        select(comparison.c.table, comparison.c.compared)
        .where(comparison.c.source == source, comparisons.is_whole())
        .order_by(comparison.c.table, comparison.c.point.desc())
    )
    with store.begin() as connection:
        return {str(table): int(rows) for table, rows in connection.execute(keep_first(newest, comparison.c.table))}
