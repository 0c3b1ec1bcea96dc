"""Compares a table of files with its master's, for any order of rows, in bounded memory (R10).

Rows are shared out to buckets by their keys, and the digests of a bucket's rows are added up. Buckets that add up to
the same are the same. Of the others the rows themselves are held side by side, so many buckets at a time as memory
allows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow as pa

from sluice.apply.mapping.table_view import shaped_lines
from sluice.connections import ConnectionInfo, open_sealed, salt_of
from sluice.errors import SluiceError
from sluice.values.copy_text import columns_of
from sluice.vendors.parquet.directory import ReplicationDirectory, reachable
from sluice.vendors.parquet.types import tokens, typed
from sluice.vendors.parquet.versions import Table, Version
from sluice.vendors.parquet.write.data_files import TableFiles
from sluice.vendors.parquet.write.mode import MODES
from sluice.vendors.protocol.compare import Comparison
from sluice.vendors.registry import master
from sluice.verify.merge_compare import Difference

BUCKETS = 4096
MOST_ROWS = 500_000

Rows = Iterator[tuple[pa.Table, int]]


class _Compared:
    """The columns that are compared, and a sample of rows by key, which is the same on both sides."""

    def __init__(self, key: Sequence[str], columns: Sequence[str], percent: int) -> None:
        self._key = key
        self._columns = columns
        self._percent = percent

    def buckets(self, rows: Rows) -> Iterator[tuple[int, bytes, bytes, int]]:
        """(bucket, key, image, 1 or -1) of each row that counts."""
        for some, weight in rows:
            images = tokens(some, self._columns).to_pylist()
            keys = tokens(some, self._key).to_pylist() if self._key else images
            for key, image in zip(keys, images, strict=True):
                checksum = crc32(key)
                if checksum // BUCKETS % 100 < self._percent:
                    yield checksum % BUCKETS, key, image, weight


def compare_table(job: Comparison) -> Difference:
    """Compare one table, streaming both sides. Raises SluiceError if one of them cannot be read."""
    table, replica = _replica(job)
    names = [column.name for column in table.kept]
    compared = _Compared(job.view.layout.key_names, names, job.percent)
    connections = open_sealed(job.sealed)
    salt = salt_of(connections, job.salt)
    sides: tuple[Callable[[], Rows], ...] = (
        lambda: _master(connections[job.master.connection], job, salt, table),
        replica,
    )
    sums, rows = [0] * BUCKETS, np.zeros((2, BUCKETS), np.int64)
    for side, sign in zip(sides, (1, -1), strict=True):
        for bucket, key, image, weight in compared.buckets(side()):
            sums[bucket] += sign * weight * _digest(key, image)
            rows[max(-sign, 0), bucket] += weight
    found = Difference(compared=int(rows.max(axis=0).sum()))
    for some in _groups([bucket for bucket, left in enumerate(sums) if left], rows.sum(axis=0)):
        left: Counter[tuple[bytes, bytes]] = Counter()
        for side, sign in zip(sides, (1, -1), strict=True):
            for bucket, key, image, weight in compared.buckets(side()):
                if bucket in some:
                    left[key, image] += sign * weight
        _note(found, left)
    return found


def _replica(job: Comparison) -> tuple[Table, Callable[[], Rows]]:
    path = Path(job.replica.snapshot_id)
    with reachable(f"comparing {job.view.master.name}"):
        version = Version.from_json(json.loads(path.read_text(encoding="utf-8")))
    table = version.tables.get(job.view.layout.name)
    known = {column.name for column in table.columns} if table else set()
    if table is None or known != {column.name for column in job.view.layout.columns}:
        raise SluiceError(
            157,
            f"{job.view.master.name} has other columns than the files of slave {job.slave}, or none are there",
            "make the files anew by initial_update",
        )
    files = TableFiles(ReplicationDirectory(path.parents[1]), table.name, version.epoch, table.files)
    return table, lambda: MODES[version.keeps].rows(files, table)


def _master(info: ConnectionInfo, job: Comparison, salt: bytes, table: Table) -> Rows:
    view = job.view
    shape = view.shape(salt) if view.shaped else None
    with master(job.master.vendor).read(info, job.master.snapshot_id, job.master.trusted) as reading:
        for buffer in reading.table(view.master.name, view.read):
            lines = shaped_lines(view, shape, buffer, view.written)[0] if shape else buffer
            texts = dict(zip(view.written, columns_of(lines, len(view.written)), strict=True))
            yield typed(table.kept, [texts[column.name] for column in table.kept]), 1


def _digest(key: bytes, image: bytes) -> int:
    digest = blake2b(key, digest_size=16)
    digest.update(b"\n")
    digest.update(image)
    return int.from_bytes(digest.digest(), "big")


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


def _note(found: Difference, left: Counter[tuple[bytes, bytes]]) -> None:
    """Tell a row that is there otherwise from one that is missing and one that is extra."""
    by_key: dict[bytes, list[int]] = {}
    for (key, _), count in left.items():
        both = by_key.setdefault(key, [0, 0])
        both[count < 0] += abs(count)
    for key, (missing, extra) in sorted(by_key.items()):
        text = b"(" + key.replace(b"\t", b",") + b")"
        for kind, times in (
            ("changed", min(missing, extra)),
            ("missing", missing - min(missing, extra)),
            ("extra", extra - min(missing, extra)),
        ):
            for _ in range(times):
                found.note(kind, text)
