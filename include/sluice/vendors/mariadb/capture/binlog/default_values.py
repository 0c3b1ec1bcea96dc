"""The value that a default gives to rows that are there already, in canonical form; None where that is not certain.

Source: MariaDB Knowledge Base, "ALTER TABLE", "Numeric Data Type Overview", "Date and Time Literals".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np

from sluice.vendors.mariadb.master_types import INTEGERS, MasterColumn, bits, clock, float_of, real_of

TEXTS = {"tinytext", "text", "mediumtext", "longtext"}
REALS = ("float", "double")
_WHOLE = re.compile(r"-?\d{1,20}")
_DECIMAL = re.compile(r"-?\d{1,65}(?:\.(\d{1,65}))?")
_REAL = re.compile(r"-?\d{1,15}(?:\.(\d{1,15}))?([eE][+-]?\d)?")
_BITS = re.compile(r"[01]{1,63}")
_YEAR = re.compile(r"19[1-9]\d|20\d\d")
_FRACTION = r"(?:\.(\d{1,6}))?"
_TIME = re.compile(r"\d\d:[0-5]\d:[0-5]\d" + _FRACTION)
_DATE = re.compile(r"[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
_DATETIME = re.compile(_DATE.pattern + r" [0-2]\d:[0-5]\d:[0-5]\d" + _FRACTION)
_EXACT = Context(prec=140)


def implied(column: MasterColumn, members: Sequence[str]) -> str | None:
    """The value in a column that may not be NULL and has no default."""
    kind = column.kind
    if kind in INTEGERS or kind in REALS or kind == "year":
        return "0"
    if kind == "decimal":
        return f"{0:.{column.scale}f}"
    if kind == "bit":
        return bits(0, column.precision)
    if kind == "time":
        return clock(0, 0, 0, 0)
    if kind == "enum":
        return members[0]
    return "" if kind in ("char", "varchar", "set", *TEXTS) else None


def of_text(text: str, column: MasterColumn, members: Sequence[str]) -> str | None:
    """The value that a text is in a column."""
    kind = column.kind
    if "\\" in text or not text.isascii():
        return None
    if kind in ("char", "varchar", "json", *TEXTS):
        return text.rstrip(" ") if kind == "char" else text
    if kind == "enum":
        said = text.rstrip(" ")
        return said if said in members else None
    if kind == "set":
        chosen = text.split(",") if text else []
        return text if chosen == [one for one in members if one in chosen] else None
    if kind in ("date", "datetime") and _DATE.fullmatch(text):
        return text if kind == "date" else f"{text} {clock(0, 0, 0, 0)}"
    if kind in ("datetime", "time"):
        found = (_TIME if kind == "time" else _DATETIME).fullmatch(text)
        if found is None or len(found[1] or "") > column.digits:
            return None
        return text.rstrip("0").rstrip(".") if found[1] else text
    return of_number(text, column, is_text=True)


def of_number(number: str, column: MasterColumn, *, is_text: bool = False) -> str | None:
    """The value that a number is in a column.

    Args:
        is_text: it is written as a text, which is not rounded, and keeps the sign of a zero.
    """
    kind = column.kind
    if kind == "year":
        return number if _YEAR.fullmatch(number) else None
    if kind == "bit":
        return of_bits(f"{int(number):b}", column) if _WHOLE.fullmatch(number) and not is_text else None
    if kind in REALS:
        found = _REAL.fullmatch(number)
        if found is None or (column.scale and (found[2] or len(found[1] or "") > column.scale)):
            return None
        if not float(number):
            return None if is_text and number[0] == "-" else "0"
        return real_of(np.float32(float(number))) if kind == "float" else float_of(float(number))
    if kind not in INTEGERS and kind != "decimal":
        return None
    scale = column.scale if kind == "decimal" else 0
    found = _DECIMAL.fullmatch(number)
    if found is None or (is_text and len(found[1] or "") > scale) or (is_text and kind != "decimal" and found[1]):
        return None
    rounded = Decimal(number).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, _EXACT)
    return f"{rounded or rounded.copy_abs():f}"


def of_bits(text: str, column: MasterColumn) -> str | None:
    """The value that the bits of a literal are in a column."""
    if not _BITS.fullmatch(text) or not (column.kind == "bit" or column.kind in INTEGERS):
        return None
    return bits(int(text, 2), column.precision) if column.kind == "bit" else str(int(text, 2))
