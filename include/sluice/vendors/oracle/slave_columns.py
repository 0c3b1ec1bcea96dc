"""Logical types as columns of a slave on Oracle, and canonical texts as values to bind (R7).

A column has a type of its own where every ordinary value has one exact counterpart. A value that such a column cannot
hold is refused by name: -0, infinity of a moment, years before 1 or beyond 9999, days that the calendar of Oracle
leaves out, and the empty text, which is NULL in a VARCHAR2. Every other type is a CLOB with the canonical text, as is a
column that somebody made so beforehand: that takes every value, since an empty CLOB is not NULL.

Source: SQL Language Reference, "Data Types"; python-oracledb's manual, "Supported Oracle Database Data Types".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

import oracledb
import pyarrow as pa
import pyarrow.compute as pc

from sluice.errors import SluiceError, shown_value
from sluice.model.layout import Column
from sluice.model.logical_type import Kind, LogicalType, logical_type
from sluice.model.names import TableName
from sluice.vendors.oracle.catalog.columns import OracleColumn

CLOB = "CLOB"
# Of 4,000 bytes, and a character of AL32UTF8 has four at most.
_LONGEST = 1000
_MOST_DIGITS = 38
_INTEGERS = {16: 5, 32: 10, 64: 19}
_DAY = r"(000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d{3})-\d\d-\d\d"
_CLOCK = r"\d\d:\d\d:\d\d(\.\d+)?"
# The calendar goes on with the 15th after the 4th.
_LEFT_OUT = r"^1582-10-(0[5-9]|1[0-4])"


class Form(StrEnum):
    """How values stand in a column."""

    TEXT = "text"
    LONG_TEXT = "long text"
    LONG_BYTES = "long bytes"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    REAL = "real"
    DOUBLE = "double"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_WITH_ZONE = "timestamp with zone"


NUMBERS = (Form.INTEGER, Form.DECIMAL)
_FLOAT = r"^(-?\d*[1-9]\d*(\.\d+)?|-?0\.\d*[1-9]\d*|0|-?\d+(\.\d+)?e[+-]\d+|NaN|-?Infinity)$"
# The texts that a column of a form can hold; those of the others it holds all.
_FITTING: Mapping[Form, str] = {
    Form.TEXT: r"(?s)^.+$",
    Form.INTEGER: r"^-?\d+$",
    Form.DECIMAL: r"^-?\d+(\.\d+)?$",
    Form.REAL: _FLOAT,
    Form.DOUBLE: _FLOAT,
    Form.DATE: rf"^{_DAY}$",
    Form.TIMESTAMP: rf"^{_DAY} {_CLOCK}$",
    Form.TIMESTAMP_WITH_ZONE: rf"^{_DAY} {_CLOCK}\+00$",
}
# What the driver is told of the values of a column. A large object is sent as one long piece, in the row itself.
_BOUND: Mapping[Form, Any] = {
    Form.TEXT: oracledb.DB_TYPE_VARCHAR,
    Form.LONG_TEXT: oracledb.DB_TYPE_LONG,
    Form.LONG_BYTES: oracledb.DB_TYPE_LONG_RAW,
    Form.BOOLEAN: oracledb.DB_TYPE_NUMBER,
    Form.INTEGER: oracledb.DB_TYPE_NUMBER,
    Form.DECIMAL: oracledb.DB_TYPE_NUMBER,
    Form.REAL: oracledb.DB_TYPE_BINARY_FLOAT,
    Form.DOUBLE: oracledb.DB_TYPE_BINARY_DOUBLE,
    Form.DATE: oracledb.DB_TYPE_TIMESTAMP,
    Form.TIMESTAMP: oracledb.DB_TYPE_TIMESTAMP,
    Form.TIMESTAMP_WITH_ZONE: oracledb.DB_TYPE_TIMESTAMP,
}


@dataclass(frozen=True)
class Stored:
    """A column as a slave stores it.

    Attributes:
        type: as `OracleColumn.declared` writes it, and a statement that makes a table.
    """

    column: Column
    type: str
    form: Form

    @property
    def as_text(self) -> Stored:
        """The same in a column that takes every text."""
        return Stored(self.column, CLOB, Form.LONG_TEXT)

    @property
    def is_long(self) -> bool:
        """Whether it is a large object, which has an empty value that is not NULL."""
        return self.form in (Form.LONG_TEXT, Form.LONG_BYTES)

    @property
    def bound(self) -> Any:
        """The driver's type of its values."""
        return _BOUND[self.form]

    def taken(self, bind: str) -> str:
        """The expression that takes the value of a place of a statement."""
        if self.form is Form.TIMESTAMP_WITH_ZONE:
            return f"FROM_TZ({bind}, '+00:00')"
        return f"CAST({bind} AS DATE)" if self.form is Form.DATE else bind

    @property
    def digits(self) -> tuple[int, int]:
        """Of a NUMBER, its digits and how many of them are behind the point."""
        precision, scale = _sizes(self.type)
        return precision, scale

    @property
    def empty(self) -> str:
        """The empty large object."""
        return "EMPTY_CLOB()" if self.form is Form.LONG_TEXT else "EMPTY_BLOB()"

    @property
    def compared(self) -> Any:
        """The driver's type of a value that one of the column is compared with."""
        if not self.is_long:
            return self.bound
        return oracledb.DB_TYPE_CLOB if self.form is Form.LONG_TEXT else oracledb.DB_TYPE_BLOB

    def holds(self, there: OracleColumn) -> bool:
        """Whether an existing column takes the same values in the same way: of this type, or of more room."""
        return self.holds_as(there.declared)

    def holds_as(self, declared: str) -> bool:
        """The same of a type as `OracleColumn.declared` writes it."""
        if declared == self.type:
            return True
        if self.form is Form.TEXT:
            return _is_text(declared) and _sizes(declared) >= _sizes(self.type)
        if self.form in NUMBERS and (number := sizes_of_number(declared)):
            digits, scale = _sizes(self.type)
            return number[1] == scale and number[0] >= digits
        return False

    def widens(self, declared: str, form: Form) -> bool:
        """Whether a column of an existing type becomes one of this one without a change of any value.

        Args:
            form: how values stand there.
        """
        if self.form is Form.TEXT and form is Form.TEXT:
            return _is_text(declared) and _sizes(self.type) >= _sizes(declared)
        if self.form in NUMBERS and form in NUMBERS and (number := sizes_of_number(declared)):
            digits, scale = _sizes(self.type)
            return scale >= number[1] and digits - scale >= number[0] - number[1]
        return False


