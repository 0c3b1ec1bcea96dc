"""Comparing two sides in any order of rows, in bounded memory (R10).

Rows are shared out to buckets by their keys, and the digests of a bucket's rows are added up. Buckets that add up to
the same are the same. Of the others the rows themselves are held side by side, `MOST_ROWS` of them at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import zip_longest
from zlib import crc32

import numpy as np

from sluice.model.key_sample import KeySample
from sluice.verify.difference import Difference, RowReader
from sluice.verify.merge_compare import unescape

BUCKETS = 4096
MOST_ROWS = 500_000

# The key of a row and its image, as bytes that are equal where these are, and how often it counts: 1 or -1.
Row = tuple[bytes, bytes, int]
Rows = Callable[[], Iterator[Row]]


def compare(ours: Rows, theirs: Rows, sample: KeySample, reader: RowReader | None = None) -> Difference:
    """Compare the rows of a master with those of a slave.

    Each side is read once. If buckets differ, both sides are read again for each group of up to `MOST_ROWS` rows.

    Args:
        sample: the keys that count.
        reader: reads the rows that are kept; none is kept without it.
    """
    sums, rows = [0] * BUCKETS, np.zeros((2, BUCKETS), np.int64)
    size = 0
    for side, sign in ((ours, 1), (theirs, -1)):
        for bucket, key, image, weight in _buckets(side(), sample):
            size += len(image)
            sums[bucket] += sign * weight * _digest(key, image)
            rows[max(-sign, 0), bucket] += weight
    difference = Difference(compared=int(rows.max(axis=0).sum()), moved=size, size=size)
    for group in _groups([bucket for bucket, left in enumerate(sums) if left], rows.sum(axis=0)):
        left: Counter[tuple[bytes, bytes]] = Counter()
        for side, sign in ((ours, 1), (theirs, -1)):
            for bucket, key, image, weight in _buckets(side(), sample):
                if bucket in group:
                    left[key, image] += sign * weight
        _note(difference, left, reader)
    if difference.more:
        difference.note_range((None, None))
    return difference


def _buckets(rows: Iterator[Row], sample: KeySample) -> Iterator[tuple[int, bytes, bytes, int]]:
    """(bucket, key, image, 1 or -1) of each row that counts."""
    for key, image, weight in rows:
        if sample.takes(key):
            yield crc32(key) % BUCKETS, key, image, weight


def _digest(key: bytes, image: bytes) -> int:
    digest = blake2b(key, digest_size=16)
    digest.update(b"\n")
    digest.update(image)
    return int.from_bytes(digest.digest(), "big")


def split_values(tokens: bytes) -> list[str | None]:
    """The values of a key or an image that is written as a line of COPY."""
    return [None if token == b"\\N" else unescape(token).decode(errors="replace") for token in tokens.split(b"\t")]


def _groups(buckets: list[int], rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Iterator[set[int]]:
    """Buckets that are held at a time."""
    group: set[int] = set()
    for bucket in buckets:
        if group and rows[[*group, bucket]].sum() > MOST_ROWS:
            yield group
            group = set()
        group.add(bucket)
    if group:
        yield group


def _note(difference: Difference, left: Counter[tuple[bytes, bytes]], reader: RowReader | None) -> None:
    """Tell a row that is there otherwise from one that is missing and one that is extra."""
    by_key: dict[bytes, tuple[list[bytes], list[bytes]]] = {}
    for (key, image), count in left.items():
        by_key.setdefault(key, ([], []))[count < 0].extend([image] * abs(count))
    for key, (missing, extra) in sorted(by_key.items()):
        text = b"(" + key.replace(b"\t", b",") + b")"
        for ours, theirs in zip_longest(missing, extra):
            kind = "extra" if ours is None else "missing" if theirs is None else "changed"
            difference.note(kind, key, reader, ours, theirs, shown=text)
