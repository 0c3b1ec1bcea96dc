"""How a table is made, read from the master's catalog and written on a slave under the slave's names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from psycopg import sql

from sluice.apply.mapper import Mapper
from sluice.initial_update.plan import Leaf
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.vendors.postgresql import catalog, usertypes
from sluice.vendors.postgresql.qualified import SlaveNames
from sluice.vendors.postgresql.session import Connection, composed
from sluice.vendors.postgresql.usertypes import UserType

_ACTIONS = {"a": "NO ACTION", "r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"}


@dataclass(frozen=True)
class ColumnDefinition:
    """One column; `kind` is plain, default, identity, stored or virtual, and `binary` allows that format."""

    name: str
    type: str
    not_null: bool
    kind: str
    expression: str | None
    collation: str | None
    binary: bool

    @property
    def generated(self) -> bool:
        """Whether the database computes it."""
        return self.kind in ("stored", "virtual")


@dataclass(frozen=True)
class ForeignKey:
    """A reference to another table."""

    name: str
    columns: Sequence[str]
    parent: TableName
    parent_columns: Sequence[str]
    on_update: str
    on_delete: str
    full: bool
    deferrable: bool
    deferred: bool


@dataclass(frozen=True)
class TableDefinition:
    """A table of the master, as a dump's snapshot shows it."""

    name: TableName
    columns: tuple[ColumnDefinition, ...]
    constraints: tuple[tuple[str, str], ...]
    indexes: tuple[tuple[str, bool, str], ...]
    foreign_keys: tuple[ForeignKey, ...]
    types: tuple[UserType, ...]
    key: tuple[str, ...]

    @property
    def layout(self) -> Layout:
        """The columns as row images list them, and the primary key."""
        columns = tuple(Column(one.name, one.type, one.not_null, one.generated) for one in self.columns)
        names = [column.name for column in columns]
        return Layout(0, self.name, columns, tuple(names.index(part) for part in self.key))

    @property
    def undecoded(self) -> bool:
        """Whether rows may travel in the binary format, in which other databases read the same."""
        return all(column.binary for column in self.columns)


def read(connection: Connection, name: TableName) -> TableDefinition:
    """The definition, from the catalog as the connection's snapshot shows it."""
    relation = {"relation": regclass(name)}
    return TableDefinition(
        name=name,
        columns=tuple(
            ColumnDefinition(*row) for row in connection.execute(composed("catalog/table_columns"), relation)
        ),
        constraints=tuple(connection.execute(composed("catalog/constraints"), relation)),
        indexes=tuple(connection.execute(composed("catalog/indexes"), relation)),
        foreign_keys=tuple(
            ForeignKey(row[0], row[1], TableName(row[2], row[3]), *row[4:])
            for row in connection.execute(composed("catalog/foreign_keys"), relation)
        ),
        types=usertypes.read(connection, regclass(name)),
        key=catalog.primary_key(connection, name),
    )


def for_slave(table: TableDefinition, names: SlaveNames) -> TableDefinition:
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


def leaves(connection: Connection, name: TableName) -> list[Leaf]:
    """The relations that hold the table's rows."""
    rows = connection.execute(composed("catalog/leaves"), {"relation": regclass(name)})
    return [Leaf(name, TableName(schema, table), blocks) for _, schema, table, blocks in rows]


def create_table(table: TableDefinition, name: TableName) -> sql.Composed:
    """CREATE TABLE with types, defaults and NOT NULL; keys and indexes come after the data."""
    return sql.SQL("CREATE TABLE {} (\n    {}\n)").format(
        identifier(name), sql.SQL(",\n    ").join(_column(column) for column in table.columns)
    )


def after_data(table: TableDefinition, name: TableName) -> Iterator[sql.Composed]:
    """Keys, checks and indexes, the primary key first."""
    for constraint, definition in table.constraints:
        yield sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} {}").format(
            identifier(name), sql.Identifier(constraint), _text(definition)
        )
    for index, unique, definition in table.indexes:
        yield sql.SQL("CREATE {}INDEX {} ON {} {}").format(
            sql.SQL("UNIQUE " if unique else ""), sql.Identifier(index), identifier(name), _text(definition)
        )


def references(
    table: TableDefinition, mapper: Mapper, among: set[TableName], *, silent: bool
) -> Iterator[sql.Composed]:
    """Foreign keys to tables that the slave has as well, with their columns and all of their rows.

    Args:
        silent: the drain can keep the keys' actions from acting a second time; else they get none, and are deferred.
    """
    for key in table.foreign_keys:
        columns = _there(mapper, table.name, key.columns)
        parent_columns = _there(mapper, key.parent, key.parent_columns)
        complete = mapper.complete(table.name) and mapper.complete(key.parent)
        if key.parent not in among or not (columns and parent_columns and complete):
            continue
        yield sql.SQL(
            "ALTER TABLE {} ADD CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} ({}){} ON UPDATE {} ON DELETE {}{}"
        ).format(
            identifier(mapper.table(table.name)),
            sql.Identifier(key.name),
            _names(columns),
            identifier(mapper.table(key.parent)),
            _names(parent_columns),
            sql.SQL(" MATCH FULL" if key.full else ""),
            _text(_ACTIONS[key.on_update] if silent else "NO ACTION"),
            _text(_ACTIONS[key.on_delete] if silent else "NO ACTION"),
            _text(_deferral(key, silent=silent)),
        )


def identifier(name: TableName) -> sql.Identifier:
    """A table's name, quoted by type."""
    return sql.Identifier(name.schema, name.table)


def regclass(name: TableName) -> str:
    """A table's name as a text that casts to regclass."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in (name.schema, name.table))


def _column(column: ColumnDefinition) -> sql.Composable:
    extras = {
        "plain": "",
        "default": f" DEFAULT {column.expression}",
        "identity": f" GENERATED BY DEFAULT AS IDENTITY ({column.expression})",
        "stored": f" GENERATED ALWAYS AS ({column.expression}) STORED",
        "virtual": f" GENERATED ALWAYS AS ({column.expression}) VIRTUAL",
    }[column.kind]
    collation = f" COLLATE {column.collation}" if column.collation else ""
    not_null = " NOT NULL" if column.not_null else ""
    return sql.SQL("{} {}").format(sql.Identifier(column.name), _text(f"{column.type}{collation}{extras}{not_null}"))


def _there(mapper: Mapper, table: TableName, columns: Sequence[str]) -> list[str]:
    """What a slave calls these columns; none if it lacks one of them."""
    found = [mapper.column(table, column) for column in columns]
    return [] if None in found else [name for name in found if name is not None]


def _names(names: Sequence[str]) -> sql.Composable:
    return sql.SQL(", ").join(sql.Identifier(name) for name in names)


def _deferral(key: ForeignKey, *, silent: bool) -> str:
    if not silent:
        return " DEFERRABLE INITIALLY DEFERRED"
    if key.deferrable:
        return f" DEFERRABLE INITIALLY {'DEFERRED' if key.deferred else 'IMMEDIATE'}"
    return ""


def _text(definition: str) -> sql.SQL:
    """A definition that the master's catalog wrote, quoted there already."""
    return sql.SQL(definition)
