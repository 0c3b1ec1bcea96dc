"""Whether a slave's table takes every row of the master's as it is; asked before anything is written to it (R7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from psycopg import sql

from sluice.apply.mapping.table_view import TableView
from sluice.errors import SluiceError, UnfitTable
from sluice.model.layout import Column, Layout
from sluice.model.loss import Loss
from sluice.model.names import TableName
from sluice.vendors.postgresql.catalog import relations, row_identity
from sluice.vendors.postgresql.catalog.type_names import TypeNames
from sluice.vendors.postgresql.ddl.names import SlaveNames
from sluice.vendors.postgresql.ddl.owners import expect_trusted_owners
from sluice.vendors.postgresql.session import Connection
from sluice.vendors.postgresql.types import cuts, holds, lost


def fitting(connection: Connection, layout: Layout, names: SlaveNames) -> Mapping[str, Column]:
    """The columns of a slave's table, by name; none if there is no such table.

    Args:
        layout: the master's table as the slave sees it.
        names: what the slave calls the types that users made.

    Raises:
        Unfit: SLC-073 if it lacks a column, if it cannot hold what a column of the master may hold.
        SluiceError: SLC-645, see `expect_lasting`; SLC-664, see `expect_trusted_owners`.
    """
    name, columns = layout.name, layout.columns
    existing = {column.name: column for column in relations.columns(connection, name)}
    if not existing:
        return existing
    expect_lasting(connection, [name])
    expect_trusted_owners(connection, [name], names.mapper.adopted)
    missing = [column for column in columns if column.name not in existing]
    if missing:
        raise UnfitTable(
            73,
            f"the slave's table {name} lacks the column {', '.join(one.name for one in missing)}",
            f"nothing of it was written; type on the slave: {_adding(connection, name, missing, names)}. Rows that "
            "it has already lack these values until an initial_update fills the table again",
        )
    wrong = [*_unfit(columns, existing, names), *_in_the_way(connection, name, columns)]
    if wrong:
        raise UnfitTable(
            73,
            f"the slave's table {name} cannot take every row of the master: {', '.join(wrong)}",
            "nothing of it was written; alter the table there, or drop it and let initial_update make it; or allow "
            "what a column would lose by a cast in `compute` of its table, see expressions.md",
        )
    return existing


def expect_lasting(connection: Connection, names: Sequence[TableName]) -> None:
    """See that a crash of the slave's server leaves the rows of its tables.

    Raises:
        SluiceError: SLC-645, one is unlogged, or a partition of it.
    """
    if found := relations.unlogged(connection, names):
        tables = "; ".join(sql.SQL("ALTER TABLE {} SET LOGGED").format(one).as_string(connection) for one in found)
        raise SluiceError(
            645,
            f"the slave has {', '.join(one.as_string(connection) for one in found)} as UNLOGGED: a crash of its server "
            "empties that, and nothing would say so",
            f"type on the slave: {tables}. If its server has crashed or was promoted since the table was made so, rows "
            "are gone: let initial_update fill it again, with `tables`",
        )


def _adding(connection: Connection, name: TableName, columns: Sequence[Column], names: SlaveNames) -> str:
    """The statement that gives a table these columns, as far as their types are known here."""
    types = TypeNames(connection)

    def kind(text: str) -> sql.Composable:
        with suppress(SluiceError), connection.transaction():
            return types.type(names.within(text))
        return sql.SQL("...")

    added = (sql.SQL("ADD COLUMN {} {}").format(sql.Identifier(one.name), kind(one.type)) for one in columns)
    table = sql.Identifier(name.schema, name.table)
    return sql.SQL("ALTER TABLE {} {}").format(table, sql.SQL(", ").join(added)).as_string(connection)


def other_types(layout: Layout, existing: Mapping[str, Column], names: SlaveNames) -> bool:
    """Whether a column of a table that is there has another type than the master's, so that rows go in as text."""
    return bool(existing) and any(existing[one.name].type != names.within(one.type) for one in layout.columns)


def losses(connection: Connection, views: Sequence[TableView], names: SlaveNames) -> list[Loss]:
    """The losses of the columns of a slave's tables that exist, and are not of a load that broke off.

    Args:
        views: the master's tables as the slave sees them.
    """
    existing = relations.existing(connection, [seen.layout.name for seen in views])
    whole = [
        seen
        for seen in views
        if seen.layout.name in existing and not row_identity.is_unfinished(connection, seen.layout.name)
    ]
    return [loss for seen in whole for loss in _losses(connection, seen, names)]


def _losses(connection: Connection, seen: TableView, names: SlaveNames) -> Iterator[Loss]:
    existing = {column.name: column for column in relations.columns(connection, seen.layout.name)}
    for column in seen.layout.columns:
        if (own := existing.get(column.name)) and not holds(names.within(column.type), own.type):
            within_key = column.name in relations.primary_key(connection, seen.layout.name)
            what = lost(column.type, own.type) + " and with it the key" * within_key
            yield Loss(seen.master.name, column.name, column.type, own.type, what, _cast(seen, column, own.type))


def _cast(seen: TableView, column: Column, to: str) -> str | None:
    """The expression that makes a value fit by rounding or cutting it; None if there is none."""
    name = column.name
    if seen.style or seen.entry.plugin or not cuts(column.type, to):
        return None
    if name in seen.entry.compute:
        return f"({seen.entry.compute[name]})::{to}"
    given = {slave_name: master for master, slave_name in seen.entry.columns.items()}.get(name, name)
    quoted = given.replace('"', '""')
    return None if given in seen.entry.mask else f'"{quoted}"::{to}'


def _unfit(columns: Sequence[Column], existing: Mapping[str, Column], names: SlaveNames) -> Iterator[str]:
    for column in columns:
        own = existing[column.name]
        if not holds(names.within(column.type), own.type):
            yield f"{column.name} ({column.type} -> {own.type}: it would lose {lost(column.type, own.type)})"
        elif own.not_null and not column.not_null:
            yield f"{column.name} (NULL -> NOT NULL)"
        elif own.generated and not column.generated:
            yield f"{column.name} (written -> generated)"
        elif column.generated and not own.generated:
            yield f"{column.name} (generated -> written)"


def _in_the_way(connection: Connection, name: TableName, columns: Sequence[Column]) -> list[str]:
    known = {column.name for column in columns}
    return [
        f"{column} (NOT NULL without a default, and nothing of the master comes there)"
        for column in relations.required(connection, name)
        if column not in known
    ]
