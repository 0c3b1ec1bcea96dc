"""The list of columns a row image was written under (R7: an image by position is worthless without it)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sluice.model.names import TableName


@dataclass(frozen=True)
class Column:
    """One column: its name, its type as the vendor writes it, and whether the database computes it itself.

    Attributes:
        dropped: the part of its values that the log does not have, in words; a catalog says it, and no file.
        members: the texts that it may hold, in order, if these are few; empty if they are not known. No file has them.
        counts: it is known that the database numbers rows in it. No file has it.
    """

    name: str
    type: str
    not_null: bool = False
    generated: bool = False
    dropped: str = field(default="", compare=False)
    members: tuple[str, ...] = field(default=(), compare=False)
    counts: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Layout:
    """The columns of one table from one REPL_KEY on, in the order in which images list them.

    Attributes:
        id: the REPL_KEY that the layout begins with; unique within a source.
        key: positions of the primary key's columns, empty if the table has none.
        deferrable: two rows may bear one key for a while within a transaction, so images are netted, not keys.
        searched: names of the columns that a slave is to look rows up by; some may not be there. None: by the key.
    """

    id: int
    name: TableName
    columns: tuple[Column, ...]
    key: tuple[int, ...] = ()
    deferrable: bool = False
    searched: tuple[str, ...] = ()

    @property
    def key_names(self) -> tuple[str, ...]:
        """The names of the primary key's columns."""
        return tuple(self.columns[index].name for index in self.key)

    @property
    def tells_by_key(self) -> bool:
        """Whether the key alone tells its rows apart, at any moment: an update needs no old image where it stayed."""
        return bool(self.key) and not self.deferrable

    def to_json(self) -> dict[str, Any]:
        """A plain form for files and messages; `from_json` reads it."""
        return {
            "id": self.id,
            "schema": self.name.schema,
            "table": self.name.table,
            "columns": [[c.name, c.type, c.not_null, c.generated] for c in self.columns],
            "key": list(self.key),
            "deferrable": self.deferrable,
            "searched": list(self.searched),
        }

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Layout:
        """The layout that `to_json` wrote."""
        return cls(
            id=int(plain["id"]),
            name=TableName(plain["schema"], plain["table"]),
            columns=tuple(Column(*fields) for fields in plain["columns"]),
            key=tuple(plain["key"]),
            deferrable=bool(plain["deferrable"]),
            searched=tuple(plain.get("searched", ())),
        )
