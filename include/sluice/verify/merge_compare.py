"""Comparing two streams of rows in the same order, value by value: what is missing, extra, changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest

SAMPLE = 20


@dataclass
class Difference:
    """The result of the comparison of one table.

    Attributes:
        sample: the first keys with what is wrong with them.
        own: rows that are on the slave alone, and may be.
    """

    compared: int = 0
    missing: int = 0
    extra: int = 0
    changed: int = 0
    sample: list[tuple[str, str]] = field(default_factory=list)
    own: int = 0

    @property
    def different(self) -> int:
        """Rows that are not the same on both sides."""
        return self.missing + self.extra + self.changed

    def with_rows_of_its_own(self) -> Difference:
        """The same of a table that may have more rows than the master's."""
        sample = [one for one in self.sample if one[0] != "extra"]
        return replace(self, extra=0, own=self.own + self.extra, sample=sample)

    def note(self, kind: str, key: bytes) -> None:
        """Count one difference and keep its key if there is room."""
        setattr(self, kind, getattr(self, kind) + 1)
        if len(self.sample) < SAMPLE:
            self.sample.append((kind, key.decode(errors="replace")))


def equal(master: Iterator[bytes], slave: Iterator[bytes]) -> int | None:
    """The number of lines if both streams are equal; None at the first difference.

    Both are read to their ends even so: a COPY that is left half read costs a session.
    """
    count = 0
    same = True
    for ours, theirs in zip_longest(master, slave):
        count += 1
        same = same and ours == theirs
    return count if same else None


def compare(master: Iterator[bytes], slave: Iterator[bytes]) -> Difference:
    """Merge two streams of ``key<tab>row`` lines, as COPY writes them, each sorted by key and row.

    Equal lines, which nearly all are, cost one comparison of bytes.
    """
    found = Difference()
    ours, theirs = next(master, None), next(slave, None)
    while ours is not None and theirs is not None:
        if ours == theirs:
            found.compared += 1
            ours, theirs = next(master, None), next(slave, None)
            continue
        found.compared += 1
        key, other = key_of(ours), key_of(theirs)
        if key == other:
            found.note("changed", key)
            ours, theirs = next(master, None), next(slave, None)
        elif key < other:
            found.note("missing", key)
            ours = next(master, None)
        else:
            found.note("extra", other)
            theirs = next(slave, None)
    while ours is not None:
        found.compared += 1
        found.note("missing", key_of(ours))
        ours = next(master, None)
    while theirs is not None:
        found.compared += 1
        found.note("extra", key_of(theirs))
        theirs = next(slave, None)
    return found


def key_of(line: bytes) -> bytes:
    """The key of a line, as the database sorts it: COPY's escapes undone (PostgreSQL manual, "COPY", "Text Format")."""
    key, _, _ = line.partition(b"\t")
    return _ESCAPE.sub(lambda match: _PLAIN.get(match[1], match[1]), key) if b"\\" in key else key


_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_PLAIN = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
