"""Definitions of tables, read from the master's catalog and created on a slave under the slave's names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any
from zlib import crc32

import psycopg
from psycopg import sql
from pydantic import TypeAdapter

from sluice.config.mapper import Mapper
from sluice.model.layout import Column, Layout
from sluice.model.names import LONGEST, TableName
from sluice.model.table_definition import DefinedColumn, DefinedTable, ForeignKey, UserType
from sluice.vendors.postgresql.catalog import user_types
from sluice.vendors.postgresql.catalog.relations import whole
from sluice.vendors.postgresql.catalog.type_names import TypeNames
from sluice.vendors.postgresql.copy_formats import BINARY
from sluice.vendors.postgresql.ddl import definition_text
from sluice.vendors.postgresql.ddl.names import SlaveNames
from sluice.vendors.postgresql.session import Connection, composed
from sluice.vendors.protocol.read import TEXT, Leaf, RowFormat

_PRIMARY = "PRIMARY KEY"
_WHOLE = {"smallint", "integer", "bigint"}
_LENIENCE = {"", "NOT VALID", "NOT ENFORCED"}
_ACTIONS = {"a": "NO ACTION", "r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"}


@dataclass(frozen=True)
class ColumnDefinition:
    """One column.

    Attributes:
        kind: plain, default, identity, stored or virtual.
        expression: of the default, or what is computed; how an identity counts.
        number, filled: see `sluice.model.table_definition.DefinedColumn`.
    """

    name: str
    type: str
    not_null: bool
    kind: str
    expression: str | None
    collation: str | None
    number: int
    filled: str | None

    @property
    def generated(self) -> bool:
        """Whether the database computes it."""
        return self.kind in ("stored", "virtual")


@dataclass(frozen=True)
class PostgresTable:
    """A table of the master, as a dump's snapshot shows it, or a command describes it.

    Attributes:
        undecoded: rows may travel in the binary format, in which other databases read the same.
        rewritten: see `sluice.model.table_definition.DefinedTable`.
    """

    name: TableName
    columns: tuple[ColumnDefinition, ...]
    constraints: tuple[tuple[str, str], ...]
    foreign_keys: tuple[ForeignKey, ...]
    key: tuple[str, ...] = ()
    indexes: tuple[tuple[str, bool, str], ...] = ()
    types: tuple[UserType, ...] = ()
    undecoded: bool = False
    rewritten: bool = False

    @property
    def formats(self) -> Sequence[RowFormat]:
        """The formats in which COPY gives its rows."""
        return (BINARY, TEXT) if self.undecoded else (TEXT,)

    @property
    def layout(self) -> Layout:
        """The columns as row images list them, and the primary key."""
        columns = tuple(Column(one.name, one.type, one.not_null, one.generated) for one in self.columns)
        names = [column.name for column in columns]
        return Layout(0, self.name, columns, tuple(names.index(part) for part in self.key))

    def to_json(self) -> dict[str, Any]:
        """As the manifest of a directory keeps it."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Any) -> PostgresTable:
        """The table that `to_json` wrote. Raises ValueError for anything else."""
        return _reading().validate_python(plain)


@cache
def _reading() -> TypeAdapter[PostgresTable]:
    return TypeAdapter(PostgresTable)


@dataclass(frozen=True)
class Reference:
    """A foreign key of a slave's table, and the statement that makes it."""

    table: TableName
    name: str
    parent: TableName
    statement: sql.SQL | sql.Composed = field(compare=False)


def read(connection: Connection, name: TableName) -> PostgresTable:
    """The definition of a table; see `several`."""
    return several(connection, [name])[0]


def several(connection: Connection, names: Sequence[TableName]) -> list[PostgresTable]:
    """The definitions of tables, from the catalog as the connection's snapshot shows it."""
    query = composed(
        "catalog/defined",
        definition=composed("catalog/definition"),
        indexes=composed("catalog/indexes", relation=sql.SQL("wanted.relid")),
    )
    rows = connection.execute(query, {"relations": [regclass(name) for name in names]}).fetchall()
    return [
        replace(
            carried(DefinedTable.from_json(plain)),
            indexes=tuple((name, unique, text) for name, unique, text in indexes),
            types=user_types.needed(connection, types),
            undecoded=undecoded,
        )
        for plain, indexes, types, undecoded in rows
    ]


def readable(connection: Connection, names: Sequence[TableName]) -> list[PostgresTable]:
    """The same, of tables that our role may read. Raises psycopg's InsufficientPrivilege, which becomes SLC-033."""
    tables = sql.SQL("{}::text[]::regclass[]").format(sql.Literal([regclass(name) for name in names]))
    if row := connection.execute(composed("catalog/unreadable", tables=tables)).fetchone():
        name, hidden = row
        reason = f"row-level security hides rows of table {name}" if hidden else f"permission denied for table {name}"
        raise psycopg.errors.InsufficientPrivilege(reason)
    return several(connection, names)


