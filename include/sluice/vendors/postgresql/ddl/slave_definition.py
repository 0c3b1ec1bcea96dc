"""The definition of a table whose columns a slave calls otherwise, lacks, or has more of.

Keys, checks, indexes and generated columns name columns within expressions. The server itself can tell a column from
whatever else bears its name: a table that is made for a moment is altered, and its definition is read again.
"""

from __future__ import annotations

import zlib
from dataclasses import replace

import psycopg
from psycopg import sql

from sluice.apply.mapping.table_view import view
from sluice.config.mapper import Mapper
from sluice.errors import SluiceError
from sluice.model.layout import Column
from sluice.model.names import TableName
from sluice.vendors.postgresql.catalog import definition
from sluice.vendors.postgresql.catalog.definition import ColumnDefinition, PostgresTable, identifier, listed
from sluice.vendors.postgresql.catalog.type_names import TypeNames
from sluice.vendors.postgresql.session import Connection

_MODEL = TableName("pg_temp", "sluice_model")


def mapped(connection: Connection, table: PostgresTable, mapper: Mapper) -> PostgresTable:
    """The table with the columns that the slave gets, under its names; what needs others of them is not there.

    Foreign keys are left as they are.

    Raises:
        SluiceError: SLC-432, a column is computed out of one that the slave does not get.
    """
    ours = [column.name for column in table.columns]
    named = ((name, mapper.column(table.name, name)) for name in ours)
    theirs = {name: seen for name, seen in named if seen is not None}
    seen = view(mapper, table.layout).layout
    if theirs == {name: name for name in ours} and len(seen.columns) == len(ours):
        return table
    types = TypeNames(connection)
    _run(connection, definition.create_table(table, _MODEL, types))
    for statement in definition.after_data(table, _MODEL):
        _run(connection, statement)
    # What is computed goes before what it is computed from.
    for column in sorted(table.columns, key=lambda column: not column.generated):
        if column.name not in theirs:
            _drop(connection, table.name, column.name)
    # By way of unused names, since two columns may swap theirs.
    for number, name in enumerate(theirs):
        _rename(connection, name, f"sluice_{number}")
    for number, name in enumerate(theirs.values()):
        _rename(connection, f"sluice_{number}", name)
    for more in seen.columns:
        if more.name not in theirs.values():
            _add(connection, more, types)
    key = [seen.columns[index].name for index in seen.key]
    if not set(key) <= set(theirs.values()):
        names = listed(key)
        _run(connection, sql.SQL("ALTER TABLE {} ADD PRIMARY KEY ({})").format(identifier(_MODEL), names))
    found = definition.read(connection, _MODEL)
    _run(connection, sql.SQL("DROP TABLE {}").format(identifier(_MODEL)))
    kept = {theirs[column.name]: column for column in table.columns if column.name in theirs}
    columns = tuple(_numbered(one, kept.get(one.name)) for one in found.columns)
    return replace(table, columns=columns, constraints=found.constraints, indexes=found.indexes, key=found.key)


def expect_computable(table: PostgresTable, mapper: Mapper) -> None:
    """See that no column that the slave gets is computed from one that it does not; nothing is changed.

    Raises:
        SluiceError: SLC-432.
    """
    left_out = {column.name for column in table.columns if mapper.column(table.name, column.name) is None}
    computed = [one for one in table.columns if one.generated and one.name not in left_out]
    if not (left_out and computed):
        return
    # A parser takes long to import, and hardly a table needs it.
    from sluice.vendors.postgresql.statements import parser

    for one in computed:
        for column in sorted(left_out & parser.columns(one.expression or "")):
            raise _computed(table.name, column, f"column {one.name} depends on it")


def _computed(table: TableName, column: str, why: str) -> SluiceError:
    return SluiceError(
        432,
        f"the slave does not get the column {column} of {table}, but another is computed from it: {why}",
        "leave that column out too, or make the table there by hand with a column that is written",
    )


def _numbered(column: ColumnDefinition, ours: ColumnDefinition | None) -> ColumnDefinition:
    """A column of the model with the master's number; one that the slave alone has gets one by its name, below 0."""
    if ours is None:
        return replace(column, number=-1 - zlib.crc32(column.name.encode()))
    return replace(column, number=ours.number, filled=ours.filled)


def _drop(connection: Connection, table: TableName, column: str) -> None:
    try:
        with connection.transaction():
            _run(connection, sql.SQL("ALTER TABLE {} DROP {}").format(identifier(_MODEL), sql.Identifier(column)))
    except psycopg.errors.DependentObjectsStillExist as error:
        raise _computed(table, column, error.diag.message_detail or str(error)) from None


def _add(connection: Connection, column: Column, types: TypeNames) -> None:
    """A column that the slave's rows have and the master's have not."""
    add = sql.SQL("ALTER TABLE {} ADD {} {}" + " NOT NULL" * column.not_null)
    _run(connection, add.format(identifier(_MODEL), sql.Identifier(column.name), types.type(column.type)))


def _rename(connection: Connection, column: str, name: str) -> None:
    to = sql.SQL("ALTER TABLE {} RENAME {} TO {}")
    _run(connection, to.format(identifier(_MODEL), sql.Identifier(column), sql.Identifier(name)))


def _run(connection: Connection, statement: sql.Composed) -> None:
    connection.execute(statement)
