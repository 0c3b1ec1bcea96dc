"""A table as a trigger for DDL noted it: read of the text that the function `definition` of the source writes."""

from __future__ import annotations

from dataclasses import replace

from sluice.model.names import TableName
from sluice.vendors.oracle.capture.queue.row_images import cells
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.tables import column_of

# What a name begins with that is none of a column, and what fields are apart by.
_APART = '"'
_FIELDS = 11
# Of a longer default only the beginning is noted, of which no character is cut in two.
_LONGEST_DEFAULT = 1990
# A default that no literal is.
_UNKNOWN = "?"


def noted(relation: int, text: str) -> CapturedTable:
    """The table of a note, with defaults. Raises ValueError for what is none."""
    found = {name: value or "" for name, value in cells(text).items()}
    columns = tuple(_column(name, value) for name, value in found.items() if not name.startswith(_APART))
    keyed = [value.partition(_APART) for name, value in found.items() if name.startswith(f"{_APART}key")]
    try:
        name = TableName(found[f"{_APART}schema"], found[f"{_APART}table"])
    except KeyError as error:
        raise ValueError(f"it lacks {error}") from None
    deferrable = any(how == "DEFERRABLE" for how, _, _ in keyed)
    plain = tuple(one for one in columns if not one.virtual)
    if not plain:
        # The catalog hides them from a user that may not read the table: they did not go.
        raise ValueError("it has no columns")
    return CapturedTable(name, relation, plain, tuple(column for _, _, column in keyed), deferrable)


def _column(name: str, value: str) -> OracleColumn:
    fields = value.split(_APART, _FIELDS - 1)
    if len(fields) != _FIELDS:
        raise ValueError(f"{name} has {len(fields)} fields")
    length, precision, scale, chars, used, nullable, virtual, hidden, owner, type_, default = fields
    digits = [int(one) if one else None for one in (length, precision, scale, chars)]
    row = (name, type_, owner or None, *digits, used, nullable, virtual, hidden)
    if len(default.encode()) > _LONGEST_DEFAULT:
        default = _UNKNOWN
    return replace(column_of(row), default=default.strip() or None)
