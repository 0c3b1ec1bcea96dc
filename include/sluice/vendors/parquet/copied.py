"""Lines of COPY's text format as arrays of texts (PostgreSQL manual, "COPY", "Text Format")."""

from __future__ import annotations

import io
import re

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def columns_of(buffer: bytes, width: int) -> list[pa.Array]:
    """The values of whole lines, one array a column; NULL where COPY writes it."""
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
            column_types=dict.fromkeys(names, pa.string()), null_values=["\\N"], strings_can_be_null=True
        ),
    )
    return [_plain(column.combine_chunks()) for column in table.columns]


def _plain(values: pa.Array) -> pa.Array:
    escaped = pc.fill_null(pc.match_substring(values, "\\"), False)
    if not pc.any(escaped).as_py():
        return values
    texts = (_ESCAPE.sub(_undone, text) for text in values.filter(escaped).to_pylist())
    return pc.replace_with_mask(values, escaped, pa.array(texts, pa.string()))


def _undone(match: re.Match[str]) -> str:
    return _PLAIN.get(match[1], match[1])
