"""Digests of rows that databases of different kinds compute alike: of the canonical texts of their values (R7, R10).

Rows are shared out to buckets by the hash of their keys, and each side adds up the hashes of the rows of each bucket.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

import pyarrow as pa

# Rows in pieces, each with an array of canonical texts for each column.
Texts = Iterator[Sequence[pa.Array]]

# Leading digits, of base 16, of the hash of a key; they are the name of its bucket.
BUCKET_DIGITS = 3
# What a half of a hash is a number below.
HALF = 2**64


@dataclass(frozen=True)
class Digested:
    """How rows are written before they are hashed by SHA-256.

    The hash of a row is that of `salt` and its columns in order. A plain value is its text and a comma, and a comma
    alone if it is NULL. Any other one is its number of bytes in UTF-8, a colon and its text, and a colon alone if it is
    NULL. So no two rows are written alike. The hash of a key is that of `salt` and its columns.

    Attributes:
        salt: drawn anew for each comparison: nobody can choose rows beforehand whose sums fit.
        key: the places of its columns; of all if there is none.
        plain: for each column whether its texts are never empty, and have no comma.
    """

    salt: str
    key: tuple[int, ...]
    plain: tuple[bool, ...]

    def bucket(self, row: Sequence[str | None]) -> str:
        """The bucket of a row, by the canonical texts of its values."""
        return self._hashed(row, self.key)[:BUCKET_DIGITS]

    def sum(self, row: Sequence[str | None], times: int) -> BucketSum:
        """What a row adds to its bucket that is there so many times."""
        hashed = self._hashed(row, range(len(row)))
        return BucketSum.of(times, times * int(hashed[:16], 16), times * int(hashed[16:32], 16))

    def _hashed(self, row: Sequence[str | None], places: Iterable[int]) -> str:
        return sha256((self.salt + "".join(self._written(row[place], place) for place in places)).encode()).hexdigest()

    def _written(self, text: str | None, place: int) -> str:
        if self.plain[place]:
            return f"{text or ''},"
        return ":" if text is None else f"{len(text.encode())}:{text}"


@dataclass(frozen=True)
class BucketSum:
    """What a side says of a bucket: its rows, and the sums of the first and second halves of their hashes."""

    rows: int
    sums: tuple[int, int]

    @classmethod
    def of(cls, rows: object, first: object, second: object) -> BucketSum:
        """From numbers as the server gives them; a half may have a sign, or none be there."""
        return cls(int(str(rows)), (int(str(first or 0)) % HALF, int(str(second or 0)) % HALF))

    def __add__(self, other: BucketSum) -> BucketSum:
        return BucketSum.of(self.rows + other.rows, *(sum(both) for both in zip(self.sums, other.sums, strict=True)))


class Summed(Protocol):
    """One side of a comparison, a table at a point, whose server can compute digests."""

    @property
    def plain(self) -> Sequence[bool] | None:
        """For each column whether its texts are never empty, and have no comma; None if the server cannot write some
        value as its canonical text.
        """

    def sums(self, how: Digested) -> tuple[Mapping[str, BucketSum], int]:
        """Each bucket that has rows; and about how many bytes all rows have, or 0."""


class DigestSide(Summed, Protocol):
    """The same, of which rows are read as texts."""

    def rows(self, how: Digested, buckets: Collection[str]) -> Texts:
        """The rows of these buckets."""
