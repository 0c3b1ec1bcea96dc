"""Types of a master's columns in the names of the log, and their values as canonical texts (R7).

What is read from the log and what a SELECT gives end in the same text. A type that only MariaDB has is a text. A TIME
is an interval, since it goes up to 838 hours, below zero too. Generated columns are plain ones: their values are in the
log.

Source: MariaDB Knowledge Base, "Data Types".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from sluice.values.float_text import float_text
from sluice.vendors.mariadb.session import quoted

INTEGERS = {"tinyint": "smallint", "smallint": "smallint", "mediumint": "integer", "int": "integer", "bigint": "bigint"}
UNSIGNED = INTEGERS | {"smallint": "integer", "int": "bigint", "bigint": "numeric(20,0)"}
NO_ZONE, WITH_ZONE = "timestamp({}) without time zone", "timestamp({}) with time zone"
# As a number it has no zeros in front, and as many digits behind the point.
WITHOUT_ZEROS = "({} + 0)"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TEXTS = {"tinytext", "text", "mediumtext", "longtext", "enum", "set", "inet4", "inet6"}
BINARIES = {"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"}
_SHAPES = {
    "geometry",
    "point",
    "linestring",
    "polygon",
    "multipoint",
    "multilinestring",
    "multipolygon",
    "geometrycollection",
    "geomcollection",
}

# Members whose texts are written as they are, whatever the sql_mode and the character set.
_MEMBER = re.compile(r"'((?:[^'\\]|'')*)'", re.ASCII)

# A value as a SELECT gives it, as canonical text.
Canonical = Callable[[str | bytes], str]


@dataclass(frozen=True)
class MasterColumn:
    """A column, as the catalog describes it.

    Attributes:
        kind: without its size: `int`, `varchar`.
        whole: with all that is said of it: `int(5) unsigned zerofill`.
        length: in characters.
        is_generated: the server computes it.
        counts: it has AUTO_INCREMENT.
    """

    name: str
    kind: str
    whole: str
    length: int
    precision: int
    scale: int
    digits: int
    not_null: bool
    is_generated: bool
    counts: bool = False

    @property
    def type(self) -> str | None:
        """The type as the log names it; None if it is not known."""
        if self.kind in INTEGERS:
            return (UNSIGNED if "unsigned" in self.whole else INTEGERS)[self.kind]
        if self.kind in ("char", "varchar"):
            return characters(self.length)
        if self.kind in _TEXTS:
            return "text"
        if self.kind in BINARIES | _SHAPES:
            return "bytea"
        others = {
            "decimal": f"numeric({self.precision},{self.scale})",
            "bit": f"bit({self.precision})",
            "datetime": NO_ZONE.format(self.digits),
            "timestamp": WITH_ZONE.format(self.digits),
        }
        return others.get(self.kind) or _PLAIN.get(self.kind)

    @property
    def members(self) -> tuple[str, ...]:
        """Those of an ENUM or SET; empty if a text of them is not certain."""
        if self.kind not in ("enum", "set") or "\\" in self.whole or not self.whole.isascii():
            return ()
        return tuple(one.replace("''", "'") for one in _MEMBER.findall(self.whole))

    @property
    def is_filled_up(self) -> bool:
        """Whether a SELECT gives it with zeros in front."""
        return "zerofill" in self.whole

    @property
    def selected(self) -> str:
        """The expression that reads it. Bytes are read as they are: HEX() gives NULL where its text would be longer
        than `max_allowed_packet`.
        """
        name = quoted(self.name)
        if self.kind == "float":
            # The text of a FLOAT has six digits.
            return f"CAST({name} AS DOUBLE)"
        if self.kind == "decimal" and self.is_filled_up:
            return WITHOUT_ZEROS.format(name)
        return f"CAST({name} AS UNSIGNED)" if self.kind == "bit" else name

    @property
    def canonical(self) -> Canonical:
        """How what was read becomes canonical."""
        if self.kind in BINARIES | _SHAPES:
            return lambda value: bytes_text(value if isinstance(value, bytes) else value.encode())
        of_text = self._canonical_text
        return lambda value: of_text(value if isinstance(value, str) else value.decode())

    @property
    def _canonical_text(self) -> Callable[[str], str]:
        if self.kind in INTEGERS or self.kind == "year":
            return lambda text: str(int(text))
        if self.kind == "bit":
            return lambda text: bits(int(text), self.precision)
        if self.kind == "timestamp":
            return lambda text: f"{_trimmed(text)}+00"
        return _CANONICAL.get(self.kind, str)


_PLAIN: Mapping[str, str] = {
    "year": "smallint",
    "float": "real",
    "double": "double precision",
    "date": "date",
    "time": "interval",
    "uuid": "uuid",
    "json": "text",
}


def characters(length: int) -> str:
    """A text of at most so many characters."""
    return f"character varying({length})" if length else "text"


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


_CANONICAL: Mapping[str, Callable[[str], str]] = {
    "float": lambda text: real_of(np.float32(text)),
    "double": lambda text: float_of(float(text)),
    "decimal": lambda text: text if text[-1] != "." else text[:-1],
    "time": _trimmed,
    "datetime": _trimmed,
}


def real_of(value: np.float32) -> str:
    """The text of a number of 32 bits."""
    return float_text(np.format_float_scientific(value, unique=True, trim="-", exp_digits=1), 32)


def float_of(value: float) -> str:
    """The text of a number of 64 bits."""
    return float_text(repr(value), 64)


def bits(value: int, length: int) -> str:
    """The text of a BIT."""
    return f"{value:0{length}b}"


def bytes_text(raw: bytes) -> str:
    """The text of bytes."""
    return "\\x" + raw.hex()


def uuid_text(raw: bytes) -> str:
    """The text of a UUID."""
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def clock(hours: int, minutes: int, seconds: int, micros: int) -> str:
    """The text of a time."""
    text = f"{hours:02d}:{minutes:02d}:{seconds:02d}"
    return f"{text}.{micros:06d}".rstrip("0") if micros else text


def moment(seconds: int, micros: int) -> str:
    """The text of a TIMESTAMP; that of the number 0 is no moment, and printed as one."""
    if not (seconds or micros):
        return "0000-00-00 00:00:00+00"
    at = _EPOCH + timedelta(seconds=seconds)
    return f"{at:%Y-%m-%d} {clock(at.hour, at.minute, at.second, micros)}+00"


def address(raw: bytes) -> str:
    """The text of an INET4 or INET6, as the server prints it."""
    if len(raw) == 4:
        return ".".join(map(str, raw))
    words = [int.from_bytes(raw[place : place + 2], "big") for place in range(0, 16, 2)]
    begin, length = _gap(words)
    if begin == 0 and (length == 6 or (length == 5 and words[5] == 0xFFFF)):
        return f"::{'ffff:' if length == 5 else ''}{'.'.join(map(str, raw[12:]))}"
    if not length:
        return ":".join(f"{word:x}" for word in words)
    before, behind = (":".join(f"{word:x}" for word in part) for part in (words[:begin], words[begin + length :]))
    return f"{before}::{behind}"


def _gap(words: list[int]) -> tuple[int, int]:
    """The first of the longest runs of words that are 0."""
    best, begin, length = (0, 0), 0, 0
    for place, word in enumerate(words):
        begin, length = (begin if length else place, length + 1) if word == 0 else (place, 0)
        if length > best[1]:
            best = begin, length
    return best
