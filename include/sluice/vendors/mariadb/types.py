"""Logical types as columns of MariaDB, and canonical texts as literals and back (R7).

A column has a type of its own where every ordinary value has one exact counterpart. A value that such a column cannot
hold (infinity, NaN, -0, years before 1 or beyond 9999) is refused by name. Every other type is a `longtext` with the
canonical text, as is a column that somebody made so beforehand: that takes every value.

Source: MariaDB Knowledge Base, "Data Types".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa
import pyarrow.compute as pc

from sluice.errors import SluiceError, shown_value
from sluice.model.layout import Column
from sluice.model.logical_type import Kind, LogicalType, logical_type
from sluice.model.names import TableName
from sluice.values.float_text import float_text
from sluice.vendors.mariadb.server import MARIADB, Server

LONGTEXT = "longtext"
# A row has 65,535 bytes without its long texts and blobs, and an index entry 3,072.
_SHORT = 255
_LONGEST_KEY = 768
_MOST_DIGITS, _MOST_SCALE = 65, 38
_INTEGERS = {16: ("smallint", 6), 32: ("int", 11), 64: ("bigint", 20)}
_DAY = r"(000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d{3})-\d\d-\d\d"
_CLOCK = r"\d\d:\d\d:\d\d(\.\d+)?"


class Form(StrEnum):
    """How values stand in a column."""

    TEXT = "text"
    BOOLEAN = "boolean"
    NUMBER = "number"
    FLOAT = "float"
    BYTES = "bytes"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    TIMESTAMP_WITH_ZONE = "timestamp with zone"


# The texts that a column of a form can hold; those of the others it holds all.
_FITTING = {
    Form.NUMBER: r"^-?\d+(\.\d+)?$",
    Form.FLOAT: r"^(-?\d*[1-9]\d*(\.\d+)?|-?0\.\d*[1-9]\d*|0|-?\d+(\.\d+)?e[+-]\d+)$",
    Form.DATE: rf"^{_DAY}$",
    Form.TIMESTAMP: rf"^{_DAY} {_CLOCK}$",
    Form.TIMESTAMP_WITH_ZONE: rf"^{_DAY} {_CLOCK}\+00$",
}


@dataclass(frozen=True)
class Stored:
    """A column as a slave stores it.

    Attributes:
        type: as the catalog writes it.
        collation: of a text; None if it has none.
        bits: of a float as the master has it, which says how many digits its text has.
        server: the one that has it.
    """

    column: Column
    type: str
    form: Form
    collation: str | None = None
    bits: int = 64
    server: Server = MARIADB

    @property
    def declared(self) -> str:
        """The type for a statement that makes a table."""
        return f"{self.type} COLLATE {self.collation}" if self.collation else self.type

    @property
    def as_text(self) -> Stored:
        """The same in a column that takes every text."""
        return text_of(self.column, self.server)


def text_of(column: Column, server: Server) -> Stored:
    """A column that takes every text."""
    return Stored(column, LONGTEXT, Form.TEXT, server.collation, server=server)


def stored(column: Column, server: Server = MARIADB, *, key: bool) -> Stored | None:
    """The column that a slave makes for one of the master's; None for a key that no index takes."""
    kind = logical_type(column.type)
    found = _stored(kind, server, _LONGEST_KEY if key else _SHORT)
    if found is None:
        return None if key else text_of(column, server)
    text, form = found
    collation = {"char(36)": "ascii_bin"}.get(text, server.collation) if form is Form.TEXT else None
    if key and form is Form.BYTES:
        return None
    return Stored(column, text, form, collation, kind.size or 64, server)


def _stored(kind: LogicalType, server: Server, longest: int) -> tuple[str, Form] | None:
    size, scale = kind.size or 0, kind.scale or 0
    match kind.kind:
        case Kind.BOOLEAN:
            return "tinyint(1)", Form.BOOLEAN
        case Kind.INTEGER:
            return server.whole_number(*_INTEGERS[size]), Form.NUMBER
        case Kind.DECIMAL if 0 < size <= _MOST_DIGITS and 0 <= scale <= min(size, _MOST_SCALE):
            return f"decimal({size},{scale})", Form.NUMBER
        case Kind.FLOAT:
            # A FLOAT would print six digits. The text of a real is the same number in a double.
            return "double", Form.FLOAT
        case Kind.TEXT | Kind.BIT if 0 < size <= longest:
            return f"varchar({size})", Form.TEXT
        case Kind.BYTES:
            return "longblob", Form.BYTES
        case Kind.DATE:
            return "date", Form.DATE
        case Kind.TIME:
            return "time(6)", Form.TIME
        case Kind.TIMESTAMP:
            return "datetime(6)", Form.TIMESTAMP
        case Kind.TIMESTAMP_WITH_ZONE:
            # A TIMESTAMP ends in 2038. It is the time in UTC.
            return "datetime(6)", Form.TIMESTAMP_WITH_ZONE
        case Kind.UUID:
            return "char(36)", Form.TEXT
    return None


