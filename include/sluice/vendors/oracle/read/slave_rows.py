"""A slave's rows as of a change number, as canonical texts: the way back of `slave_columns` (R7)."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.slave_tables import SlaveTable
from sluice.vendors.oracle.names import composed, qualified, quoted
from sluice.vendors.oracle.read.rows import expressions, texts
from sluice.vendors.oracle.slave_columns import Form, Stored
from sluice.vendors.oracle.types import Captured, captured

# The type of the catalog whose values are read as those of a form are; numbers have one of their own.
_TYPES = {
    Form.TEXT: "VARCHAR2",
    Form.LONG_TEXT: "CLOB",
    Form.LONG_BYTES: "BLOB",
    Form.REAL: "BINARY_FLOAT",
    Form.DOUBLE: "BINARY_DOUBLE",
    Form.DATE: "DATE",
    Form.TIMESTAMP: "TIMESTAMP(6)",
    Form.TIMESTAMP_WITH_ZONE: "TIMESTAMP(6) WITH TIME ZONE",
}
_MIDNIGHT = " 00:00:00"


def selecting(table: SlaveTable) -> str:
    """The query of a slave's rows: each column as its text, and behind them which large objects are empty."""
    columns = selected([f"held.{quoted(one.column.name)}" for one in table.columns], table.columns)
    return composed("compare/rows", columns=columns, table=qualified(table.name))


def selected(values: Sequence[str], columns: Sequence[Stored]) -> str:
    """What a query has for columns.

    Args:
        values: the expressions that give their values.
    """
    return expressions(values, [_read_as(one) for one in columns], {})


def canonical_texts(columns: Sequence[Stored], rows: pa.Table) -> list[pa.Array]:
    """The canonical texts of each column, from what such a query gave."""
    found = texts(rows, [_read_as(one) for one in columns])
    return [_as_on_master(one.form, values) for one, values in zip(columns, found, strict=True)]


def _read_as(one: Stored) -> Captured:
    name = one.column.name
    if one.form in (Form.BOOLEAN, Form.INTEGER, Form.DECIMAL):
        precision, scale = one.digits
        there = OracleColumn(name, "NUMBER", precision=precision, scale=scale)
    else:
        there = OracleColumn(name, _TYPES[one.form])
    how = captured(there)
    assert isinstance(how, Captured)
    return how


def _as_on_master(form: Form, values: pa.Array) -> pa.Array:
    if form is Form.BOOLEAN:
        # A number that no boolean has stays one, and differs.
        known = pc.replace_substring_regex(values, "^1$", "t")
        return pc.replace_substring_regex(known, "^0$", "f")
    # A DATE has a time, which is midnight for what we write.
    return pc.replace_substring_regex(values, f"{_MIDNIGHT}( BC)?$", r"\1") if form is Form.DATE else values
