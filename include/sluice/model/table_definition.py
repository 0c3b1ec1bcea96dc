"""What a command says of its table: before, after, and the statement that did it. See "Commands" in ddl.md."""

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
        virtual: what is generated is not stored.
        identity: ALWAYS or BY DEFAULT.
        counter: how the sequence counts that it draws from, if it does.
        filled: what the rows that were there have in it, if it is new and they have a value.
    """

    number: int
    name: str
    type: str
    not_null: bool = False
    default: str | None = None
    generated: str | None = None
    identity: str | None = None
    collation: str | None = None
    virtual: bool = False
    counter: str | None = None
    filled: str | None = None


@dataclass(frozen=True)
class ForeignKey:
    """A reference to another table; actions are the letters of the catalog.

    Attributes:
        period: the last column on both sides is a period.
        cleared: the columns that ON DELETE sets, if not all.
        lenience: NOT VALID or NOT ENFORCED, if rows need not meet it.
    """

    name: str
    columns: tuple[str, ...]
    parent: TableName
    parent_columns: tuple[str, ...]
    on_update: str
    on_delete: str
    full: bool
    deferrable: bool
    deferred: bool
    period: bool = False
    cleared: tuple[str, ...] = ()
    lenience: str = ""

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> ForeignKey:
        """The foreign key that the source described."""
        given = {name: plain[name] for name in cls.__dataclass_fields__ if name in plain}
        given |= {name: tuple(given.get(name, ())) for name in ("columns", "parent_columns", "cleared")}
        return cls(parent=TableName(plain["schema"], plain["table"]), **given)


@dataclass(frozen=True)
class UserType:
    """A type that somebody made.

    Attributes:
        oid: its number on the source.
        kind: TYPE or DOMAIN.
        extension: what brought it along, if something did.
        parts: the types that it is made of.
        labels: those of an enum.
        definition: what follows its name when it is made; None if that cannot be told.
    """

    oid: int
    name: TableName
    kind: str
    extension: str | None
    parts: tuple[int, ...]
    labels: tuple[str, ...]
    definition: str | None

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> UserType:
        """The type that the source described."""
        name = TableName(plain["schema"], plain["name"])
        lists = tuple(plain["parts"]), tuple(plain["labels"])
        return cls(plain["oid"], name, plain["kind"], plain.get("extension"), *lists, plain.get("definition"))


@dataclass(frozen=True)
class DefinedTable:
    """A table with its columns, in the order of row images, and the names of its primary key's columns.

    Attributes:
        constraints: keys and checks, the primary key first: names and what they are.
        rewritten: every row follows the command that changed it.
        unfilled: rows that it has do not follow its CREATE; an initial update brings them.
        types: those that columns need which are new or of another type.
        indexes: those that a new table has already: names, whether unique, and what they are.
    """

    name: TableName
    columns: tuple[DefinedColumn, ...]
    key: tuple[str, ...] = ()
    constraints: tuple[tuple[str, str], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    rewritten: bool = False
    unfilled: bool = False
    types: tuple[UserType, ...] = ()
    indexes: tuple[tuple[str, bool, str], ...] = ()

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
            tuple((name, definition) for name, definition in plain.get("constraints", ())),
            tuple(ForeignKey.from_json(key) for key in plain.get("foreign_keys", ())),
            plain.get("rewritten", False),
            plain.get("unfilled", False),
            tuple(UserType.from_json(one) for one in plain.get("types", ())),
            tuple((name, unique, definition) for name, unique, definition in plain.get("indexes", ())),
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
