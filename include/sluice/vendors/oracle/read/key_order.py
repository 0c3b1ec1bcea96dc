"""The order of a table's rows by their primary key, and ranges of it, as the server compares them (R10).

A bound is a key that some row has, or had, as the log writes it. It is read by the server in the same way each time, so
two ranges that meet at one share no row, and lose none.

Source: SQL Language Reference, "Data Type Comparison Rules", "TO_DATE", "TO_TIMESTAMP", "HEXTORAW", "UNISTR".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal, InvalidOperation

from sluice.vendors.key_condition import between
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.recorded import layout_of
from sluice.vendors.oracle.names import quoted
from sluice.vendors.oracle.types import Captured
from sluice.vendors.oracle.values import as_text, canonical
from sluice.vendors.protocol.read import Key, KeyRange

_DATETIME = re.compile(r"(\d{4})-(\d\d-\d\d \d\d:\d\d:\d\d)(?:\.(\d{1,9}))?( BC)?", re.ASCII)
_BYTES = re.compile(r"\\x((?:[0-9a-f]{2})+)", re.ASCII)
_TIMESTAMP = re.compile(r"TIMESTAMP\(\d\)")
# Between the number of a table and the rest of a sign.
_OF = "."


@dataclass(frozen=True)
class _Kind:
    """How a bound is handed over: the value that the driver binds, and what the server makes of it."""

    family: str
    bound: Callable[[str], object]
    read: str = "{}"


def _number(text: str) -> Decimal:
    try:
        # Digits that a context leaves out would make one bound of several keys.
        return Decimal(text).normalize(Context(prec=len(text)))
    except InvalidOperation:
        raise ValueError(f"{text!r} is no number") from None


def _moment(digits: int) -> Callable[[str], str]:
    def written(text: str) -> str:
        found = _DATETIME.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is no moment of a key")
        year, rest, fraction, before = found.groups()
        return f"{'-' if before else ' '}{year}-{rest}" + (f".{fraction or '':0<{digits}}" if digits else "")

    return written


def _hexadecimal(text: str) -> str:
    found = _BYTES.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} are no bytes")
    return found[1]


def _escaped(text: str) -> str:
    """A text as UNISTR reads it, whatever the character set of the database lacks."""
    units = text.encode("utf-16-be")
    codes = [int.from_bytes(units[place : place + 2], "big") for place in range(0, len(units), 2)]
    return "".join(chr(code) if 0x20 <= code < 0x7F and code != 0x5C else f"\\{code:04x}" for code in codes)


_SECOND = "SYYYY-MM-DD HH24:MI:SS"
_TEXT = _Kind("text", str)
_NATIONAL = _Kind("national text", _escaped, "UNISTR({})")
_MOMENT = _Kind("moment", _moment(9), f"TO_TIMESTAMP({{}}, '{_SECOND}.FF9')")
_KINDS: Mapping[str, _Kind] = {
    "NUMBER": _Kind("number", _number),
    "FLOAT": _Kind("number", _number),
    "CHAR": _TEXT,
    "VARCHAR2": _TEXT,
    "NCHAR": _NATIONAL,
    "NVARCHAR2": _NATIONAL,
    "DATE": _Kind("date", _moment(0), f"TO_DATE({{}}, '{_SECOND}')"),
    "RAW": _Kind("bytes", _hexadecimal, "HEXTORAW({})"),
}


@dataclass(frozen=True)
class Bounds:
    """A condition behind others, and the values of its places."""

    condition: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class KeyOrder:
    """The columns of a primary key, in its order, and how each is read.

    Attributes:
        relation: the number of the table, which no other one gets.
    """

    relation: int
    columns: tuple[tuple[OracleColumn, Captured], ...]

    @property
    def sign(self) -> str:
        """Another text if rows are sorted otherwise, or are those of another table."""
        return f"{self.relation}{_OF} " + ", ".join(
            f"{quoted(column.name)} {_kind(column).family}" for column, _ in self.columns
        )

    @property
    def names(self) -> list[str]:
        """The columns, as a query names them."""
        return [f"source.{quoted(column.name)}" for column, _ in self.columns]

    @property
    def kinds(self) -> list[Captured]:
        """How each is read."""
        return [how for _, how in self.columns]

    @property
    def sorted(self) -> str:
        """What rows are sorted by."""
        return ", ".join(self.names)

    def key(self, row: Sequence[object]) -> Key:
        """A key, of what a query of the columns gave."""
        return tuple(canonical(how)(as_text(value)) for how, value in zip(self.kinds, row, strict=False))

    def bounds(self, within: KeyRange, last: Key | None = None) -> Bounds:
        """The condition for the rest of a range, or for its next rows up to a last key."""
        values: dict[str, object] = {}
        asked = between(self.names, within, last, lambda place, text: self._written(values, place, text))
        return Bounds(" ".join(f"AND {one}" for one in asked), values)

    def equal(self, key: Key) -> Bounds:
        """The condition for the row with a key."""
        values: dict[str, object] = {}
        asked = [f"AND {name} = {self._written(values, place, key[place])}" for place, name in enumerate(self.names)]
        return Bounds(" ".join(asked), values)

    def _written(self, values: dict[str, object], place: int, text: str) -> str:
        kind, name = _kind(self.columns[place][0]), f"key{len(values)}"
        values[name] = kind.bound(text)
        return kind.read.format(f":{name}")


def key_order(table: CapturedTable) -> KeyOrder | None:
    """The order of a table's rows; None if it has no primary key that is checked at once and whose values the server
    compares as it sorts them, and gives back exactly.
    """
    layout = layout_of(table)
    if not layout.key or table.deferrable:
        return None
    columns = tuple((table.columns[place], table.kinds[place]) for place in layout.key)
    if any(column.type not in _KINDS and not _TIMESTAMP.fullmatch(column.type) for column, _ in columns):
        return None
    return KeyOrder(table.relation, columns)


def relation_of(sign: str) -> int:
    """The number of the table whose keys are in an order."""
    return int(sign.partition(_OF)[0])


def _kind(column: OracleColumn) -> _Kind:
    return _KINDS.get(column.type) or _MOMENT
