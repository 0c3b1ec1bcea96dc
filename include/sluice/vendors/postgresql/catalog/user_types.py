"""Types that users made: read with a table on the master, made on a slave before the table (R7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from graphlib import TopologicalSorter
from itertools import pairwise

from psycopg import sql

from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.model.table_definition import UserType
from sluice.vendors.postgresql.catalog.type_names import TypeNames
from sluice.vendors.postgresql.ddl import definition_text, schemas
from sluice.vendors.postgresql.ddl.definition_text import Piece
from sluice.vendors.postgresql.ddl.names import SlaveNames
from sluice.vendors.postgresql.ddl.owners import expect_trusted_owners
from sluice.vendors.postgresql.session import Connection, composed

_RANGE = ["SUBTYPE", "MULTIRANGE_TYPE_NAME"]
# What may follow the type of a domain, in this order.
_BEHIND = ("COLLATE", "DEFAULT", "NOT")
_CHECK = re.compile(r"CONSTRAINT \S+ CHECK \(\)(?: NOT VALID)?")


def needed(connection: Connection, columns: Sequence[int]) -> tuple[UserType, ...]:
    """The types that columns of these types need, those first that others are made of."""
    return _read(connection, columns) if columns else ()


def provide(
    connection: Connection,
    types: Iterable[UserType],
    names: SlaveNames,
    expect: Callable[[TableName], None] = lambda _: None,
) -> list[TableName]:
    """Make what the slave lacks; the names of it. What it has must be able to hold every value.

    Args:
        expect: called with each name before anything is made of it; may raise.

    Raises:
        SluiceError: SLC-076 a type is missing that only its owner can make, a type that is there is another,
            SLC-664 it belongs to somebody else, SLC-321, SLC-322, see `ddl.definition_text` and `catalog.type_names`.
    """
    return list(dict.fromkeys(making(connection, types, names, expect)))


def making(
    connection: Connection,
    types: Iterable[UserType],
    names: SlaveNames,
    expect: Callable[[TableName], None] = lambda _: None,
) -> Iterator[TableName]:
    """The same, with the name of the type behind each step.

    No step makes two checks: where the next one has a value of the type, reading it runs those that the type has.
    """
    known = TypeNames(connection)
    for name, one in lacking(connection, types, names):
        expect(name)
        schemas.provide(connection, name.schema)
        for statement in _created(name, one, names.within(one.definition or ""), known):
            connection.execute(statement)
            yield name


def lacking(
    connection: Connection, types: Iterable[UserType], names: SlaveNames
) -> Iterator[tuple[TableName, UserType]]:
    """The types that the slave lacks and that can be created, by the slave's names; nothing is changed. Raises as
    `provide`.
    """
    for one in types:
        name = names.slave_name(one.name)
        existing = _existing(connection, name)
        if existing is not None:
            expect_trusted_owners(connection, [name], names.mapper.adopted)
            _compare(one, existing, names)
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


def _created(name: TableName, one: UserType, text: str, types: TypeNames) -> Iterator[sql.Composed]:
    """The statements that make a type, whose parts are looked up."""
    made = sql.Identifier(name.schema, name.table)
    pieces = definition_text.pieces(text)
    if one.kind == "DOMAIN" and pieces and pieces[0].shape == "AS":
        places = [place for place, piece in enumerate(pieces) if piece.shape == "CONSTRAINT"]
        first, *checks = (pieces[start:end] for start, end in pairwise([1, *places, len(pieces)]))
        if {piece.shape.upper() for piece in first} & {"CHECK", "CONSTRAINT"} or not all(
            _CHECK.fullmatch(definition_text.shape(check)) for check in checks
        ):
            raise definition_text.unprinted(text)
        yield sql.SQL("CREATE DOMAIN {} AS {}").format(made, _domain(first, types))
        yield from (sql.SQL("ALTER DOMAIN {} ADD {}").format(made, _verbatim(check)) for check in checks)
    else:
        yield _created_type(made, one, text, pieces, types)


def _created_type(
    made: sql.Identifier, one: UserType, text: str, pieces: Sequence[Piece], types: TypeNames
) -> sql.Composed:
    kind = definition_text.shape(pieces)
    if one.kind != "TYPE" or kind not in ("AS ()", "AS ENUM ()", "AS RANGE ()"):
        raise definition_text.unprinted(text)
    parts = definition_text.split(pieces[-1].within) if pieces[-1].within else []
    if kind == "AS ()":
        return sql.SQL("CREATE TYPE {} AS ({})").format(made, _listed(_attribute(part, text, types) for part in parts))
    if kind == "AS ENUM ()":
        if any(definition_text.shape(part) != "''" for part in parts):
            raise definition_text.unprinted(text)
        return sql.SQL("CREATE TYPE {} AS ENUM ({})").format(made, _listed(map(_verbatim, parts)))
    if [definition_text.shape(part[:2]) for part in parts] != [f"{option} =" for option in _RANGE]:
        raise definition_text.unprinted(text)
    subtype, multirange = (part[2:] for part in parts)
    return sql.SQL("CREATE TYPE {} AS RANGE (SUBTYPE = {}, MULTIRANGE_TYPE_NAME = {})").format(
        made, types.type(definition_text.written(subtype)), _verbatim(multirange)
    )


def _domain(pieces: Sequence[Piece], types: TypeNames) -> sql.Composed:
    """The text after CREATE DOMAIN, the name and AS, up to the checks."""
    end = next((index for index, piece in enumerate(pieces) if piece.shape in _BEHIND), len(pieces))
    kind, more = types.type(definition_text.written(pieces[:end])), pieces[end:]
    collation: sql.Composable = sql.SQL("")
    if more and more[0].shape == "COLLATE":
        end = next((index for index, piece in enumerate(more) if piece.shape in _BEHIND[1:]), len(more))
        collation, more = (
            sql.SQL(" COLLATE {}").format(types.collation(definition_text.written(more[1:end]))),
            more[end:],
        )
    return sql.SQL("{}{} {}").format(kind, collation, _verbatim(more))


def _attribute(part: Sequence[Piece], text: str, types: TypeNames) -> sql.Composed:
    """A name and a type."""
    if not part:
        raise definition_text.unprinted(text)
    return sql.SQL("{} {}").format(_verbatim(part[:1]), types.type(definition_text.written(part[1:])))


def _verbatim(pieces: Sequence[Piece]) -> sql.SQL:
    return sql.SQL(definition_text.written(pieces))


def _listed(parts: Iterable[sql.Composable]) -> sql.Composed:
    return sql.SQL(", ").join(parts)


def _read(connection: Connection, columns: Sequence[int]) -> tuple[UserType, ...]:
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


def _existing(connection: Connection, name: TableName) -> UserType | None:
    text = sql.Identifier(name.schema, name.table).as_string()
    row = connection.execute("SELECT to_regtype(%s)::oid", [text]).fetchone()
    if row is None or row[0] is None:
        return None
    return next(one for one in _read(connection, [row[0]]) if one.oid == row[0])


def _compare(ours: UserType, theirs: UserType, names: SlaveNames) -> None:
    """An enum needs every label; what a composite consists of must be the same, since its text has no names."""
    lacks = [label for label in ours.labels if label not in theirs.labels]
    wanted = names.within(ours.definition or "")
    if lacks or ours.kind != theirs.kind or (wanted.startswith("AS (") and theirs.definition != wanted):
        detail = f"it lacks {', '.join(lacks)}" if lacks else f"{theirs.definition} instead of {wanted}"
        raise SluiceError(
            76,
            f"the slave's type {theirs.name} cannot hold every value of the master's: {detail}",
            "alter it there, then trigger initial_update again; nothing was loaded",
        )