def carried(table: DefinedTable) -> PostgresTable:
    """The same of a table that a command describes."""
    columns = tuple(_carried(column) for column in table.columns)
    is_told = any(text.startswith(_PRIMARY) for _, text in table.constraints)
    return PostgresTable(
        table.name,
        columns,
        table.constraints if is_told else (*key_of(table.name, table.key), *table.constraints),
        table.foreign_keys,
        table.key,
        table.indexes,
        user_types.ordered(table.types),
        rewritten=table.rewritten,
    )


def key_of(name: TableName, key: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The primary key of a table of another vendor, if it has one."""
    columns = ", ".join(f'"{one.replace(chr(34), chr(34) * 2)}"' for one in key)
    called = f"{name.table}_pkey"
    if len(called.encode()) > LONGEST:
        # Cut, it would be that of another table, or the table's own.
        called = f"{crc32(name.table.encode()):08x}_{name.table.encode()[:48].decode(errors='ignore')}_pkey"
    return ((called, f"{_PRIMARY} ({columns})"),) if key else ()


def _carried(column: DefinedColumn) -> ColumnDefinition:
    if column.generated is not None:
        kind, expression = "virtual" if column.virtual else "stored", column.generated
    elif column.counter is not None:
        # A default that draws from a sequence becomes an identity that counts alike, where there can be one.
        kind, expression = "plain", None
        if column.not_null and column.type in _WHOLE:
            kind, expression = "identity", column.counter
    else:
        kind, expression = "default" if column.default is not None else "plain", column.default
    return ColumnDefinition(
        column.name, column.type, column.not_null, kind, expression, column.collation, column.number, column.filled
    )


def for_slave(table: PostgresTable, names: SlaveNames) -> PostgresTable:
    """The same with a slave's names of schemas in types and expressions."""
    return replace(
        table,
        columns=tuple(
            replace(
                column,
                type=names.within(column.type),
                expression=column.expression and names.within(column.expression),
                collation=column.collation and names.within(column.collation),
            )
            for column in table.columns
        ),
        constraints=tuple((name, names.within(text)) for name, text in table.constraints),
        indexes=tuple((name, unique, names.within(text)) for name, unique, text in table.indexes),
    )


def leaves(connection: Connection, parts: Mapping[str, sql.Composable], names: Sequence[TableName]) -> list[Leaf]:
    """The relations that hold the tables' rows."""
    rows = connection.execute(composed("catalog/leaves", **parts), {"relations": [regclass(name) for name in names]})
    return [Leaf(names[number - 1], TableName(schema, table), *more) for number, schema, table, *more in rows]


def create_table(table: PostgresTable, name: TableName, types: TypeNames) -> sql.Composed:
    """CREATE TABLE with types, defaults and NOT NULL; keys and indexes come after the data."""
    columns = sql.SQL(",\n    ").join(column(one, types) for one in table.columns)
    return sql.SQL("CREATE TABLE {} (\n    {}\n)").format(identifier(name), columns)


def after_data(table: PostgresTable, name: TableName, present: Collection[str] = ()) -> Iterator[sql.Composed]:
    """Keys, checks and indexes, the primary key first, but for those that the table has already."""
    for constraint, definition in table.constraints:
        if constraint not in present:
            yield _constraint(name, constraint, verbatim(definition_text.constraint(definition).text))
    for index, unique, definition in table.indexes:
        if index not in present:
            made = sql.SQL("CREATE {}INDEX {} ON {} {}")
            text = verbatim(definition_text.index(definition).text)
            kind = sql.SQL("UNIQUE " if unique else "")
            yield made.format(kind, sql.Identifier(index), identifier(name), text)


def primary_key(table: PostgresTable, name: TableName) -> sql.Composed:
    """The primary key alone, of a table that has one."""
    ((constraint, definition),) = (one for one in table.constraints if one[1].startswith(_PRIMARY))
    return _constraint(name, constraint, verbatim(definition_text.constraint(definition).text))


def references(table: PostgresTable, mapper: Mapper, among: set[TableName], *, silent: bool) -> Iterator[Reference]:
    """Foreign keys to tables that the slave has as well, with their columns and all of their rows.

    Args:
        silent: the drain can keep the keys' actions from acting a second time; else they get none, and are deferred.
    """
    for key in table.foreign_keys:
        columns = _slave_columns(mapper, table.name, key.columns)
        parent_columns = _slave_columns(mapper, key.parent, key.parent_columns)
        if key.lenience not in _LENIENCE:
            raise definition_text.unprinted(key.lenience)
        complete = mapper.complete(table.name) and mapper.complete(key.parent)
        if key.parent not in among or not (columns and parent_columns and complete):
            continue
        cleared = sql.SQL(" ({})").format(listed(_slave_columns(mapper, table.name, key.cleared)))
        child, parent = mapper.table(table.name), mapper.table(key.parent)
        text = sql.SQL("FOREIGN KEY ({}) REFERENCES {} ({}){} ON UPDATE {} ON DELETE {}{}{} {}").format(
            _compared(key, columns),
            identifier(parent),
            _compared(key, parent_columns),
            sql.SQL(" MATCH FULL" if key.full else ""),
            verbatim(_ACTIONS[key.on_update] if silent else "NO ACTION"),
            verbatim(_ACTIONS[key.on_delete] if silent else "NO ACTION"),
            cleared if silent and key.cleared else sql.SQL(""),
            verbatim(_deferral(key, silent=silent)),
            verbatim(key.lenience),
        )
        yield foreign_key(child, key.name, parent, text)


def foreign_key(child: TableName, name: str, parent: TableName, text: sql.Composable) -> Reference:
    """A foreign key, as the text of its definition has it."""
    return Reference(child, name, parent, _constraint(child, name, text))


def column(one: ColumnDefinition, types: TypeNames) -> sql.Composed:
    """A column, as CREATE TABLE and ADD COLUMN name it."""
    not_null = sql.SQL(" NOT NULL" if one.not_null else "")
    return sql.SQL("{} {}{}{}").format(sql.Identifier(one.name), typed(one, types), _valued(one), not_null)


def typed(one: ColumnDefinition, types: TypeNames) -> sql.Composed:
    """The type of a column, and the collation, if that is not the type's."""
    collation = sql.SQL(" COLLATE {}").format(types.collation(one.collation)) if one.collation else sql.SQL("")
    return sql.SQL("{}{}").format(types.type(one.type), collation)


def counting(one: ColumnDefinition) -> sql.SQL:
    """The sequence options of an identity."""
    return verbatim(f"GENERATED BY DEFAULT AS IDENTITY ({definition_text.counter(one.expression or '')})")


def computed(one: ColumnDefinition) -> sql.SQL:
    """The expression of a default, or of what the database computes."""
    return verbatim(definition_text.expression(one.expression or ""))


def _valued(one: ColumnDefinition) -> sql.Composable:
    if one.kind == "identity":
        return sql.SQL(" {}").format(counting(one))
    texts = {
        "default": " DEFAULT {}",
        "stored": " GENERATED ALWAYS AS {} STORED",
        "virtual": " GENERATED ALWAYS AS {} VIRTUAL",
    }
    return sql.SQL(texts[one.kind]).format(computed(one)) if one.kind in texts else sql.SQL("")


def verbatim(definition: str) -> sql.SQL:
    """SQL text from a catalog, quoted already: the slave's own, or checked by `printed`."""
    return sql.SQL(definition)


def identifier(name: TableName) -> sql.Identifier:
    """A table's name, quoted by type. Raises SluiceError SLC-432, the server would cut it."""
    return sql.Identifier(*whole(name))


def listed(columns: Iterable[str]) -> sql.Composed:
    """Names of columns, quoted by type, between commas."""
    return sql.SQL(", ").join(map(sql.Identifier, columns))


def regclass(name: TableName) -> str:
    """A table's name as a text that casts to regclass. Raises SluiceError SLC-432, the server would cut it."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in whole(name))


def _constraint(name: TableName, constraint: str, definition: sql.Composable) -> sql.Composed:
    add = sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} {}")
    return add.format(identifier(name), sql.Identifier(constraint), definition)


def _slave_columns(mapper: Mapper, table: TableName, columns: Sequence[str]) -> list[str]:
    """The slave's names of these columns; empty if it lacks one of them."""
    found = [mapper.column(table, column) for column in columns]
    return [] if None in found else [name for name in found if name is not None]


def _compared(key: ForeignKey, columns: Sequence[str]) -> sql.Composed:
    """The columns of one side."""
    *others, last = map(sql.Identifier, columns)
    return sql.SQL(", ").join([*others, sql.SQL("PERIOD {}").format(last) if key.period else last])


def _deferral(key: ForeignKey, *, silent: bool) -> str:
    if not silent:
        return " DEFERRABLE INITIALLY DEFERRED"
    if key.deferrable:
        return f" DEFERRABLE INITIALLY {'DEFERRED' if key.deferred else 'IMMEDIATE'}"
    return ""
