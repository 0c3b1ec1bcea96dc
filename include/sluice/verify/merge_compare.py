"""Comparing two streams of rows in the same order, value by value: what is missing, extra, changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from sluice.verify.difference import Difference, RowReader


def count_if_equal(master: Iterator[bytes], slave: Iterator[bytes]) -> tuple[int, int] | None:
    """The number of lines and the bytes of one side if both streams are equal; None at the first difference.

    Both are read to their ends even so: a COPY that is left half read costs a session.
    """
    count = size = 0
    same = True
    for ours, theirs in zip_longest(master, slave):
        count += 1
        size += len(ours or b"")
        same = same and ours == theirs
    return (count, size) if same else None


def compare(
    master: Iterator[bytes], slave: Iterator[bytes], reader: RowReader | None = None, into: Difference | None = None
) -> Difference:
    """Merge two streams of ``key<tab>row`` lines, as COPY writes them, each sorted by key and row.

    Equal lines, which nearly all are, cost one comparison of bytes.

    Args:
        reader: reads the rows that are kept; none is kept without it.
        into: what is found is added to this.
    """
    difference = into if into is not None else Difference()
    sides = [_CountedLines(master), _CountedLines(slave)]
    ours, theirs = next(sides[0], None), next(sides[1], None)
    while ours is not None and theirs is not None:
        difference.compared += 1
        if ours == theirs:
            ours, theirs = next(sides[0], None), next(sides[1], None)
            continue
        key, other = key_of(ours), key_of(theirs)
        if key == other:
            difference.note("changed", key, reader, image_of(ours), image_of(theirs))
            ours, theirs = next(sides[0], None), next(sides[1], None)
        elif key < other:
            difference.note("missing", key, reader, image_of(ours))
            ours = next(sides[0], None)
        else:
            difference.note("extra", other, reader, None, image_of(theirs))
            theirs = next(sides[1], None)
    while ours is not None:
        difference.compared += 1
        difference.note("missing", key_of(ours), reader, image_of(ours))
        ours = next(sides[0], None)
    while theirs is not None:
        difference.compared += 1
        difference.note("extra", key_of(theirs), reader, None, image_of(theirs))
        theirs = next(sides[1], None)
    difference.moved += sum(side.size for side in sides)
    return difference


class _CountedLines:
    """A stream that counts its bytes."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self.size = 0

    def __next__(self) -> bytes:
        line = next(self._lines)
        self.size += len(line)
        return line

    def __iter__(self) -> Iterator[bytes]:
        return self


def key_of(line: bytes) -> bytes:
    """The key of a line, as the database sorts it: COPY's escapes undone (PostgreSQL manual, "COPY", "Text Format")."""
    return unescape(line.partition(b"\t")[0])


def image_of(line: bytes) -> bytes:
    """The row of a line, COPY's escapes undone."""
    return unescape(line.partition(b"\t")[2].removesuffix(b"\n"))


def unescape(text: bytes) -> bytes:
    """A text of COPY without its escapes."""
    return _ESCAPE.sub(lambda match: _PLAIN.get(match[1], match[1]), text) if b"\\" in text else text


_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_PLAIN = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
