"""A message: the XML form of a transaction or a command (the guide, chapter "Messages")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sluice.messages.column_literal import Cell

REPLICATION = "REPLICATION"
DUMP = "DUMP"
OLD_CONTENT = "oldContent"
# Reserved names of attributes.
OURS = frozenset(
    {
        OLD_CONTENT,
        "action",
        "columns",
        "command",
        "dbId",
        "description",
        "ident",
        "maxEntries",
        "old",
        "oldSchema",
        "oldTableName",
        "ordinal",
        "replKey",
        "schema",
        "statement",
        "statementId",
        "tableName",
        "transaction",
        "version",
    }
)

Cells = tuple[tuple[str, Cell], ...]


@dataclass(frozen=True)
class Row:
    """One change of one row.

    Attributes:
        columns: the row as it is after the change; of a deleted row, as it was.
        attributes: texts by name, as ``action``; None is a value of its own.
        old: the row before an update; None if the message does not tell.
    """

    columns: Cells = ()
    attributes: Mapping[str, str | None] = field(default_factory=dict)
    old: Cells | None = None


@dataclass(frozen=True)
class ColumnName:
    """One column of a table in a CREATE or an ALTER, with its attributes by name."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Description:
    """The head of a message: a command, what identifies it, and the table that it makes, if it makes one."""

    command: str = REPLICATION
    ident: str = ""
    columns: tuple[ColumnName, ...] = ()
    attributes: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Message:
    """A description, and the rows that it is about."""

    description: Description
    rows: tuple[Row, ...] = ()