def stored(column: Column, *, key: bool) -> Stored | None:
    """The column that a slave makes for one of the master's; None for a key that no index takes."""
    type_, form = _stored(logical_type(column.type))
    made = Stored(column, type_, form)
    # An index takes neither large objects nor, in a primary key, moments with a zone.
    return None if key and (made.is_long or form is Form.TIMESTAMP_WITH_ZONE) else made


def _stored(kind: LogicalType) -> tuple[str, Form]:
    size, scale = kind.size or 0, kind.scale or 0
    match kind.kind:
        case Kind.BOOLEAN:
            return "NUMBER(1,0)", Form.BOOLEAN
        case Kind.INTEGER:
            return f"NUMBER({_INTEGERS[size]},0)", Form.INTEGER
        case Kind.DECIMAL if 0 < size <= _MOST_DIGITS and 0 <= scale <= size:
            return f"NUMBER({size},{scale})", Form.DECIMAL
        case Kind.FLOAT:
            return ("BINARY_FLOAT", Form.REAL) if size == 32 else ("BINARY_DOUBLE", Form.DOUBLE)
        case Kind.TEXT | Kind.BIT if 0 < size <= _LONGEST:
            return f"VARCHAR2({size} CHAR)", Form.TEXT
        case Kind.BYTES:
            return "BLOB", Form.LONG_BYTES
        case Kind.DATE:
            return "DATE", Form.DATE
        case Kind.TIME:
            # There is no type for a time of the day.
            return "VARCHAR2(15 CHAR)", Form.TEXT
        case Kind.TIMESTAMP:
            return "TIMESTAMP(6)", Form.TIMESTAMP
        case Kind.TIMESTAMP_WITH_ZONE:
            return "TIMESTAMP(6) WITH TIME ZONE", Form.TIMESTAMP_WITH_ZONE
        case Kind.UUID:
            return "VARCHAR2(36 CHAR)", Form.TEXT
    return CLOB, Form.LONG_TEXT


