"""The rows of some keys among all rows of a table, for a source that cannot be asked for keys."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sluice.values.copy_text import columns_of, lines_of

_DIGITS = ("smallint", "integer", "bigint")
_ONE_SPELLING = re.compile(r"text|date|uuid|boolean|bytea|bit( varying)?\(\d+\)|timestamp\(\d\) with(out)? time zone")
_EXACT = re.compile(r"numeric\(\d+,(\d+)\)")


def spelled_alike(type_: str, other_type: str) -> bool:
    """Whether a value of two types, as the log names them, has one text, which is the same in both.

    No number with a point that floats has, nor one without a number of digits behind it; nor an interval, nor a text
    that is filled up with blanks.
    """
    spelling = _single_spelling(type_)
    return spelling is not None and spelling == _single_spelling(other_type)


def _single_spelling(kind: str) -> str | None:
    if kind in _DIGITS:
        return "0"
    if exact := _EXACT.fullmatch(kind):
        return exact[1]
    if kind.startswith("character varying"):
        return "text"
    return kind if _ONE_SPELLING.fullmatch(kind) else None


class KeyedRows:
    """See `sluice.vendors.protocol.load.CopyStream`.

    Args:
        table: all rows, in the text format.
        columns: their columns, those of the key among them.
        wanted: keys, in the order of `key`.
    """

    def __init__(
        self, table: Iterable[bytes], columns: Sequence[str], key: Sequence[str], wanted: Iterable[Collection[str]]
    ) -> None:
        self._table = table
        self._width = len(columns)
        self._places = [columns.index(name) for name in key]
        self._wanted = {tuple(key_values) for key_values in wanted}
        self.rows = 0

    def __iter__(self) -> Iterator[bytes]:
        """The buffers that have such rows."""
        for buffer in self._table:
            texts = columns_of(buffer, self._width)
            keys = zip(*(texts[place].to_pylist() for place in self._places), strict=True)
            chosen = pa.array([key in self._wanted for key in keys], pa.bool_())
            if count := pc.sum(chosen).as_py():
                self.rows += count
                yield lines_of([column.filter(chosen) for column in texts])
