"""Tables of a GaussDB as its catalog has them now: what is watched of them, read and made on a slave."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.vendors.gaussdb.session import composed
from sluice.vendors.postgresql.catalog.definition import ColumnDefinition, PostgresTable
from sluice.vendors.postgresql.session import Connection

_LOGGED = "p"


@dataclass(frozen=True)
class Described:
    """A table.

    Attributes:
        plain: its types as the log names them, which is without their modifiers.
        numbers: of its columns, which are never given out again.
        key_name, key_text: its primary key as a constraint, if it has one.
        logged: whether its rows are in the log.
    """

    relation: int
    layout: Layout
    plain: tuple[str, ...]
    numbers: tuple[int, ...]
    key_name: str = ""
    key_text: str = ""
    logged: bool = True

    @property
    def name(self) -> TableName:
        """Its name."""
        return self.layout.name

    def numbered(self, layout: int) -> Described:
        """The same under the number of a layout."""
        return replace(self, layout=replace(self.layout, id=layout))

    def to_text(self) -> str:
        """As the source keeps it."""
        kept = {"layout": self.layout.to_json(), "plain": self.plain, "numbers": self.numbers}
        return json.dumps({**kept, "key_name": self.key_name, "key_text": self.key_text})

    @classmethod
    def from_text(cls, relation: int, text: str) -> Described:
        """What `to_text` wrote."""
        plain: dict[str, Any] = json.loads(text)
        return cls(
            relation,
            Layout.from_json(plain["layout"]),
            tuple(plain["plain"]),
            tuple(plain["numbers"]),
            plain["key_name"],
            plain["key_text"],
        )

    def is_as(self, recorded: Described) -> bool:
        """Whether it is the table that was recorded, with the same columns."""
        mine, its = (
            (one.relation, one.numbers, one.layout.columns, one.layout.key, one.layout.deferrable)
            for one in (self, recorded)
        )
        return mine == its

    @property
    def definition(self) -> PostgresTable:
        """What a slave makes of it: columns with NOT NULL, and the primary key."""
        columns = tuple(
            ColumnDefinition(one.name, one.type, one.not_null, "plain", None, None, number, None)
            for one, number in zip(self.layout.columns, self.numbers, strict=True)
        )
        constraints = ((self.key_name, self.key_text),) if self.key_name else ()
        return PostgresTable(self.name, columns, constraints, (), self.layout.key_names)


def tables(connection: Connection, schemas: Collection[str]) -> dict[TableName, tuple[int, bool]]:
    """The tables of these schemas: the number of each, and whether its rows are in the log."""
    rows = connection.execute(composed("catalog/tables"), {"schemas": list(schemas)})
    return {
        TableName(schema, table): (relation, persistence == _LOGGED) for schema, table, relation, persistence in rows
    }


def described(connection: Connection, names: Collection[TableName]) -> dict[TableName, Described]:
    """Those of these tables that are there."""
    there = tables(connection, {name.schema for name in names})
    wanted = {there[name][0]: name for name in names if name in there}
    columns = _columns(connection, wanted)
    keys = {
        relation: ([int(number) for number in numbers.split()], at_once, name, text)
        for relation, numbers, at_once, name, text in connection.execute(
            composed("catalog/keys"), {"relations": list(wanted)}
        )
    }
    found = {}
    for relation, name in wanted.items():
        mine = columns.get(relation, [])
        numbers = tuple(number for _, _, number in mine)
        key, at_once, key_name, key_text = keys.get(relation, ([], True, "", ""))
        layout = Layout(
            0, name, tuple(column for column, _, _ in mine), tuple(map(numbers.index, key)), deferrable=not at_once
        )
        plain = tuple(kind for _, kind, _ in mine)
        found[name] = Described(relation, layout, plain, numbers, key_name, key_text, there[name][1])
    return found


def rounded(connection: Connection, names: Collection[TableName]) -> list[tuple[TableName, str]]:
    """The columns of these tables whose texts have floating-point numbers."""
    there = tables(connection, {name.schema for name in names})
    wanted = {there[name][0]: name for name in names if name in there}
    found = connection.execute(composed("catalog/rounded"), {"relations": list(wanted)})
    return [(wanted[relation], column) for relation, column in found]


def _columns(
    connection: Connection, relations: Iterable[int] | Mapping[int, object]
) -> dict[int, list[tuple[Column, str, int]]]:
    found: dict[int, list[tuple[Column, str, int]]] = {}
    for relation, name, kind, not_null, plain, number in connection.execute(
        composed("catalog/columns"), {"relations": list(relations)}
    ):
        found.setdefault(relation, []).append((Column(name, kind, not_null), plain, number))
    return found
