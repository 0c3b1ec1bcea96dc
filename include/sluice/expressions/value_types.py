"""Kinds of values: how the texts of a row image become values that can be compared, and values become texts again.

Values of one column are a pyarrow array, or a list of Python's decimals for `numeric`, which no array holds exactly.

| kind | types | an array of |
|---|---|---|
| BOOLEAN | boolean | booleans |
| INTEGER | smallint, integer, bigint | int64 |
| NUMERIC | numeric, of any size | a list of Decimal |
| REAL, DOUBLE | real, double precision | float64 |
| TEXT, CHAR | text, varchar, name; char(n) with its blanks | strings |
| DATE, TIMESTAMP, TIMESTAMPTZ | | int64: days, or microseconds in UTC, since 2000-01-01 |
| OTHER | every other type | strings |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sluice.expressions import datetimes, numbers
from sluice.expressions.numbers import Failure

Values = Any  # pa.Array, or list[Decimal | None]


class TypeFamily(StrEnum):
    """A family of types with the same operations."""

    BOOLEAN = "boolean"
    INTEGER = "bigint"
    NUMERIC = "numeric"
    REAL = "real"
    DOUBLE = "double precision"
    TEXT = "text"
    CHAR = "character"
    DATE = "date"
    TIMESTAMP = "timestamp without time zone"
    TIMESTAMPTZ = "timestamp with time zone"
    OTHER = "another type"
    # A text in quotes or NULL, before it gets a type.
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Type:
    """A kind, and the name of the type as the database writes it."""

    kind: TypeFamily
    name: str

    @classmethod
    def from_name(cls, name: str) -> Type:
        """The type of a column."""
        return cls(_KINDS.get(re.sub(r"\([\d, -]+\)", "", name), TypeFamily.OTHER), name)

    @classmethod
    def plain(cls, kind: TypeFamily) -> Type:
        """The type of a computed value."""
        return cls(kind, kind.value)


_KINDS = {kind.value: kind for kind in TypeFamily if kind not in (TypeFamily.OTHER, TypeFamily.UNKNOWN)}
_KINDS |= {
    "smallint": TypeFamily.INTEGER,
    "integer": TypeFamily.INTEGER,
    "character varying": TypeFamily.TEXT,
    "name": TypeFamily.TEXT,
}

_ARRAYS = {
    TypeFamily.BOOLEAN: pa.bool_(),
    TypeFamily.INTEGER: pa.int64(),
    TypeFamily.REAL: pa.float64(),
    TypeFamily.DOUBLE: pa.float64(),
    TypeFamily.DATE: pa.int64(),
    TypeFamily.TIMESTAMP: pa.int64(),
    TypeFamily.TIMESTAMPTZ: pa.int64(),
}


def to_list(values: Values) -> list[Any]:
    """The values one by one."""
    return values if isinstance(values, list) else list(values.to_pylist())


def to_column(kind: TypeFamily, values: Sequence[Any]) -> Values:
    """The values of a column, of values one by one."""
    return list(values) if kind is TypeFamily.NUMERIC else pa.array(values, _ARRAYS.get(kind, pa.string()))


def each(kind: TypeFamily, function: Callable[..., Any], *columns: Values) -> Values:
    """Apply a function to the values of each row; NULL if one of them is NULL."""
    if len(columns) == 1:
        return to_column(kind, [None if value is None else function(value) for value in to_list(columns[0])])
    if len(columns) == 2:
        pairs = zip(*map(to_list, columns), strict=True)
        return to_column(
            kind, [None if value is None or second is None else function(value, second) for value, second in pairs]
        )
    rows = zip(*map(to_list, columns), strict=True)
    return to_column(kind, [None if any(value is None for value in row) else function(*row) for row in rows])


def read(kind: TypeFamily, texts: pa.StringArray) -> Values:
    """Convert texts of the database into values."""
    if kind is TypeFamily.BOOLEAN:
        return pc.equal(texts, "t")
    if kind is TypeFamily.INTEGER:
        return pc.cast(texts, pa.int64())
    if kind is TypeFamily.DOUBLE:
        return pc.cast(texts, pa.float64())
    if kind is TypeFamily.REAL:
        return pc.cast(pc.cast(texts, pa.float32()), pa.float64())
    if kind is TypeFamily.NUMERIC:
        return each(kind, Decimal, texts)
    if kind in _MOMENTS:
        return _quickly(kind, texts)
    return texts


def _quickly(kind: TypeFamily, texts: pa.StringArray) -> pa.Array:
    """Dates of our millennia are read all at once, others one by one."""
    as_type, unit, epoch = _MOMENTS[kind]
    try:
        return pc.subtract_checked(pc.cast(pc.cast(texts, as_type), unit).cast(pa.int64()), epoch)
    except pa.ArrowInvalid:
        return each(kind, lambda text: parse_value(kind, text), texts)


_MOMENTS = {
    TypeFamily.DATE: (pa.date32(), pa.int32(), datetimes.EPOCH_DAY),
    TypeFamily.TIMESTAMP: (pa.timestamp("us"), pa.int64(), datetimes.EPOCH_DAY * datetimes.DAY),
    TypeFamily.TIMESTAMPTZ: (pa.timestamp("us", "UTC"), pa.int64(), datetimes.EPOCH_DAY * datetimes.DAY),
}


def parse_value(kind: TypeFamily, text: str) -> Any:
    """Parse a literal of a kind. Raises Failure if it is invalid."""
    if kind in (TypeFamily.TEXT, TypeFamily.OTHER):
        return text
    if kind is TypeFamily.CHAR:
        return text.rstrip(" ")
    return _PARSERS[kind](text.strip(" \t\n\r\f\v"))


def print_values(kind: TypeFamily, values: Values) -> pa.StringArray:
    """Values as the database prints them."""
    if kind is TypeFamily.BOOLEAN:
        return pc.if_else(values, "t", "f")
    if kind is TypeFamily.INTEGER:
        return pc.cast(values, pa.string())
    if kind in _PRINTERS:
        return each(TypeFamily.TEXT, _PRINTERS[kind], values)
    return values


def as_text(kind: TypeFamily, values: Values) -> pa.StringArray:
    """The cast to text: as values are printed, except for booleans and the blanks of char(n)."""
    if kind is TypeFamily.BOOLEAN:
        return pc.if_else(values, "true", "false")
    return pc.utf8_rtrim(values, " ") if kind is TypeFamily.CHAR else print_values(kind, values)


def _truth(text: str) -> bool:
    word = text.lower()
    for value, words in ((True, ("true", "yes", "on", "1")), (False, ("false", "no", "off", "0"))):
        if any(known.startswith(word) for known in words) and word not in ("", "o"):
            return value
    raise Failure("a text is no boolean")


_PARSERS: dict[TypeFamily, Callable[[str], Any]] = {
    TypeFamily.BOOLEAN: _truth,
    TypeFamily.INTEGER: numbers.integer,
    TypeFamily.NUMERIC: numbers.numeric,
    TypeFamily.REAL: numbers.real,
    TypeFamily.DOUBLE: numbers.double,
    TypeFamily.DATE: datetimes.date,
    TypeFamily.TIMESTAMP: datetimes.timestamp,
    TypeFamily.TIMESTAMPTZ: datetimes.timestamptz,
}
_PRINTERS: dict[TypeFamily, Callable[[Any], str]] = {
    TypeFamily.NUMERIC: numbers.print_numeric,
    TypeFamily.REAL: numbers.print_real,
    TypeFamily.DOUBLE: numbers.print_double,
    TypeFamily.DATE: datetimes.print_date,
    TypeFamily.TIMESTAMP: datetimes.print_timestamp,
    TypeFamily.TIMESTAMPTZ: datetimes.print_timestamptz,
}