def values_of(table: TableName, one: Stored, texts: pa.Array) -> list[Any]:
    """Canonical texts as values to bind; an empty large object is an empty text or no bytes.

    Raises:
        SluiceError: SLC-431, a value that the column cannot hold.
    """
    whole = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    _expect_fitting(table, one, whole)
    values: list[Any] = _VALUES[one.form](whole)
    return values


def _booleans(texts: pa.Array) -> list[int | None]:
    return [None if text is None else int(text == "t") for text in texts.to_pylist()]


def _decimals(texts: pa.Array) -> list[Decimal | None]:
    return [None if text is None else Decimal(text) for text in texts.to_pylist()]


def _bytes(texts: pa.Array) -> list[bytes | None]:
    return [None if text is None else bytes.fromhex(text[2:]) for text in texts.to_pylist()]


def _moments(texts: pa.Array) -> list[Any]:
    plain = pc.replace_substring_regex(texts, r"\+00$", "")
    return list(plain.cast(pa.timestamp("us")).to_pylist())


def _cast(kind: pa.DataType) -> Callable[[pa.Array], list[Any]]:
    return lambda texts: list(texts.cast(kind).to_pylist())


_VALUES: Mapping[Form, Callable[[pa.Array], list[Any]]] = {
    Form.TEXT: pa.Array.to_pylist,
    Form.LONG_TEXT: pa.Array.to_pylist,
    Form.LONG_BYTES: _bytes,
    Form.BOOLEAN: _booleans,
    Form.INTEGER: _cast(pa.int64()),
    Form.DECIMAL: _decimals,
    # A text of a real is rounded once, and not by way of a double.
    Form.REAL: _cast(pa.float32()),
    Form.DOUBLE: _cast(pa.float64()),
    Form.DATE: _moments,
    Form.TIMESTAMP: _moments,
    Form.TIMESTAMP_WITH_ZONE: _moments,
}


def sizes_of_number(declared: str) -> tuple[int, int] | None:
    """The digits of a NUMBER that has some, and how many of them are behind the point."""
    found = re.fullmatch(r"NUMBER\((\d+),(-?\d+)\)", declared)
    return (int(found[1]), int(found[2])) if found else None


def _is_text(declared: str) -> bool:
    return re.fullmatch(r"VARCHAR2\(\d+ CHAR\)", declared) is not None


def _sizes(type_: str) -> tuple[int, ...]:
    inner = type_.partition("(")[2].partition(")")[0].removesuffix(" CHAR")
    return tuple(int(one) for one in inner.split(","))


def _expect_fitting(table: TableName, one: Stored, texts: pa.Array) -> None:
    pattern = _FITTING.get(one.form)
    if pattern is None:
        return
    fitting = pc.fill_null(pc.match_substring_regex(texts, pattern), True)
    if one.form in (Form.DATE, Form.TIMESTAMP, Form.TIMESTAMP_WITH_ZONE):
        left_out = pc.fill_null(pc.match_substring_regex(texts, _LEFT_OUT), False)
        fitting = pc.and_(fitting, pc.invert(left_out))
    place = pc.index(fitting, False).as_py()
    if place >= 0:
        text = texts[place].as_py()
        shown = f"cannot hold {shown_value(text)}" if text else "has NULL for the empty text"
        raise SluiceError(
            431,
            f"the column {one.column.name} of {table} is a {one.type}, and {shown}",
            "nothing of it was written; make the column a CLOB, which holds every value as its text and tells '' from "
            "NULL, and fill the table by initial_update; or let the slave get another value (`compute`), or leave the "
            "column out (`exclude_columns`)",
        )
