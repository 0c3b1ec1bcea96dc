"""The statements on a slave for an ALTER of the master, from the definitions before and after.

All definitions are in the slave's words. What the slave has already, or has otherwise because somebody wanted it so (a
wider type, a column of its own), stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import LiteralString

from psycopg import sql

from sluice.model.names import TableName
from sluice.vendors.postgresql.catalog import definition
from sluice.vendors.postgresql.catalog.definition import ColumnDefinition, PostgresTable
from sluice.vendors.postgresql.catalog.type_names import TypeNames
from sluice.vendors.postgresql.ddl import definition_text
from sluice.vendors.postgresql.types import holds

Statement = sql.Composed


def moved(name: TableName, to: TableName) -> Iterator[Statement]:
    """The table gets another name, or goes to another schema, which is there."""
    if name.table != to.table:
        yield _altered(name, "RENAME TO {}", sql.Identifier(to.table))
    if name.schema != to.schema:
        yield _altered(TableName(name.schema, to.table), "SET SCHEMA {}", sql.Identifier(to.schema))


def retyped(before: PostgresTable, after: PostgresTable) -> list[str]:
    """The columns that have another type, by their names of before and after."""
    types = {one.number: one for one in before.columns}
    changed = [
        (types[one.number].name, one.name)
        for one in after.columns
        if one.number in types and _type(types[one.number]) != _type(one)
    ]
    return [name for names in changed for name in names]


def columns(
    before: PostgresTable, after: PostgresTable, existing: PostgresTable, types: TypeNames
) -> Iterator[Statement]:
    """Statements for columns that are dropped, renamed, changed and added, in this order.

    Args:
        existing: the slave's table, which bears its new name.
    """
    name = existing.name
    yield from _constraints_gone(before, after, existing)
    old, new = ({one.number: one for one in side.columns} for side in (before, after))
    known = {one.name: one for one in existing.columns}
    for number in old.keys() - new.keys():
        if known.pop(old[number].name, None):
            yield _altered(name, "DROP COLUMN {}", sql.Identifier(old[number].name))
    yield from _renamed(name, {old[one].name: new[one].name for one in old.keys() & new.keys()}, known)
    for number in sorted(old.keys() & new.keys()):
        if own := known.get(new[number].name):
            yield from _changed(name, old[number], new[number], own, types, empty=after.rewritten)
    for number in sorted(new.keys() - old.keys()):
        if new[number].name not in known:
            yield from _added(name, new[number], types, empty=after.rewritten)


def constraints(before: PostgresTable, after: PostgresTable, existing: PostgresTable) -> Iterator[Statement]:
    """Keys and checks that are new or are others now; the columns are what they are to be."""
    defined = {text for _, text in existing.constraints}
    named = dict(existing.constraints)
    for name, text in after.constraints:
        if (name, text) in before.constraints or text in defined:
            continue
        if after.key == existing.key and (name, text) in definition.key_of(after.name, after.key):
            # Another vendor does not say how the server prints the key.
            continue
        if name in named:
            yield _without(existing.name, name)
        made = definition.verbatim(definition_text.constraint(text).text)
        yield _altered(existing.name, "ADD CONSTRAINT {} {}", sql.Identifier(name), made)


def references(before: PostgresTable, after: PostgresTable, existing: PostgresTable) -> PostgresTable:
    """The table with those of its foreign keys that the slave lacks."""
    known = {key.name for key in existing.foreign_keys}
    lacking = (key for key in after.foreign_keys if key not in before.foreign_keys and key.name not in known)
    return replace(after, foreign_keys=tuple(lacking))


def _constraints_gone(before: PostgresTable, after: PostgresTable, existing: PostgresTable) -> Iterator[Statement]:
    """Statements that drop or rename constraints which conflict with the changes of columns."""
    named = dict(existing.constraints)
    kept, names = {text for _, text in after.constraints}, {name for name, _ in after.constraints}
    for name, text in before.constraints:
        if name in names:
            continue
        if text in kept:
            called = next(other for other, same in after.constraints if same == text)
            if name in named and called not in named:
                yield _altered(
                    existing.name, "RENAME CONSTRAINT {} TO {}", sql.Identifier(name), sql.Identifier(called)
                )
        elif own := next((other for other, same in existing.constraints if other == name or same == text), None):
            yield _without(existing.name, own)
    own_keys = {key.name for key in existing.foreign_keys}
    for key in before.foreign_keys:
        if key not in after.foreign_keys and key.name in own_keys:
            yield _without(existing.name, key.name)


def _renamed(table: TableName, names: Mapping[str, str], known: dict[str, ColumnDefinition]) -> Iterator[Statement]:
    """Columns that the slave has under their old names and not under the new ones; `known` is brought up to that."""
    wanted = {old: new for old, new in names.items() if old != new and old in known}
    wanted = {old: new for old, new in wanted.items() if new not in known or new in wanted}
    # Names may go round in a circle: who needs one that is not free yet goes by another meanwhile.
    called = {old: f"sluice_{index}" if new in wanted else old for index, (old, new) in enumerate(wanted.items())}
    for step in (called, {called[old]: new for old, new in wanted.items()}):
        for old, new in step.items():
            if old != new:
                yield _altered(table, "RENAME COLUMN {} TO {}", sql.Identifier(old), sql.Identifier(new))
    columns = {new: known.pop(old) for old, new in wanted.items()}
    known |= columns


def _changed(
    table: TableName,
    old: ColumnDefinition,
    new: ColumnDefinition,
    own: ColumnDefinition,
    types: TypeNames,
    *,
    empty: bool,
) -> Iterator[Statement]:
    """Type, NOT NULL, default of one column."""
    retyped = _type(new) not in (_type(old), _type(own)) and (own.type == old.type or not holds(new.type, own.type))
    valued = _value(new) not in (_value(old), _value(own))
    # A default may have no way to another type: it is put there again.
    again = own.kind == "default" and (retyped or valued)
    if again:
        yield _column(table, new, "DROP DEFAULT")
    elif valued and own.kind != new.kind and own.kind in ("identity", "stored"):
        # What counts is an identity, or a default of the slave's that draws from a sequence.
        drops = ("DROP IDENTITY IF EXISTS", "DROP DEFAULT") if own.kind == "identity" else ("DROP EXPRESSION",)
        yield from (_column(table, new, drop) for drop in drops)
    if retyped:
        # An empty table needs no way from one type to the other.
        using = sql.SQL(" USING NULL::{}").format(types.type(new.type)) if empty and not own.generated else sql.SQL("")
        yield _column(table, new, "TYPE {}{}", definition.typed(new, types), using)
    if new.not_null not in (old.not_null, own.not_null):
        yield _column(table, new, "SET NOT NULL" if new.not_null else "DROP NOT NULL")
    if valued and new.kind == "identity" != own.kind:
        yield _column(table, new, "ADD {}", definition.counting(new))
    elif valued and new.generated and own.generated:
        yield _column(table, new, "SET EXPRESSION AS {}", definition.computed(new))
    elif new.kind == "default" and (valued or again):
        yield _column(table, new, "SET DEFAULT {}", definition.computed(new if valued else own))


def _added(table: TableName, new: ColumnDefinition, types: TypeNames, *, empty: bool) -> Iterator[Statement]:
    """Statements that add a column. Existing rows get the master's value, which may differ from the default."""
    if empty or new.kind not in ("plain", "default"):
        yield _altered(table, "ADD COLUMN {}", definition.column(new, types))
        return
    first = definition.column(replace(new, kind="plain", expression=None), types)
    if new.filled is None:
        yield _altered(table, "ADD COLUMN {}", first)
    else:
        value = sql.Literal(new.filled), types.type(new.type)
        yield _altered(table, "ADD COLUMN {} DEFAULT {}::{}", first, *value)
    if new.kind == "default":
        yield _column(table, new, "SET DEFAULT {}", definition.computed(new))
    elif new.filled is not None:
        yield _column(table, new, "DROP DEFAULT")


def _type(column: ColumnDefinition) -> tuple[str, str | None]:
    return column.type, column.collation


def _value(column: ColumnDefinition) -> tuple[str, str | None]:
    return column.kind, column.expression


def _column(table: TableName, column: ColumnDefinition, what: LiteralString, *parts: sql.Composable) -> Statement:
    return _altered(table, "ALTER COLUMN {} {}", sql.Identifier(column.name), sql.SQL(what).format(*parts))


def _without(table: TableName, constraint: str) -> Statement:
    return _altered(table, "DROP CONSTRAINT {}", sql.Identifier(constraint))


def _altered(table: TableName, what: LiteralString, *parts: sql.Composable) -> Statement:
    return sql.SQL("ALTER TABLE {} ").format(definition.identifier(table)) + sql.SQL(what).format(*parts)