def literals(table: TableName, columns: Sequence[Stored], texts: Sequence[pa.Array]) -> pa.Array:
    """For each row its values as literals in brackets, from one array of canonical texts for each column.

    Raises:
        SluiceError: SLC-431, a value that a column cannot hold.
    """
    cells = [pc.fill_null(_written(one.form, values), "NULL") for one, values in _fitting(table, columns, texts)]
    return side_by_side("(", side_by_side(*cells, between=","), ")")


def fields(table: TableName, columns: Sequence[Stored], texts: Sequence[pa.Array]) -> pa.Array:
    """For each row its values as fields of `LOAD DATA`, with tabs between them; bytes are hexadecimal.

    Raises:
        SluiceError: SLC-431, a value that a column cannot hold.
    """
    cells = [pc.fill_null(_field(one.form, values), r"\N") for one, values in _fitting(table, columns, texts)]
    return side_by_side(*cells, between="\t")


def _fitting(
    table: TableName, columns: Sequence[Stored], texts: Sequence[pa.Array]
) -> Iterator[tuple[Stored, pa.Array]]:
    for one, values in zip(columns, texts, strict=True):
        whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        expect_fitting(table, one, whole)
        yield one, whole.cast(pa.large_string())


def side_by_side(*parts: pa.Array | str, between: str = "") -> pa.Array:
    """Texts of each row as one, with a plain text as it is in every row; NULL where one is."""
    large = [
        pa.scalar(one, pa.large_string()) if isinstance(one, str) else one.cast(pa.large_string()) for one in parts
    ]
    return pc.binary_join_element_wise(*large, pa.scalar(between, pa.large_string()))


def canonical(one: Stored, values: Sequence[object]) -> pa.Array:
    """Values as the server gives them, as canonical texts."""
    if one.form is Form.BYTES:
        return pa.array([None if value is None else "\\x" + _bytes(value).hex() for value in values], pa.string())
    if one.form is Form.FLOAT:
        return pa.array([None if value is None else float_text(str(value), one.bits) for value in values], pa.string())
    texts = pa.array(values, pa.string())
    if one.form is Form.BOOLEAN:
        return pc.if_else(pc.equal(texts, "0"), "f", "t")
    if one.form in (Form.TIME, Form.TIMESTAMP, Form.TIMESTAMP_WITH_ZONE):
        # The server prints six digits of a second.
        texts = pc.replace_substring_regex(texts, r"\.?0*$", "")
    if one.form is Form.TIMESTAMP_WITH_ZONE:
        texts = side_by_side(texts, "+00").cast(pa.string())
    return texts


def _plain(form: Form, values: pa.Array) -> pa.Array:
    """Values as the server takes them, without quotes; those of bytes as hexadecimal digits."""
    if form is Form.BOOLEAN:
        return pc.if_else(pc.equal(values, "t"), pa.scalar("1", values.type), pa.scalar("0", values.type))
    if form is Form.BYTES:
        return pc.utf8_slice_codeunits(values, 2)
    if form is Form.TIMESTAMP_WITH_ZONE:
        return pc.replace_substring_regex(values, r"\+00$", "")
    return values


def _written(form: Form, values: pa.Array) -> pa.Array:
    plain = _plain(form, values)
    if form in (Form.BOOLEAN, Form.NUMBER):
        return plain
    if form is Form.BYTES:
        return _wrapped("x'", plain, "'")
    if form is Form.TEXT:
        # `sql_mode` is pinned: a backslash escapes.
        plain = pc.replace_substring(pc.replace_substring(plain, "\\", "\\\\"), "'", "''")
    return _wrapped("'", plain, "'")


def _field(form: Form, values: pa.Array) -> pa.Array:
    plain = _plain(form, values)
    if form is Form.TEXT:
        for character, escaped in (("\\", r"\\"), ("\t", r"\t"), ("\n", r"\n")):
            plain = pc.replace_substring(plain, character, escaped)
    return plain


def _wrapped(before: str, values: pa.Array, behind: str) -> pa.Array:
    return side_by_side(before, values, behind)


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def is_checked(one: Stored) -> bool:
    """Whether there are values that the column cannot hold."""
    return one.form in _FITTING


def expect_fitting(table: TableName, one: Stored, values: pa.Array) -> None:
    """See that a column can hold the values. Raises SluiceError SLC-431 if not."""
    pattern = _FITTING.get(one.form)
    if pattern is None:
        return
    fitting = pc.fill_null(pc.match_substring_regex(values, pattern), True)
    place = pc.index(fitting, False).as_py()
    if place >= 0:
        raise SluiceError(
            431,
            f"the column {one.column.name} of {table} is a {one.type}, and cannot hold "
            f"{shown_value(values[place].as_py())}",
            f"nothing of it was written; make the column a {LONGTEXT} COLLATE {one.server.collation}, which holds "
            "every value as its text, and fill the table by initial_update; or leave it out (`exclude_columns`)",
        )
