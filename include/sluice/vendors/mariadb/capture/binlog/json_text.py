"""The text of a MySQL document (JSON), which is in rows of the log in binary form: as a SELECT prints it.

Source: MySQL's `sql-common/json_binary.h`; for numbers `my_gcvt` in `strings/dtoa.cc`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from struct import Struct

# Reads a value at an offset; the text, and where the next one begins.
Reads = Callable[[bytes, int], tuple[str, int]]

_LITERALS = {0: "null", 1: "true", 2: "false"}
_NUMBERS = {5: Struct("<h"), 6: Struct("<H"), 7: Struct("<i"), 8: Struct("<I"), 9: Struct("<q"), 10: Struct("<Q")}
_DOUBLE = Struct("<d")
_OBJECT, _ARRAY, _LITERAL, _REAL, _STRING, _OPAQUE = {0, 1}, {2, 3}, 4, 11, 12, 15
# Kinds whose values have offsets of four bytes, in place of two.
_LARGE = {1, 3}
# Values that are in the place of their offset, if they fit.
_INLINED, _INLINED_LARGE = {4, 5, 6}, {4, 5, 6, 7, 8}
# Types of columns that a value may have kept.
_TIMESTAMP, _DATE, _TIME, _DATETIME, _DECIMAL = 7, 10, 11, 12, 246
# From there on a number is printed with an exponent, unless it has more digits.
_MOST_DIGITS = 15
_DEEPEST = 100
# Bytes in a line of base64, which has 76 signs.
_LINE = 57
# Signs that JSON allows to be written as they are.
_WRITTEN = json.JSONEncoder(ensure_ascii=False).encode


def text(raw: bytes, decimal: Callable[[int, int], Reads]) -> str:
    """The text of a document.

    Args:
        decimal: reads a DECIMAL of so many digits, of which so many are behind the point.

    Raises:
        IndexError, struct.error, ValueError: it is none.
    """
    if not raw:
        # So the server keeps NULL that was not refused.
        return "null"
    # Parts of it are looked at, and not copied: each one begins an inner document of its own.
    return _value(raw[0], memoryview(raw), 1, decimal, 0)


def _value(kind: int, data: memoryview, at: int, decimal: Callable[[int, int], Reads], depth: int) -> str:
    if kind in _OBJECT | _ARRAY:
        return _container(kind, data[at:], decimal, depth + 1)
    if kind == _LITERAL:
        return _LITERALS.get(data[at], "null")
    if kind in _NUMBERS:
        return str(_NUMBERS[kind].unpack_from(data, at)[0])
    if kind == _REAL:
        return number(_DOUBLE.unpack_from(data, at)[0])
    if kind == _STRING:
        size, begin = _size(data, at)
        return quoted(_exactly(data, begin, size).decode())
    if kind == _OPAQUE:
        size, begin = _size(data, at + 1)
        return _opaque(data[at], _exactly(data, begin, size), decimal)
    raise ValueError(f"a document has a value of the kind {kind}, which is not known")


def _container(kind: int, data: memoryview, decimal: Callable[[int, int], Reads], depth: int) -> str:
    if depth > _DEEPEST:
        raise ValueError("a document is too deep")
    wide = 4 if kind in _LARGE else 2
    inlined = _INLINED_LARGE if kind in _LARGE else _INLINED
    count, is_object = _number(data, 0, wide), kind in _OBJECT
    entries = 2 * wide + (count * (wide + 2) if is_object else 0)
    found = []
    for place in range(count):
        entry = entries + place * (wide + 1)
        inner = data[entry]
        at = entry + 1 if inner in inlined else _number(data, entry + 1, wide)
        shown = _value(inner, data, at, decimal, depth)
        if is_object:
            key = 2 * wide + place * (wide + 2)
            name = _exactly(data, _number(data, key, wide), _number(data, key + wide, 2))
            shown = f"{quoted(name.decode())}: {shown}"
        found.append(shown)
    joined = ", ".join(found)
    return f"{{{joined}}}" if is_object else f"[{joined}]"


def _opaque(kind: int, raw: bytes, decimal: Callable[[int, int], Reads]) -> str:
    if kind == _DECIMAL:
        return decimal(raw[0], raw[1])(raw, 2)[0]
    if kind in (_TIMESTAMP, _DATE, _TIME, _DATETIME):
        return f'"{_moment(kind, int.from_bytes(_exactly(memoryview(raw), 0, 8), "little", signed=True))}"'
    # The server breaks lines, as a mail does, but for the end of the last one; within a text that is an escape.
    lines = r"\n".join(base64.b64encode(raw[at : at + _LINE]).decode() for at in range(0, len(raw), _LINE))
    return f'"base64:type{kind}:{lines}"'


def _moment(kind: int, packed: int) -> str:
    """A date or a time, of which six digits behind the seconds are printed."""
    sign, packed = ("-", -packed) if packed < 0 else ("", packed)
    whole, micros = packed >> 24, packed & 0xFFFFFF
    clock = f"{whole >> 6 & 63:02d}:{whole & 63:02d}.{micros:06d}"
    if kind == _TIME:
        return f"{sign}{whole >> 12 & 1023:02d}:{clock}"
    days = whole >> 17
    date = f"{(days >> 5) // 13:04d}-{(days >> 5) % 13:02d}-{days & 31:02d}"
    return date if kind == _DATE else f"{date} {whole >> 12 & 31:02d}:{clock}"


def number(value: float) -> str:
    """A number of 64 bits, as the server prints it: the fewest digits that tell it."""
    mantissa, _, exponent = f"{value!r}e0".partition("e")
    sign, mantissa = ("-", mantissa[1:]) if mantissa[0] == "-" else ("", mantissa)
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    # Where the point is, counted from the first digit that is not 0.
    point = len(whole) + int(exponent.partition("e")[0]) - (len(whole + part) - len(digits))
    digits = digits.rstrip("0")
    if not digits:
        return f"{sign}0.0"
    count = len(digits)
    if point <= -_MOST_DIGITS or (point > _MOST_DIGITS and count <= point):
        shown = digits[0] + (f".{digits[1:]}" if count > 1 else "")
        return f"{sign}{shown}e{point - 1}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"


def quoted(value: str) -> str:
    """A text in quotes."""
    return _WRITTEN(value)


def _size(data: memoryview, at: int) -> tuple[int, int]:
    """How long a text is, in up to five bytes; and where it begins."""
    size = 0
    for place in range(5):
        byte = data[at + place]
        size |= (byte & 0x7F) << 7 * place
        if not byte & 0x80:
            return size, at + place + 1
    raise ValueError("a document has a length without an end")


def _number(data: memoryview, at: int, size: int) -> int:
    return int.from_bytes(_exactly(data, at, size), "little")


def _exactly(data: memoryview, at: int, size: int) -> bytes:
    found = data[at : at + size]
    if len(found) != size:
        raise IndexError("it is cut off")
    return bytes(found)
