"""Columns, keys, references and side effects of tables in PostgreSQL's catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from psycopg import sql

from sluice.errors import SluiceError
from sluice.model.layout import Column
from sluice.model.names import LONGEST, TableName
from sluice.vendors.postgresql.session import Connection, composed


@dataclass(frozen=True)
class Operator:
    """An operator that says whether two values are alike.

    Attributes:
        schema: where it is; in `pg_catalog` nobody else can make one.
        input: the type of its arguments, qualified and quoted.
    """

    schema: str = "pg_catalog"
    name: str = "="
    input: str = ""

    def between(self, one: sql.Composable, other: sql.Composable) -> sql.Composed:
        """The condition. Outside `pg_catalog` both sides are cast: a stranger may have made an operator of that name
        which fits the domain of a column better.
        """
        cast = sql.SQL("" if self.schema == "pg_catalog" else f"::{self.input}")
        operator = sql.SQL("OPERATOR({}.{})").format(sql.Identifier(self.schema), sql.SQL(self.name))
        return sql.SQL("{}{} {} {}{}").format(one, cast, operator, other, cast)


@dataclass(frozen=True)
class TargetColumn:
    """A column that is written to.

    Attributes:
        type: beneath its domains, which check a value when it is written and not while it waits.
        numbered: GENERATED ALWAYS AS IDENTITY, which an UPDATE cannot set.
        equality: the operator that keys of this type are found with.
    """

    name: str
    type: str
    generated: bool
    numbered: bool
    equality: Operator


@dataclass(frozen=True)
class DeferrableKey:
    """A unique or an exclusion constraint that is checked late.

    Attributes:
        columns: each with the operator by which two rows are alike; None is an expression.
    """

    name: str
    columns: tuple[tuple[str | None, Operator], ...]


@dataclass(frozen=True)
class SideEffect:
    """A trigger, rule or foreign key that has an effect when rows of a table are written.

    Attributes:
        kind: `key` (a foreign key), `trigger` or `rule`.
        fires: also in a session that says it is a replica, or else this session is none.
        strange: a function or a rule of others that would run with our rights, in whatever session of ours.
        ending: what follows ALTER TABLE and the table's name in a statement that ends it.
        table: the one that it is on: that which is written to, or a partition of it.
    """

    name: str
    kind: str
    fires: bool
    strange: str | None
    ending: str
    table: TableName


@dataclass(frozen=True)
class KeyOrder:
    """The columns of a primary key, and a text that is another one if rows are sorted otherwise by them."""

    columns: tuple[str, ...]
    sign: str


def whole(name: TableName) -> tuple[str, str]:
    """The schema and the name of a table. Raises SluiceError SLC-432, the server would cut one of them."""
    for part in (name.schema, name.table):
        if len(part.encode()) > LONGEST:
            raise SluiceError(
                432,
                f"the name {part} has more than {LONGEST} bytes: PostgreSQL would cut it, and may take the table for "
                "another one, whose name begins so",
                "nothing of it was written. Give the table another name on the master, or take it out of `tables`",
            )
    return name.schema, name.table


def among(names: Iterable[TableName]) -> dict[str, list[str]]:
    """Tables that are looked for by their names."""
    wanted = list(names)
    return {"schemas": [name.schema for name in wanted], "tables": [name.table for name in wanted]}


def existing(connection: Connection, names: Iterable[TableName]) -> dict[TableName, tuple[int, str]]:
    """The tables that exist, each with its OID and `relkind` from pg_class."""
    rows = connection.execute(composed("catalog/there"), among(names))
    return {TableName(schema, table): (number, kind) for schema, table, number, kind in rows}


def unlogged(connection: Connection, names: Iterable[TableName]) -> list[sql.Identifier]:
    """Those of these tables, and of their partitions, that a crash of the server empties."""
    oids = sql.Literal([number for number, _ in existing(connection, names).values()])
    found = connection.execute(composed("catalog/unlogged", tables=sql.SQL("{}::oid[]::regclass[]").format(oids)))
    return [sql.Identifier(schema, table) for _, schema, table in found]


def files(connection: Connection, names: Iterable[TableName]) -> dict[TableName, str]:
    """For each of these tables that is there a text that changes with its files, or with those of a partition."""
    rows = connection.execute(composed("catalog/table_files"), among(names))
    return {TableName(schema, table): text for schema, table, text in rows}


def columnless(connection: Connection, names: Iterable[TableName]) -> set[TableName]:
    """Those of these tables that have no column."""
    return {TableName(*row) for row in connection.execute(composed("catalog/columnless"), among(names))}


def columns(connection: Connection, name: TableName) -> list[Column]:
    """The columns in order; none if there is no such table."""
    rows = connection.execute(composed("catalog/columns"), dict(zip(("schema", "table"), whole(name), strict=True)))
    return [Column(*row) for row in rows]


def target_columns(connection: Connection, name: TableName) -> dict[str, TargetColumn]:
    """The columns of a slave's table by name; none if there is no such table."""
    rows = connection.execute(composed("catalog/target_columns"), {"schema": name.schema, "table": name.table})
    return {
        column: TargetColumn(column, type_, generated, numbered, Operator(*equality) if equality[0] else Operator())
        for column, type_, generated, numbered, *equality in rows
    }


