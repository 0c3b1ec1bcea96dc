"""Values of row images in their canonical texts, column by column.

Sources: MariaDB Knowledge Base, "Rows Event"; for DECIMAL and times MySQL's "Internals", "Date and Time Data Type
Representation" and `decimal2bin`. The log leaves zeros out at the end of what is binary and has a fixed length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct, error

import numpy as np

from sluice.vendors.mariadb.capture.binlog import events, json_text
from sluice.vendors.mariadb.capture.binlog.byte_reader import Malformed
from sluice.vendors.mariadb.capture.binlog.events import ColumnMap
from sluice.vendors.mariadb.charsets import BINARY, Charsets, is_text
from sluice.vendors.mariadb.master_types import (
    INTEGERS,
    NO_ZONE,
    UNSIGNED,
    WITH_ZONE,
    address,
    bits,
    bytes_text,
    characters,
    clock,
    float_of,
    moment,
    real_of,
    uuid_text,
)

# Reads a value at an offset; the text, and where the next one begins.
Reads = Callable[[bytes, int], tuple[str, int]]
# One text of each column; None for NULL.
Image = list[str | None]

_SIZES = {events.TINY: 1, events.SHORT: 2, events.INT24: 3, events.LONG: 4, events.LONGLONG: 8}
_NAMES = {
    events.TINY: "tinyint",
    events.SHORT: "smallint",
    events.INT24: "mediumint",
    events.LONG: "int",
    events.LONGLONG: "bigint",
}
# How many bytes so many digits of a DECIMAL take.
_DIGIT_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
_FLOAT, _DOUBLE = Struct("<f"), Struct("<d")
_OF_OLD = {7, 11, 12, 14}
_PACKED = {140, 141}
# Types that a table map does not tell from BINARY of the same length.
FIXED: dict[str, int] = {"uuid": 16, "inet6": 16, "inet4": 4}


class Unreadable(ValueError):
    """A column cannot be read. The text says why, and the second argument what helps."""


@dataclass(frozen=True)
class ColumnReader:
    """How a column is read.

    Attributes:
        type: as the log names it.
        members: of an ENUM or SET.
    """

    type: str
    reads: Reads
    members: tuple[str, ...] = ()


def reader(column: ColumnMap, fixed: str | None, charsets: Charsets) -> ColumnReader:
    """How a column is read.

    Args:
        fixed: which of `FIXED` it is; None: none of them.

    Raises:
        Unreadable: it cannot be.
    """
    kind, first = column.kind, column.first
    if not is_text(column.name):
        raise Unreadable(f"the name of {column.name.encode(errors='replace').decode()} is no text", "rename the column")
    if kind in _SIZES:
        names = UNSIGNED if column.unsigned else INTEGERS
        return ColumnReader(names[_NAMES[kind]], _integer(_SIZES[kind], signed=not column.unsigned))
    match kind:
        case events.FLOAT:
            return ColumnReader("real", lambda data, at: (real_of(np.float32(_FLOAT.unpack_from(data, at)[0])), at + 4))
        case events.DOUBLE:
            return ColumnReader(
                "double precision", lambda data, at: (float_of(_DOUBLE.unpack_from(data, at)[0]), at + 8)
            )
        case events.YEAR:
            return ColumnReader("smallint", lambda data, at: (str(data[at] and data[at] + 1900), at + 1))
        case events.DECIMAL:
            return ColumnReader(f"numeric({first},{column.second})", _decimal(first, column.second))
        case events.BIT:
            length = column.second * 8 + first
            return ColumnReader(f"bit({length})", _bit(length))
        case events.DATE:
            return ColumnReader("date", _date)
        case events.TIME2:
            return ColumnReader("interval", _time(first))
        case events.DATETIME2:
            return ColumnReader(NO_ZONE.format(first), _datetime(first))
        case events.TIMESTAMP2:
            return ColumnReader(WITH_ZONE.format(first), _timestamp(first))
        case events.ENUM:
            members = _members(column, charsets)
            return ColumnReader("text", _enum(first, members), tuple(members))
        case events.SET:
            members = _members(column, charsets)
            return ColumnReader("text", _set(first, members), tuple(members))
        case events.GEOMETRY:
            return ColumnReader("bytea", _sized(first, bytes_text))
        case events.JSON:
            return ColumnReader("text", _sized(first, lambda raw: json_text.text(raw, _decimal)))
        case events.BLOB:
            if column.collation == BINARY:
                return ColumnReader("bytea", _sized(first, bytes_text))
            return ColumnReader("text", _sized(first, _text(column, charsets)))
        case events.STRING | events.VARCHAR | events.VAR_STRING:
            return _string(column, fixed, charsets)
    raise Unreadable(*_why(column))


def _why(column: ColumnMap) -> tuple[str, str]:
    if column.kind in _OF_OLD:
        return (
            f"{column.name} has a time in the form of old servers",
            "set mysql56_temporal_format = ON on the server, then ALTER TABLE ... FORCE",
        )
    if column.kind in _PACKED:
        return f"{column.name} is COMPRESSED", "ALTER TABLE ... MODIFY the column without COMPRESSED"
    return f"{column.name} is of the type {column.kind} of the log, which is not known", "leave the table out"


def images(readers: list[Reads], data: bytes, *, paired: bool) -> list[Image]:
    """The images of an event, one after the other; of an update the old one is in front of the new one.

    Raises:
        Malformed: they are cut off, or something follows them.
    """
    found: list[Image] = []
    count, size, at = len(readers), len(data), 0
    width = -(-count // 8)
    places = range(count)
    try:
        while at < size:
            nulls = int.from_bytes(data[at : at + width], "little")
            at += width
            image: Image = []
            append = image.append
            if nulls:
                for place in places:
                    if nulls >> place & 1:
                        append(None)
                    else:
                        text, at = readers[place](data, at)
                        append(text)
            else:
                for reads in readers:
                    text, at = reads(data, at)
                    append(text)
            found.append(image)
    except (IndexError, error, UnicodeDecodeError, OverflowError) as wrong:
        raise Malformed(f"a row cannot be read at offset {at}: {wrong}") from None
    if at != size or (paired and len(found) % 2):
        raise Malformed(f"rows end at offset {at} of {size}")
    return found


def _integer(size: int, *, signed: bool) -> Reads:
    if size == 3:
        return lambda data, at: (str(int.from_bytes(data[at : at + 3], "little", signed=signed)), at + 3)
    letters = {1: "b", 2: "h", 4: "i", 8: "q"}
    unpack = Struct("<" + (letters[size] if signed else letters[size].upper())).unpack_from
    return lambda data, at: (str(unpack(data, at)[0]), at + size)


def _decimal(precision: int, scale: int) -> Reads:
    before = precision - scale
    head, tail = before % 9, scale % 9
    whole_parts = [_DIGIT_BYTES[head]] * bool(head) + [4] * (before // 9)
    parts = [(9, 4)] * (scale // 9) + [(tail, _DIGIT_BYTES[tail])] * bool(tail)
    size = sum(whole_parts) + sum(length for _, length in parts)

    def reads(data: bytes, at: int) -> tuple[str, int]:
        end = at + size
        number = int.from_bytes(data[at:end], "big") ^ 1 << (size * 8 - 1)
        is_negative = not data[at] & 0x80
        if is_negative:
            number ^= (1 << size * 8) - 1
        raw, place = number.to_bytes(size, "big"), 0
        digits = 0
        for length in whole_parts:
            digits = digits * 10**9 + int.from_bytes(raw[place : place + length], "big")
            place += length
        text = f"-{digits}" if is_negative else str(digits)
        if scale:
            text += "."
            for count, length in parts:
                text += f"{int.from_bytes(raw[place : place + length], 'big'):0{count}d}"
                place += length
        return text, end

    return reads


def _bit(length: int) -> Reads:
    size = -(-length // 8)
    return lambda data, at: (bits(int.from_bytes(_exactly(data, at, size), "big"), length), at + size)


def _date(data: bytes, at: int) -> tuple[str, int]:
    packed = int.from_bytes(_exactly(data, at, 3), "little")
    return f"{packed >> 9:04d}-{packed >> 5 & 15:02d}-{packed & 31:02d}", at + 3


def _time(digits: int) -> Reads:
    size = (digits + 1) // 2
    shift = size * 8

    def reads(data: bytes, at: int) -> tuple[str, int]:
        # One number with its sign: the fraction of a negative time counts backwards, too.
        packed = int.from_bytes(_exactly(data, at, 3 + size), "big") - (0x800000 << shift)
        whole, behind = abs(packed) >> shift, abs(packed) & (1 << shift) - 1
        text = clock(whole >> 12 & 1023, whole >> 6 & 63, whole & 63, _micros(behind, size))
        return (f"-{text}" if packed < 0 else text), at + 3 + size

    return reads


def _datetime(digits: int) -> Reads:
    size = (digits + 1) // 2

    def reads(data: bytes, at: int) -> tuple[str, int]:
        packed = int.from_bytes(_exactly(data, at, 5), "big") - 0x8000000000
        behind = _micros(int.from_bytes(_exactly(data, at + 5, size), "big"), size)
        months, time = packed >> 22, packed & 0x1FFFF
        text = f"{months // 13:04d}-{months % 13:02d}-{packed >> 17 & 31:02d} "
        return text + clock(time >> 12, time >> 6 & 63, time & 63, behind), at + 5 + size

    return reads


def _timestamp(digits: int) -> Reads:
    size = (digits + 1) // 2

    def reads(data: bytes, at: int) -> tuple[str, int]:
        seconds = int.from_bytes(_exactly(data, at, 4), "big")
        behind = _micros(int.from_bytes(_exactly(data, at + 4, size), "big"), size)
        return moment(seconds, behind), at + 4 + size

    return reads


def _micros(behind: int, size: int) -> int:
    return behind * (1, 10_000, 100, 1)[size]


def _enum(size: int, members: list[str]) -> Reads:
    def reads(data: bytes, at: int) -> tuple[str, int]:
        number = int.from_bytes(_exactly(data, at, size), "little")
        return (members[number - 1] if number else ""), at + size

    return reads


def _set(size: int, members: list[str]) -> Reads:
    def reads(data: bytes, at: int) -> tuple[str, int]:
        chosen = int.from_bytes(_exactly(data, at, size), "little")
        return ",".join(one for bit, one in enumerate(members) if chosen >> bit & 1), at + size

    return reads


def _members(column: ColumnMap, charsets: Charsets) -> list[str]:
    decode = _text(column, charsets)
    try:
        return [decode(one) for one in column.members]
    except UnicodeDecodeError as error:
        raise Unreadable(f"a member of {column.name} is no text: {error}", "alter the column") from None


def _text(column: ColumnMap, charsets: Charsets) -> Callable[[bytes], str]:
    found = charsets.decoder(column.collation)
    if found is None:
        raise Unreadable(
            f"{column.name} has the character set {charsets.name(column.collation)}, whose signs have several bytes",
            "ALTER TABLE ... CONVERT TO CHARACTER SET utf8mb4",
        )
    return found


def _string(column: ColumnMap, fixed: str | None, charsets: Charsets) -> ColumnReader:
    is_fixed = column.kind == events.STRING
    length = column.first if is_fixed else column.first | column.second << 8
    size = 1 if length < 256 else 2
    if column.collation != BINARY:
        kind = characters(length // charsets.width(column.collation))
        return ColumnReader(kind, _sized(size, _text(column, charsets)))
    if not is_fixed:
        return ColumnReader("bytea", _sized(size, bytes_text))
    made = {"uuid": uuid_text, "inet6": address, "inet4": address}.get(fixed or "", bytes_text)
    return ColumnReader(
        "uuid" if fixed == "uuid" else "text" if fixed else "bytea",
        _sized(size, lambda raw: made(raw.ljust(length, b"\0"))),
    )


def _sized(size: int, made: Callable[[bytes], str]) -> Reads:
    if size == 1:

        def short(data: bytes, at: int) -> tuple[str, int]:
            begin = at + 1
            end = begin + data[at]
            return made(_exactly(data, begin, end - begin)), end

        return short

    def reads(data: bytes, at: int) -> tuple[str, int]:
        begin = at + size
        end = begin + int.from_bytes(_exactly(data, at, size), "little")
        return made(_exactly(data, begin, end - begin)), end

    return reads


def _exactly(data: bytes, at: int, size: int) -> bytes:
    found = data[at : at + size]
    if len(found) != size:
        raise IndexError("it is cut off")
    return found
