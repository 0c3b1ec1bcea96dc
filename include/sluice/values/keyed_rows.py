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


def spelled_alike(one: str, other: str) -> bool:
    """Whether a value of two types, as the log names them, has one text, which is the same in both.

    No number with a point that floats has, nor one without a number of digits behind it; nor an interval, nor a text
    that is filled up with blanks.
    """
    found = _spelling(one)
    return found is not None and found == _spelling(other)


def _spelling(kind: str) -> str | None:
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
        self._wanted = {tuple(one) for one in wanted}
        self.rows = 0

    def __iter__(self) -> Iterator[bytes]:
        """The buffers that have such rows."""
        for buffer in self._table:
            texts = columns_of(buffer, self._width)
            keys = zip(*(texts[place].to_pylist() for place in self._places), strict=True)
            chosen = pa.array([key in self._wanted for key in keys], pa.bool_())
            if found := pc.sum(chosen).as_py():
                self.rows += found
                yield lines_of([one.filter(chosen) for one in texts])
