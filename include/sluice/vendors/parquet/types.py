"""Rows as typed columns: exactly what the master's texts say, or the texts themselves (R7).

A column has a type of its own where every ordinary value of its declared type has one exact counterpart. What such a
column cannot hold (infinity, NaN of a numeric, years before 1 or beyond 9999) is NULL there and stands as a text in the
column `sluice_text`. Everything else is a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

from sluice.errors import SluiceError
from sluice.model.layout import Column
from sluice.model.logical_type import Kind, logical_type
from sluice.model.names import TableName

# What begins the names of columns that are no column of the master.
OURS = "sluice_"
TEXT = "sluice_text"
TEXTS = pa.map_(pa.string(), pa.string())

_INTEGERS = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
_FLOATS = {32: pa.float32(), 64: pa.float64()}
_PLAIN = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.BYTES: pa.binary(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
    Kind.TIMESTAMP_WITH_ZONE: pa.timestamp("us", "UTC"),
}
# Their texts have as many digits of a second as there are.
_TIMED = (Kind.TIME, Kind.TIME_WITH_ZONE, Kind.TIMESTAMP, Kind.TIMESTAMP_WITH_ZONE, Kind.INTERVAL)
_MOST_DIGITS_OF_A_SECOND = 6
_MOST_DIGITS = 38
_DAY = r"^\d{4}-\d\d-\d\d"
_TIME = r" \d\d:\d\d:\d\d(\.\d+)?"


@cache
def kept_as(declared: str) -> pa.DataType:
    """The type of a column whose type the log calls so."""
    kind = logical_type(declared)
    if kind.kind is Kind.INTEGER:
        return _INTEGERS[kind.size or 0]
    if kind.kind is Kind.FLOAT:
        return _FLOATS[kind.size or 0]
    if kind.kind is Kind.DECIMAL and kind.size and (kind.scale or 0) <= kind.size <= _MOST_DIGITS:
        return pa.decimal128(kind.size, kind.scale)
    return _PLAIN.get(kind.kind, pa.string())


def keeps(before: str, after: str) -> bool:
    """Whether what the master prints of each value stays the same when its column gets another type.

    Where it does not, every row comes again; but not of a table of which no updates are captured.
    """
    if before == after or {before, after} == {"text", "character varying"}:
        return True
    ours, theirs = logical_type(before), logical_type(after)
    if ours.kind in _TIMED and ours.kind is theirs.kind and not (ours.native or theirs.native):
        most = _MOST_DIGITS_OF_A_SECOND if theirs.size is None else theirs.size
        return ours.size is not None and most >= ours.size
    # Who made a type may call it otherwise.
    made = all("." in kind for kind in (before, after))
    bounded = {one.scale for one in (ours, theirs) if one.kind is Kind.DECIMAL and one.size}
    return made or (theirs.holds(ours) and ours.kind is not Kind.FLOAT and len(bounded) < 2)


def refuse_ours(table: TableName, columns: Iterable[Column]) -> None:
    """Raises SluiceError SLC-432 if a column of a table is called as one is that stands beside the master's."""
    if ours := [one.name for one in columns if one.name.lower().startswith(OURS)]:
        raise SluiceError(
            432,
            f"{table} has columns whose names are taken in files: {', '.join(ours)}",
            "let the slave call them otherwise (`slaves.<name>.tables`), or leave them out",
        )


def schema_of(columns: Iterable[Column]) -> pa.Schema:
    """The columns of a table's rows in a file."""
    return pa.schema([*((column.name, kept_as(column.type)) for column in columns), (TEXT, TEXTS)])


def typed(columns: Sequence[Column], texts: Sequence[pa.Array]) -> pa.Table:
    """Rows, given as one array of texts for each column, as PostgreSQL prints them."""
    schema = schema_of(columns)
    arrays, unfit = [], {}
    for field, values in zip(schema, texts, strict=False):
        fitting = _fitting(field.type, values)
        if fitting is not None and not pc.all(fitting).as_py():
            unfit[field.name] = pc.if_else(fitting, None, values)
            values = pc.if_else(fitting, values, None)
        arrays.append(_converted(field.type, values))
    return pa.Table.from_arrays([*arrays, _texts(unfit, len(texts[0]))], schema=schema)


def texts(rows: pa.Table, name: str) -> pa.Array:
    """A column of integers, decimals or texts as the master prints it."""
    column = rows[name].combine_chunks()
    if pa.types.is_decimal(column.type):
        # An exponent is nothing that it would print.
        values = pa.array([value if value is None else f"{value:f}" for value in column.to_pylist()], pa.string())
    else:
        values = pc.cast(column, pa.string())
    return pc.coalesce(values, _beside(rows, name))


def tokens(rows: pa.Table, names: Sequence[str]) -> pa.Array:
    """For each row bytes that are equal where these columns are; they read like a line of COPY."""
    parts = [_token(rows, name) for name in names]
    return pc.binary_join_element_wise(*parts, b"\t", null_handling="replace", null_replacement=b"\\N")


def _fitting(kind: pa.DataType, values: pa.Array) -> pa.Array | None:
    """A mask of the values that the type can hold (True for NULL); None if all."""
    if pa.types.is_decimal(kind):
        pattern = r"^-?\d"
    elif pa.types.is_date(kind):
        pattern = _DAY + "$"
    elif pa.types.is_timestamp(kind):
        pattern = _DAY + _TIME + (r"\+00$" if kind.tz else "$")
    else:
        return None
    return pc.fill_null(pc.match_substring_regex(values, pattern), True)


def _converted(kind: pa.DataType, values: pa.Array) -> pa.Array:
    if pa.types.is_boolean(kind):
        return pc.equal(values, "t")
    if pa.types.is_binary(kind):
        return pa.array([text and bytes.fromhex(text[2:]) for text in values.to_pylist()], kind)
    return pc.cast(values, kind)


def _texts(unfit: dict[str, pa.Array], rows: int) -> pa.Array:
    if not unfit:
        return pa.nulls(rows, TEXTS)
    values = zip(*(column.to_pylist() for column in unfit.values()), strict=True)
    found = ([(name, text) for name, text in zip(unfit, row, strict=True) if text is not None] for row in values)
    return pa.array([pairs or None for pairs in found], TEXTS)


def _token(rows: pa.Table, name: str) -> pa.Array:
    column = rows[name].combine_chunks()
    if pa.types.is_string(column.type):
        return _escaped(pc.cast(column, pa.binary()))
    if pa.types.is_binary(column.type):
        return _escaped(column)
    token = _counted(column)
    if rows[TEXT].null_count < len(rows):
        token = pc.coalesce(token, _beside(rows, name))
    return pc.cast(token, pa.binary())


def _beside(rows: pa.Table, name: str) -> pa.Array:
    """The values that are kept as texts instead of the column's type."""
    return pc.map_lookup(rows[TEXT].combine_chunks(), pa.scalar(name), "first")


def _counted(column: pa.Array) -> pa.Array:
    """A number, or what is one in the file, as a text."""
    whole: dict[Callable[[pa.DataType], bool], pa.DataType] = {
        pa.types.is_timestamp: pa.int64(),
        pa.types.is_date: pa.int32(),
    }
    for is_kind, number in whole.items():
        if is_kind(column.type):
            column = pc.cast(column, number)
    return pc.cast(column, pa.string())


def _escaped(values: pa.Array) -> pa.Array:
    return pc.replace_substring(pc.replace_substring(values, b"\\", b"\\\\"), b"\t", b"\\t")
