"""Definitions of a table before and after a command, and the command's statement. See "Commands" in ddl.md."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sluice.model.names import TableName


@dataclass(frozen=True)
class DefinedColumn:
    """One column of a table, as its master writes it.

    Attributes:
        number: never changes and is never reused, so it distinguishes a rename from a drop and an add.
        type: with its schema if it is not built in.
        virtual: the column is generated and not stored.
        identity: ALWAYS or BY DEFAULT.
        counter: the options of the sequence of an identity.
        filled: the value of a new column in rows that existed before, if they have one.
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
    """A type that is not built in.

    Attributes:
        oid: its number on the source.
        kind: TYPE or DOMAIN.
        extension: the extension that it belongs to, if any.
        parts: OIDs of the types that it consists of.
        labels: the labels of an enum.
        definition: the text behind its name in CREATE; None if unknown.
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
        constraints: names and definitions of keys and checks, the primary key first.
        rewritten: the command rewrote the rows, and all of them follow it in the stream.
        unfilled: the rows of the table do not follow its CREATE; an initial update brings them.
        types: the user-defined types of columns that are new or have another type.
        indexes: names, uniqueness and definitions of the indexes of a new table.
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
            tuple(UserType.from_json(type_) for type_ in plain.get("types", ())),
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
        """Parse the body of a command. Raises ValueError if it describes no table."""
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
