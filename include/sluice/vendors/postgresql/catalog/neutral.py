"""Tables of a master of another vendor, as PostgreSQL makes them: what their layouts say, and no more."""

from __future__ import annotations

from collections.abc import Iterable

from sluice.model.layout import Layout
from sluice.vendors.postgresql.catalog.definition import ColumnDefinition, PostgresTable, key_of
from sluice.vendors.protocol.load import TableDefinition


def as_ours(tables: Iterable[TableDefinition]) -> list[PostgresTable]:
    """The definitions as PostgreSQL has them. One of another vendor has its columns, with the log's names of types,
    which of them may be NULL, and its primary key; its defaults, checks and indexes are in a language of its own.
    """
    return [one if isinstance(one, PostgresTable) else _made(one.layout) for one in tables]


def _made(layout: Layout) -> PostgresTable:
    columns = tuple(
        ColumnDefinition(one.name, one.type, one.not_null, "plain", None, None, number, None)
        for number, one in enumerate(layout.columns, 1)
    )
    return PostgresTable(layout.name, columns, key_of(layout.name, layout.key_names), (), layout.key_names)
