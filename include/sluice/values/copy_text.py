"""Lines of COPY's text format as arrays of texts, and back (PostgreSQL manual, "COPY", "Text Format")."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from sluice.arrow_rows import row_lists

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def columns_of(buffer: bytes, width: int, places: Sequence[int] | None = None) -> list[pa.Array]:
    """The values of whole lines, one array a column; NULL where COPY writes it.

    Args:
        places: of the columns that are wanted, at least one; None for all.
    """
    names = [str(place) for place in range(width)]
    # A reader of CSV takes a mark of the byte order from the front: there a line of names stands.
    lines = io.BytesIO("\t".join(names).encode() + b"\n" + buffer)
    table = csv.read_csv(
        lines,
        read_options=csv.ReadOptions(block_size=len(buffer) + 64 * width, use_threads=False),
        parse_options=csv.ParseOptions(
            delimiter="\t", quote_char=False, double_quote=False, escape_char=False, ignore_empty_lines=False
        ),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=["\\N"],
            strings_can_be_null=True,
            include_columns=names if places is None else [names[place] for place in places],
        ),
    )
    return [_plain(column.combine_chunks()) for column in table.columns]


def rows_of_lines(buffer: bytes, width: int) -> pa.ListArray:
    """The same as rows."""
    columns = columns_of(buffer, width)
    return row_lists(columns, len(columns[0]))


def lines_of(columns: Sequence[pa.StringArray]) -> bytes:
    """Values as whole lines, for COPY to read."""
    if not columns or not len(columns[0]):
        return b""
    cells = [pc.fill_null(_escape(column), "\\N") for column in columns]
    lines = pc.binary_join_element_wise(*cells, "\t") if len(cells) > 1 else cells[0]
    return bytes(pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "\n")[0].as_buffer()) + b"\n"


def _plain(values: pa.Array) -> pa.Array:
    escaped = pc.fill_null(pc.match_substring(values, "\\"), False)
    if not pc.any(escaped).as_py():
        return values
    texts = (_ESCAPE.sub(_unescape, text) for text in values.filter(escaped).to_pylist())
    return pc.replace_with_mask(values, escaped, pa.array(texts, pa.string()))


def _unescape(match: re.Match[str]) -> str:
    return _PLAIN.get(match[1], match[1])


def _escape(values: pa.StringArray) -> pa.StringArray:
    for sign, written in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        values = pc.replace_substring(values, sign, written)
    return values
