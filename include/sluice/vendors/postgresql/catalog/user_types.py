"""Types that users made: read with a table on the master, made on a slave before the table (R7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from graphlib import TopologicalSorter

from psycopg import sql

from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.model.table_definition import UserType
from sluice.vendors.postgresql.ddl import schemas
from sluice.vendors.postgresql.ddl.names import SlaveNames
from sluice.vendors.postgresql.session import Connection, composed


def needed(connection: Connection, columns: Sequence[int]) -> tuple[UserType, ...]:
    """The types that columns of these types need, those first that others are made of."""
    return _of(connection, columns) if columns else ()


def provide(connection: Connection, types: Iterable[UserType], names: SlaveNames) -> None:
    """Make what the slave lacks. What it has must be able to hold every value.

    Raises:
        SluiceError: SLC-076 a type is missing that only its owner can make, SLC-077 a type that is there is another.
    """
    for name, one in lacking(connection, types, names):
        schemas.provide(connection, name.schema)
        connection.execute(
            sql.SQL("CREATE {} {} {}").format(
                sql.SQL(one.kind), sql.Identifier(name.schema, name.table), sql.SQL(names.within(one.definition or ""))
            )
        )


def lacking(
    connection: Connection, types: Iterable[UserType], names: SlaveNames
) -> Iterator[tuple[TableName, UserType]]:
    """What the slave lacks and can be made, by the slave's names; nothing is changed. Raises as `provide`."""
    for one in types:
        name = names.of(one.name)
        there = _there(connection, name)
        if there is not None:
            _compare(one, there, names)
        elif one.definition is None or one.extension:
            belongs = f" of the extension {one.extension}" if one.extension else ""
            by_hand = f"CREATE EXTENSION {one.extension}" if one.extension else f"make it ({name})"
            raise SluiceError(
                76,
                f"the slave lacks the type {one.name}{belongs}",
                f"{by_hand} there, then trigger initial_update again; nothing was loaded",
            )
        else:
            yield name, one


def _of(connection: Connection, columns: Sequence[int]) -> tuple[UserType, ...]:
    rows = connection.execute(composed("catalog/types", columns=sql.Literal(list(columns)))).fetchall()
    return ordered(
        UserType(oid, TableName(schema, name), kind, extension, tuple(parts), tuple(labels), text)
        for oid, schema, name, kind, extension, parts, labels, text in rows
    )


def ordered(types: Iterable[UserType]) -> tuple[UserType, ...]:
    """The same, those first that others are made of."""
    found = {one.oid: one for one in types}
    order = TopologicalSorter({oid: [part for part in one.parts if part in found] for oid, one in found.items()})
    return tuple(found[oid] for oid in order.static_order())


def _there(connection: Connection, name: TableName) -> UserType | None:
    text = sql.Identifier(name.schema, name.table).as_string()
    row = connection.execute("SELECT to_regtype(%s)::oid", [text]).fetchone()
    if row is None or row[0] is None:
        return None
    return next(one for one in _of(connection, [row[0]]) if one.oid == row[0])


def _compare(ours: UserType, theirs: UserType, names: SlaveNames) -> None:
    """An enum needs every label; what a composite consists of must be the same, since its text has no names."""
    lacks = [label for label in ours.labels if label not in theirs.labels]
    wanted = names.within(ours.definition or "")
    if lacks or ours.kind != theirs.kind or (wanted.startswith("AS (") and theirs.definition != wanted):
        detail = f"it lacks {', '.join(lacks)}" if lacks else f"{theirs.definition} instead of {wanted}"
        raise SluiceError(
            77,
            f"the slave's type {theirs.name} cannot hold every value of the master's: {detail}",
            "alter it there, then trigger initial_update again; nothing was loaded",
        )
