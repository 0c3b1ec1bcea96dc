"""A column as the catalog describes it, and how it is written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OracleColumn:
    """One row of ALL_TAB_COLS.

    Attributes:
        type: without length and digits, such as ``TIMESTAMP(6) WITH TIME ZONE`` or ``NUMBER``.
        type_owner: of a type that is not built in.
        length: in bytes.
        chars: the length in characters, or in bytes if it was declared in bytes.
        by_char: it was declared in characters.
        virtual: it is computed.
        hidden: it is invisible.
        default: the text of its default, if it has one.
    """

    name: str
    type: str
    type_owner: str | None = None
    length: int = 22
    precision: int | None = None
    scale: int | None = None
    chars: int = 0
    by_char: bool = False
    not_null: bool = False
    virtual: bool = False
    hidden: bool = False
    default: str | None = None

    @property
    def declared(self) -> str:
        """The type with its length, as errors name it."""
        if self.type in ("VARCHAR2", "CHAR"):
            return f"{self.type}({self.chars} {'CHAR' if self.by_char else 'BYTE'})"
        if self.type in ("NVARCHAR2", "NCHAR"):
            return f"{self.type}({self.chars})"
        if self.type == "RAW":
            return f"RAW({self.length})"
        if self.type == "NUMBER" and not (self.precision is None and self.scale is None):
            return f"NUMBER({'*' if self.precision is None else self.precision},{self.scale or 0})"
        if self.type == "FLOAT":
            return f"FLOAT({self.precision or 126})"
        return self.type if self.type_owner is None else f"{self.type_owner}.{self.type}"