def filled(connection: Connection, tables: Mapping[TableName, TableName]) -> set[TableName]:
    """The tables that have rows; values of `tables` are their current names."""

    def has_rows(name: TableName) -> bool:
        looked = composed("read/filled", rows=rows_of(connection, name))
        return connection.execute(looked).fetchone() == (True,)

    return {one for one, name in tables.items() if has_rows(name)}


def rows_of(connection: Connection, name: TableName) -> sql.Composable:
    """The rows of a table, to read or to change: ONLY its own, not those of tables that inherit from it.

    A partitioned table has none of its own (PostgreSQL manual, "Inheritance").
    """
    row = connection.execute(composed("catalog/partitioned"), {"schema": name.schema, "table": name.table}).fetchone()
    table = sql.Identifier(*whole(name))
    return table if row and row[0] else sql.SQL("ONLY {}").format(table)


def parents(connection: Connection) -> dict[TableName, set[TableName]]:
    """For each table with foreign keys, the tables they refer to."""
    found: dict[TableName, set[TableName]] = {}
    for child_schema, child, parent_schema, parent in connection.execute(composed("catalog/parents")):
        found.setdefault(TableName(child_schema, child), set()).add(TableName(parent_schema, parent))
    return found


def primary_key(connection: Connection, name: TableName) -> tuple[str, ...]:
    """The columns of the primary key; none if the table has none."""
    rows = connection.execute(composed("catalog/primary_key"), {"schema": name.schema, "table": name.table})
    return tuple(column for (column,) in rows)


def named(connection: Connection, names: Iterable[TableName]) -> dict[TableName, set[str]]:
    """Names of the constraints and indexes of each table."""
    found: dict[TableName, set[str]] = {name: set() for name in names}
    for schema, table, called in connection.execute(composed("catalog/named"), among(found)):
        found[TableName(schema, table)].add(called)
    return found


def order(connection: Connection, name: TableName) -> KeyOrder | None:
    """The order of a table's rows by its primary key; None if they cannot be sorted, or the key is deferrable."""
    relation = {"relation": sql.Identifier(*whole(name)).as_string(connection)}
    found = connection.execute(composed("read/order"), relation).fetchall()
    if not (found and all(plain for *_, plain in found)):
        return None
    return KeyOrder(tuple(column for column, *_ in found), ", ".join(sign for _, sign, _ in found))


def called(connection: Connection, sign: str) -> TableName | None:
    """The current name of the table with this order of keys; None if it was dropped."""
    row = connection.execute(composed("read/called"), {"relation": sign.partition(".")[0]}).fetchone()
    return TableName(*row) if row else None


def sorting(connection: Connection, name: TableName, columns: Sequence[str]) -> list[str | None]:
    """For each column a text that identifies its sort order on any server; None if unknown."""
    relation = sql.Identifier(*whole(name)).as_string(connection)
    rows = connection.execute(composed("read/sorting"), {"relation": relation, "columns": list(columns)})
    return [sorted_by for (sorted_by,) in rows]


def required(connection: Connection, name: TableName) -> tuple[str, ...]:
    """The columns that every INSERT must name."""
    rows = connection.execute(composed("catalog/required"), {"schema": name.schema, "table": name.table})
    return tuple(column for (column,) in rows)


def enforced(connection: Connection, name: TableName, key: Sequence[str]) -> bool:
    """Whether an index lets no two rows of a table bear one key of these columns, and says so at once."""
    wanted = {"schema": name.schema, "table": name.table, "key": list(key)}
    row = connection.execute(composed("catalog/enforced"), wanted).fetchone()
    return bool(row and row[0])


def deferrable_keys(connection: Connection, name: TableName) -> list[DeferrableKey]:
    """The constraints of a table that are checked later than their statement."""
    rows = connection.execute(composed("catalog/late_keys"), {"schema": name.schema, "table": name.table})
    return [
        DeferrableKey(constraint, tuple((name, Operator(*alike)) for name, *alike in zip(*columns, strict=True)))
        for constraint, *columns in rows
    ]


def side_effects(connection: Connection, name: TableName) -> list[SideEffect]:
    """The side effects on a table that exists, and on its partitions, without our own triggers for capture."""
    rows = connection.execute(composed("catalog/acting"), {"schema": name.schema, "table": name.table})
    return [
        SideEffect(what, kind, fires, strange, ending, TableName(*table))
        for what, kind, fires, strange, ending, *table in rows
    ]


def reaching(connection: Connection, name: TableName) -> dict[TableName, list[SideEffect]]:
    """The foreign keys by which changed rows of a table change rows of others, by the tables of these."""
    relation = {"relation": sql.Identifier(*whole(name)).as_string(connection)}
    found: dict[TableName, list[SideEffect]] = {}
    for schema, table, keys in connection.execute(composed("catalog/reaching"), relation):
        child = TableName(schema, table)
        found[child] = [one for one in side_effects(connection, child) if one.kind == "key" and one.name in keys]
    return found


def comment(connection: Connection, name: TableName) -> str | None:
    """The comment on a table."""
    row = connection.execute(composed("catalog/comment"), {"schema": name.schema, "table": name.table}).fetchone()
    return row[0] if row else None
