"""Commands of the stream, made of how a table was in front of a command and is behind it (R7).

One command of Oracle drops columns, renames one, or adds and modifies some, and never two of these: so the names in
front and behind tell which one it was. The values that rows have behind it are known, or the command is not carried.

Source: SQL Language Reference, "ALTER TABLE", "drop_column_clause", "rename_column_clause", "modify_column_clauses";
"Data Types", "FLOAT Data Type".
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from sluice.vendors import table_commands
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.recorded import layout_of
from sluice.vendors.oracle.types import Captured, Form
from sluice.vendors.oracle.values import canonical

_RENAMES = re.compile(r"\brename\s+column\b", re.IGNORECASE)
_TEXT = re.compile(r"'((?:[^']|'')*)'")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
_DATE = re.compile(r"DATE\s*'(\d{4}-\d\d-\d\d)'", re.ASCII | re.IGNORECASE)
_TIMESTAMP = re.compile(r"TIMESTAMP\((\d)\)(.*)")
_TEXTS = ("VARCHAR2", "NVARCHAR2", "CLOB", "NCLOB")
# Values keep their texts where a column of the first type becomes one of the second, however long.
_KEPT = {
    ("VARCHAR2", "VARCHAR2"),
    ("NVARCHAR2", "NVARCHAR2"),
    ("RAW", "RAW"),
    ("NCHAR", "NVARCHAR2"),
    ("LONG", "CLOB"),
    ("LONG", "NCLOB"),
    ("LONG RAW", "BLOB"),
}
_NUMBERS = ("NUMBER", "FLOAT")
_MOST_DIGITS = 38


class NotCarried(Exception):
    """Why the rows of a table are not known behind a command."""


def altered(before: CapturedTable, after: CapturedTable, statement: str | None) -> str:
    """The text of an ALTER.

    Args:
        after: with the defaults of its columns.
        statement: as somebody typed it; it only tells which kind of command it was.

    Raises:
        NotCarried: values that rows have behind it are not known.
        SluiceError: SLC-477, it cannot be replicated behind it.
    """
    front, behind = layout_of(before), layout_of(after)
    known = {one.name: one for one in before.columns}
    renamed = _renamed(before, after, statement)
    was = [renamed.get(one.name, one.name if one.name in known else None) for one in after.columns]
    for name, one in zip(was, after.columns, strict=True):
        if name is not None and not _is_kept(known[name], one):
            raise NotCarried(f"values of {one.name} became {one.declared}, of which their texts are not known")
    filled = [
        _filled(one, how) if name is None else None
        for name, one, how in zip(was, after.columns, after.kinds, strict=True)
    ]
    return table_commands.alter(front, behind, was, filled)


def plain(table: CapturedTable) -> CapturedTable:
    """A table as the catalog is compared: without defaults."""
    return replace(table, columns=tuple(replace(one, default=None) for one in table.columns))


def only_drops(before: CapturedTable, after: CapturedTable) -> bool:
    """Whether a table lacks some of its columns, and is as it was otherwise."""
    left = {one.name for one in after.columns}
    kept = replace(before, columns=tuple(one for one in before.columns if one.name in left))
    return bool(left) and kept == plain(after) != before


def _renamed(before: CapturedTable, after: CapturedTable, statement: str | None) -> dict[str, str]:
    """The former names by the new ones."""
    front, behind = ([one.name for one in side.columns] for side in (before, after))
    gone, new = ([name for name in one if name not in other] for one, other in ((front, behind), (behind, front)))
    if not (gone and new):
        return {}
    places = [at for at, (one, other) in enumerate(zip(front, behind, strict=False)) if one != other]
    if len(front) == len(behind) and len(places) == 1 and _RENAMES.search(statement or ""):
        (at,) = places
        if replace(before.columns[at], name=behind[at]) == replace(after.columns[at], default=None):
            return {behind[at]: front[at]}
    raise NotCarried(f"{', '.join(gone)} went and {', '.join(new)} came, in commands of which not each was noted")


def _is_kept(one: OracleColumn, other: OracleColumn) -> bool:
    if (one.type, one.scale, one.length, one.chars) == (other.type, other.scale, other.length, other.chars):
        return one.precision == other.precision or one.type in _NUMBERS
    if one.type in _NUMBERS and other.type in _NUMBERS:
        # Fewer digits behind the point are another text, and so are more of them than the column has by now.
        return (one.scale or 0) <= 0 if other.scale is None else one.scale is not None and one.scale <= other.scale
    if (one.type, other.type) in _KEPT:
        return True
    former, later = _TIMESTAMP.fullmatch(one.type), _TIMESTAMP.fullmatch(other.type)
    if later is None:
        return False
    if one.type == "DATE":
        return not later[2]
    return former is not None and former[2] == later[2] and former[1] <= later[1]


def _filled(column: OracleColumn, how: Captured) -> str | None:
    """The value of a new column in rows that are there; None if it is NULL."""
    default = column.default
    if default is None or default.upper() in ("NULL", "''"):
        return None
    try:
        if how.form is Form.NUMBER and _NUMBER.fullmatch(default):
            return canonical(how)(_exact(column, Decimal(default)))
        if column.type in _TEXTS and (text := _TEXT.fullmatch(default)):
            return text[1].replace("''", "'")
        if column.type == "DATE" and (day := _DATE.fullmatch(default)):
            return canonical(how)(f"{day[1]} 00:00:00")
    except ValueError as error:
        raise NotCarried(f"the default of {column.name} is none of its values: {error}") from None
    raise NotCarried(f"the value of {column.name} in rows that are there is computed from {default}")


def _exact(column: OracleColumn, number: Decimal) -> str:
    whole, _, behind = format(number, "f").partition(".")
    behind = behind.rstrip("0")
    scale = column.scale
    if scale is not None and (len(behind) > max(scale, 0) or (number and not whole.endswith("0" * -min(scale, 0)))):
        raise ValueError(f"it has more digits than {column.declared}")
    if len((whole + behind).strip("-0")) > _digits(column):
        raise ValueError(f"the server rounds it as a {column.declared}")
    return f"{whole}.{behind}" if behind else whole


def _digits(column: OracleColumn) -> int:
    """How many digits are kept for certain. A FLOAT counts those of base 2."""
    return int(column.precision * 0.30103) if column.type == "FLOAT" and column.precision else _MOST_DIGITS
