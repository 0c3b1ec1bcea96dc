"""What a command says of its table: before, after, and the statement that did it. See "Commands" in architecture.md."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sluice.model.names import TableName


@dataclass(frozen=True)
class DefinedColumn:
    """One column of a table, as its master writes it.

    Attributes:
        number: never changes and is never used again, so it tells a rename from a drop and an add.
        type: with its schema if it is not built in.
        identity: ALWAYS or BY DEFAULT.
    """

    number: int
    name: str
    type: str
    not_null: bool = False
    default: str | None = None
    generated: str | None = None
    identity: str | None = None
    collation: str | None = None


@dataclass(frozen=True)
class DefinedTable:
    """A table with its columns, in the order of row images, and the names of its primary key's columns."""

    name: TableName
    columns: tuple[DefinedColumn, ...]
    key: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> DefinedTable:
        """The table that the source described."""
        known = DefinedColumn.__dataclass_fields__
        return cls(
            TableName(plain["schema"], plain["table"]),
            tuple(
                DefinedColumn(**{name: value for name, value in column.items() if name in known})
                for column in plain["columns"]
            ),
            tuple(plain["key"]),
        )


@dataclass(frozen=True)
class TableChange:
    """A CREATE (nothing before), an ALTER, or a DROP (nothing after)."""

    before: DefinedTable | None = None
    after: DefinedTable | None = None
    statement: str | None = None

    @classmethod
    def from_json(cls, text: str) -> TableChange:
        """The text that a command carries. Raises ValueError if it is none."""
        try:
            plain = json.loads(text)
            before, after = (DefinedTable.from_json(plain[side]) if side in plain else None for side in _SIDES)
            change = cls(before, after, plain.get("statement"))
        except (AttributeError, KeyError, TypeError, RecursionError, ValueError) as error:
            raise ValueError(f"no description of a table: {type(error).__name__} {error}") from None
        if change.before is None and change.after is None:
            raise ValueError("a description of no table")
        return change


_SIDES = ("before", "after")
