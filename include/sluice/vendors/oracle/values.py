"""Values as an image or a query gives them, in the canonical text of the log (R7)."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from decimal import Decimal

import numpy as np

from sluice.values.float_text import float_text
from sluice.vendors.oracle.types import Captured, Form

_PLAIN = re.compile(r"-?[1-9]\d*|0", re.ASCII)
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:E[+-]?\d+)?", re.ASCII)
_MONTHS = re.compile(r"-?\d+", re.ASCII)
_SECONDS = re.compile(r"(-?\d+) (-?(?:\d+\.?\d*|\.\d+))", re.ASCII)
# What a NUMBER that another version of the server wrote may be (SQL Language Reference, "NUMBER Data Type").
_INFINITE = {"~": "Infinity", "-~": "-Infinity"}
_MOMENT = re.compile(r"\s*(-?)(\d{4,5})-(\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?")
_SECONDS_A_DAY = 86_400


def canonical(how: Captured) -> Callable[[str], str]:
    """What makes the canonical text of a column's values; NULL is none of them. It raises ValueError for what is no
    value, and nothing else.
    """
    return _FORMS[how.form](how)


def as_text(value: object) -> str:
    """What the driver gave, as a text of which `canonical` makes the log's."""
    return f"\\x{value.hex()}" if isinstance(value, bytes) else str(value)


def _number(how: Captured) -> Callable[[str], str]:
    scale = how.scale

    def text(value: str) -> str:
        if not scale and _PLAIN.fullmatch(value):
            return value
        if value in _INFINITE:
            return _INFINITE[value]
        if not _NUMBER.fullmatch(value):
            raise ValueError(f"{value!r} is no number")
        written = format(Decimal(value), "f")
        if scale is None or scale == 0:
            return written if written != "-0" else "0"
        whole, _, behind = written.partition(".")
        if len(behind) > scale:
            raise ValueError(f"{value} has more than {scale} digits behind the point")
        return f"{whole}.{behind.ljust(scale, '0')}"

    return text


def _bits(how: Captured) -> Callable[[str], str]:
    bits, code = (64, ">d") if how.type == "double precision" else (32, ">f")

    def text(value: str) -> str:
        if len(value) != bits // 4:
            raise ValueError(f"{value!r} has not {bits} bits")
        (number,) = struct.unpack(code, bytes.fromhex(value))
        if number != number:
            return "NaN"
        if number in (float("inf"), float("-inf")):
            return "Infinity" if number > 0 else "-Infinity"
        return float_text(repr(number) if bits == 64 else str(np.float32(number)), bits)

    return text


def _moment(how: Captured) -> Callable[[str], str]:
    zone = "+00" if how.form is Form.MOMENT_IN_UTC else ""

    def text(value: str) -> str:
        found = _MOMENT.fullmatch(value)
        if found is None:
            raise ValueError(f"{value!r} is no moment")
        sign, year, day, clock, fraction = found.groups()
        fraction = (fraction or "").rstrip("0")
        return f"{year}-{day} {clock}{fraction and '.' + fraction}{zone}{' BC' if sign else ''}"

    return text


def _months(how: Captured) -> Callable[[str], str]:
    def text(value: str) -> str:
        if not _MONTHS.fullmatch(value):
            raise ValueError(f"{value!r} is no number of months")
        months = int(value)
        years, rest = divmod(abs(months), 12)
        sign = -1 if months < 0 else 1
        parts = [_counted(sign * years, "year"), _counted(sign * rest, "mon")]
        return " ".join(filter(None, parts)) or "00:00:00"

    return text


def _seconds(how: Captured) -> Callable[[str], str]:
    def text(value: str) -> str:
        found = _SECONDS.fullmatch(value)
        if found is None or abs(amount := Decimal(found[2])) >= _SECONDS_A_DAY:
            raise ValueError(f"{value!r} is no interval of days and seconds")
        whole, fraction = divmod(abs(amount), 1)
        clock = ""
        if amount:
            minutes, second = divmod(int(whole), 60)
            hours, minute = divmod(minutes, 60)
            behind = format(fraction, "f").partition(".")[2].rstrip("0")
            sign = "-" if amount < 0 else ""
            clock = f"{sign}{hours:02d}:{minute:02d}:{second:02d}{behind and '.' + behind}"
        return " ".join(filter(None, [_counted(int(found[1]), "day"), clock])) or "00:00:00"

    return text


def _counted(number: int, unit: str) -> str:
    if number == 0:
        return ""
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _same(how: Captured) -> Callable[[str], str]:
    return str


_FORMS: dict[Form, Callable[[Captured], Callable[[str], str]]] = {
    Form.TEXT: _same,
    Form.BYTES: _same,
    Form.LONG: _same,
    Form.LONG_RAW: _same,
    Form.NUMBER: _number,
    Form.BITS: _bits,
    Form.MOMENT: _moment,
    Form.MOMENT_IN_UTC: _moment,
    Form.MONTHS: _months,
    Form.SECONDS: _seconds,
}
