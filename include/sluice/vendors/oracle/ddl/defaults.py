"""The value that rows of before have in a new column, as the default that the column is added with (R7).

A default is a piece of the statement, which no place of a value can be in. So a value is written only where its literal
is read as the very same value whatever the session has; all others are refused by name.

Source: SQL Language Reference, "Literals", "ALTER TABLE", "add_column_clause".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from math import isfinite
from typing import Any

import pyarrow as pa

from sluice.model.names import TableName
from sluice.vendors.oracle.names import literal
from sluice.vendors.oracle.slave_columns import Form, Stored, values_of
from sluice.vendors.oracle.slave_refusals import not_altered

# Bytes of a literal.
_LONGEST = 4000
_MOST_DIGITS = 38


def default_of(table: TableName, column: Stored, text: str) -> str:
    """A canonical text as the default of a column.

    Raises:
        SluiceError: SLC-431, the column cannot hold it; SLC-140, it cannot be written as a default.
    """
    (value,) = values_of(table, column, pa.array([text], pa.string()))
    written = _WRITTEN[column.form](column, value, text)
    if written is None or len(written.encode()) > _LONGEST:
        raise not_altered(
            table,
            f"the new column {column.column.name} has a value in rows of before that no default of a {column.type} can "
            "be, or none that is read exactly",
        )
    return written


def _text(column: Stored, value: str, text: str) -> str | None:
    # A statement is sent as text, which may have no such sign.
    return None if "\0" in value else literal(value)


def _long(column: Stored, value: Any, text: str) -> str | None:
    if not value:
        return column.empty
    return _text(column, value, text) if isinstance(value, str) else None


def _number(column: Stored, value: Any, text: str) -> str | None:
    return format(Decimal(value), "f")


def _float(column: Stored, value: float, text: str) -> str | None:
    """One that a number of few digits is exactly: nothing is rounded then."""
    if not isfinite(value) or Decimal(text) != Decimal(value):
        return None
    written = format(Decimal(text), "f")
    return f"CAST({written} AS {column.type})" if len(written) <= _MOST_DIGITS else None


def _date(column: Stored, value: Any, text: str) -> str | None:
    return f"DATE {literal(text)}"


def _timestamp(column: Stored, value: Any, text: str) -> str | None:
    return f"TIMESTAMP {literal(text)}"


def _with_zone(column: Stored, value: Any, text: str) -> str | None:
    return f"TIMESTAMP {literal(text.removesuffix('+00') + ' +00:00')}"


_WRITTEN: Mapping[Form, Callable[[Stored, Any, str], str | None]] = {
    Form.TEXT: _text,
    Form.LONG_TEXT: _long,
    Form.LONG_BYTES: _long,
    Form.BOOLEAN: _number,
    Form.INTEGER: _number,
    Form.DECIMAL: _number,
    Form.REAL: _float,
    Form.DOUBLE: _float,
    Form.DATE: _date,
    Form.TIMESTAMP: _timestamp,
    Form.TIMESTAMP_WITH_ZONE: _with_zone,
}
