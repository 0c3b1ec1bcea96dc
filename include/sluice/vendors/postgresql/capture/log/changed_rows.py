"""The rows of many changes of `pgoutput` at once, by NumPy: the first value of all of them, then the second, and so on.

So a publisher takes 5.3 us of processor time a change in all, and took 8.8 us when it read one value after the other.
`pgoutput.change` reads so, and says what is wrong with a change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sluice.changelog.schema import ROW, images_of
from sluice.vendors.postgresql.capture.log import pgoutput
from sluice.vendors.postgresql.capture.log.pgoutput import Malformed

Numbers = NDArray[np.int64]
_OLD, _NEW = b"ON"
_NULL, _UNCHANGED, _TEXT = b"nut"
# Behind the kind of a change and the number of its table: the name of an image, and how many values it has.
_IMAGE, _VALUES, _COUNTED = 5, 6, 2
# The kind of a value, and its length.
_HEAD = 5
# The last place of a buffer of PyArrow that a value can end at.
_MOST_BYTES = 2**31 - 1


class _Irregular(Exception):
    """Some message is not as changes are."""


class MalformedChange(Malformed):
    """A change is none: its message, and the place of that in the log."""

    def __init__(self, place: int, data: bytes, why: str) -> None:
        super().__init__(why)
        self.place, self.data = place, data


def images(changes: Sequence[tuple[int, bytes]]) -> tuple[pa.ListArray, pa.ListArray]:
    """The new and the old row of each change, null where there is none.

    Args:
        changes: messages, each with its place.

    Raises:
        MalformedChange: see `pgoutput.change`; or a value is no text.
    """
    try:
        sizes = np.fromiter((len(data) for _, data in changes), np.int64, len(changes))
        return _images(b"".join([data for _, data in changes]), sizes)
    except (_Irregular, pa.ArrowInvalid):
        read = [_read(place, data) for place, data in changes]
        return images_of([one.new for one in read]), images_of([one.old for one in read])


def _read(place: int, data: bytes) -> pgoutput.Change:
    try:
        change = pgoutput.change(data)
        for text in (*(change.new or ()), *(change.old or ())):
            str(text or b"", "utf-8")
    except (Malformed, UnicodeDecodeError) as error:
        raise MalformedChange(place, data, str(error)) from None
    return change


def _images(joined: bytes, sizes: Numbers) -> tuple[pa.ListArray, pa.ListArray]:
    ends = np.cumsum(sizes)
    _expect(len(joined) <= _MOST_BYTES, (sizes >= _VALUES + _COUNTED).all())
    # A head can be read at the end, too, before it is seen that nothing is there.
    text = np.frombuffer(joined + bytes(_HEAD), np.uint8)
    starts = ends - sizes
    kinds = text[starts]
    is_insert, is_update, is_delete = (kinds == kind for kind in (pgoutput.INSERT, pgoutput.UPDATE, pgoutput.DELETE))
    _expect((is_insert | is_update | is_delete).all())
    first = _Image(text, starts + _IMAGE, ends, np.where(is_insert, _NEW, _OLD))
    updates = np.flatnonzero(is_update)
    second = _Image(text, first.at[updates], ends[updates], _NEW)
    first.at[updates] = second.at
    _expect((first.at == ends).all(), not (first.kinds == _UNCHANGED).any())

    # All values in the order of their bytes; an update has its old ones before its new ones.
    news = np.zeros(len(sizes), np.int64)
    news[updates] = second.counts
    firsts = np.cumsum(first.counts + news) - first.counts - news
    places = _runs(firsts, first.counts), _runs((firsts + first.counts)[updates], second.counts)
    count = len(first.kinds) + len(second.kinds)
    begins, until, is_null = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, bool)
    for image, at in zip((first, second), places, strict=True):
        begins[at], until[at], is_null[at] = image.begins, image.ends, image.kinds == _NULL

    # An unchanged value is where the old row has it.
    source = np.arange(count)
    unchanged = np.flatnonzero(second.kinds == _UNCHANGED)
    within = unchanged - np.repeat(np.cumsum(second.counts) - second.counts, second.counts)[unchanged]
    changed = np.repeat(updates, second.counts)[unchanged]
    _expect((within < first.counts[changed]).all())
    source[places[1][unchanged]] = firsts[changed] + within

    values = _values(joined, begins, until)
    new = _Side(
        is_insert | is_update, np.where(is_insert, firsts, firsts + first.counts), first.counts * is_insert + news
    )
    old = _Side(~is_insert, firsts, first.counts * ~is_insert)
    return new.lists(values, source, is_null), old.lists(values, source, is_null)


class _Image:
    """An image of each change.

    Attributes:
        counts: how many values each has.
        kinds: of the values, image by image.
        begins: where the bytes of each value begin.
        ends: where they end.
        at: where the images end.
    """

    def __init__(self, text: NDArray[np.uint8], at: Numbers, end: Numbers, name: int | NDArray[np.int64]) -> None:
        # What ends before its count of values is seen by where it ends.
        _expect((at + 1 + _COUNTED <= end).all(), (text[np.minimum(at, len(text) - 1)] == name).all())
        self.counts = text[at + 1].astype(np.int64) << 8 | text[at + 2]
        self.at = at + 1 + _COUNTED
        _expect((self.counts <= end - self.at).all())
        firsts = np.cumsum(self.counts) - self.counts
        self.kinds = np.empty(int(self.counts.sum()), np.uint8)
        self.begins = np.empty(len(self.kinds), np.int64)
        self.ends = np.empty(len(self.kinds), np.int64)
        rows, column = np.flatnonzero(self.counts), 0
        while len(rows):
            self._read(text, rows, end[rows], firsts[rows] + column)
            column += 1
            rows = rows[self.counts[rows] > column]

    def _read(self, text: NDArray[np.uint8], rows: Numbers, end: Numbers, places: Numbers) -> None:
        """The next value of these images."""
        at = self.at[rows]
        kinds = text[at]
        is_text = kinds == _TEXT
        _expect((at < end).all(), (is_text | (kinds == _NULL) | (kinds == _UNCHANGED)).all())
        length = np.zeros(len(rows), np.int64)
        for byte in range(1, _HEAD):
            length = length << 8 | text[at + byte]
        begins = at + np.where(is_text, _HEAD, 1)
        ends = begins + length * is_text
        _expect((ends <= end).all())
        self.kinds[places], self.begins[places], self.ends[places] = kinds, begins, ends
        self.at[rows] = ends


def _expect(*conditions: bool | np.bool_) -> None:
    if not all(conditions):
        raise _Irregular


def _runs(starts: Numbers, counts: Numbers) -> Numbers:
    """Of each start so many numbers in a row."""
    total = int(counts.sum())
    return np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(total)


def _values(joined: bytes, begins: Numbers, ends: Numbers) -> pa.BinaryArray:
    """The values, each behind what is between it and the one before."""
    offsets = np.zeros(2 * len(begins) + 1, np.int32)
    offsets[1::2], offsets[2::2] = begins, ends
    return pa.BinaryArray.from_buffers(
        pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(joined)]
    )


@dataclass(frozen=True)
class _Side:
    """The images of one side.

    Attributes:
        there: which changes have one.
        firsts: the first value of each.
        counts: how many values each has.
    """

    there: NDArray[np.bool_]
    firsts: Numbers
    counts: Numbers

    def lists(self, values: pa.BinaryArray, source: Numbers, is_null: NDArray[np.bool_]) -> pa.ListArray:
        places = source[_runs(self.firsts, self.counts)]
        cells = values.take(pa.array(2 * places + 1, mask=is_null[places])).cast(pa.string())
        offsets = pa.array(np.concatenate(([0], np.cumsum(self.counts))), pa.int32())
        return pa.ListArray.from_arrays(offsets, cells, type=ROW, mask=pa.array(~self.there))
