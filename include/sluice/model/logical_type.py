"""The kinds of values of columns, of all vendors; see "Logical types" in types.md.

The log names types as PostgreSQL does. A vendor that names its own otherwise says them in these names at its edge, so
that readers of the log need not know whose it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache


class Kind(StrEnum):
    """Kinds of values; each has one canonical text, see `sluice.values.canonical_text`."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    TEXT = "text"
    BYTES = "bytes"
    DATE = "date"
    TIME = "time"
    TIME_WITH_ZONE = "time with zone"
    TIMESTAMP = "timestamp"
    TIMESTAMP_WITH_ZONE = "timestamp with zone"
    INTERVAL = "interval"
    UUID = "uuid"
    JSON = "json"
    BIT = "bit"
    ARRAY = "array"
    OTHER = "other"
    """A type whose text, as the vendor prints it, other vendors read as a text only."""


@dataclass(frozen=True)
class LogicalType:
    """One type of values.

    Attributes:
        size: bits of an INTEGER or a FLOAT, digits of a DECIMAL, characters of a TEXT, bits of a BIT, digits of a
            second; None if that is not bounded.
        scale: of a DECIMAL that is bounded, how many digits are behind the point.
        element: of an ARRAY, in any number of dimensions.
        native: the name in the log, where the rest does not tell two types apart.
    """

    kind: Kind
    size: int | None = None
    scale: int | None = None
    element: LogicalType | None = None
    native: str = ""

    def holds(self, other: LogicalType) -> bool:
        """Whether a column of this type keeps every value of the other one exactly (R7). What is not known is not."""
        if self == other:
            return True
        match other.kind, self.kind:
            case (Kind.INTEGER, Kind.INTEGER) | (Kind.FLOAT, Kind.FLOAT):
                return (self.size or 0) >= (other.size or 0)
            case (Kind.INTEGER, Kind.DECIMAL) | (Kind.UUID, Kind.TEXT):
                return self.size is None and not self.native
            case (Kind.JSON, Kind.TEXT):
                return self.size is None and not (self.native or other.native)
            case (Kind.TEXT, Kind.TEXT):
                return {self.native, other.native} <= {"", _VARYING} and self._is_as_long(other)
            case (Kind.BIT, Kind.BIT):
                return not (self.native or other.native) and self._is_as_long(other)
            case (Kind.DECIMAL, Kind.DECIMAL):
                return self.size is None or self._has_as_many_digits(other)
        return False

    def _is_as_long(self, other: LogicalType) -> bool:
        if self.size is None:
            # One that could be bounded, and is not, is not taken for a text.
            return not self.native or other.size is not None
        return other.size is not None and self.size >= other.size

    def _has_as_many_digits(self, other: LogicalType) -> bool:
        if self.size is None or other.size is None:
            return False
        behind, others = self.scale or 0, other.scale or 0
        return behind >= others and self.size - behind >= other.size - others


_VARYING = "character varying"
_PLAIN = {
    "boolean": LogicalType(Kind.BOOLEAN),
    "smallint": LogicalType(Kind.INTEGER, 16),
    "integer": LogicalType(Kind.INTEGER, 32),
    "bigint": LogicalType(Kind.INTEGER, 64),
    "numeric": LogicalType(Kind.DECIMAL),
    "real": LogicalType(Kind.FLOAT, 32),
    "double precision": LogicalType(Kind.FLOAT, 64),
    "text": LogicalType(Kind.TEXT),
    _VARYING: LogicalType(Kind.TEXT, native=_VARYING),
    "bytea": LogicalType(Kind.BYTES),
    "date": LogicalType(Kind.DATE),
    "uuid": LogicalType(Kind.UUID),
    "json": LogicalType(Kind.JSON),
    "jsonb": LogicalType(Kind.JSON, native="jsonb"),
    "bit varying": LogicalType(Kind.BIT),
}
_DECIMAL = re.compile(r"numeric\((\d+)(?:,(\d+))?\)")
_SIZED = re.compile(r"(character varying|character|bit varying|bit)\((\d+)\)")
_MOMENT = re.compile(r"(time|timestamp)(?:\((\d)\))? (with|without) time zone")
_INTERVAL = re.compile(r"interval( [a-z ]+)?(?:\((\d)\))?")
_MOMENTS = {
    ("time", "without"): Kind.TIME,
    ("time", "with"): Kind.TIME_WITH_ZONE,
    ("timestamp", "without"): Kind.TIMESTAMP,
    ("timestamp", "with"): Kind.TIMESTAMP_WITH_ZONE,
}


@cache
def logical_type(name: str) -> LogicalType:
    """The type of this name in the log; OTHER with the name if not all vendors know it."""
    if name in _PLAIN:
        return _PLAIN[name]
    if name.endswith("[]"):
        return LogicalType(Kind.ARRAY, element=logical_type(name.removesuffix("[]")), native=name)
    if match := _DECIMAL.fullmatch(name):
        return LogicalType(Kind.DECIMAL, int(match[1]), int(match[2] or 0))
    if match := _SIZED.fullmatch(name):
        kind = Kind.BIT if match[1].startswith("bit") else Kind.TEXT
        return LogicalType(kind, int(match[2]), native="" if match[1].endswith("varying") else match[1])
    if match := _MOMENT.fullmatch(name):
        return LogicalType(_MOMENTS[match[1], match[3]], int(match[2]) if match[2] else None)
    if match := _INTERVAL.fullmatch(name):
        return LogicalType(Kind.INTERVAL, int(match[2]) if match[2] else None, native=(match[1] or "").strip())
    return LogicalType(Kind.OTHER, native=name)
