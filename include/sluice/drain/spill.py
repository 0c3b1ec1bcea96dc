"""Changes stored under labels: few in memory, the others in an unnamed temporary file, which no other process can open
and which a killed job does not leave behind.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from typing import IO

import pyarrow as pa

from sluice.changelog.schema import CHANGES
from sluice.errors import TransientError

# Of all labels together; the others are in the file.
MOST_BYTES = 16 * 1024 * 1024


class Spill:
    """Tables of changes by label, each read in the order in which it was put here. Columns as in `CHANGES`.

    Attributes:
        weights: bytes by label.
    """

    def __init__(self) -> None:
        self.weights: Counter[Hashable] = Counter()
        self._in_memory: defaultdict[Hashable, list[pa.Table]] = defaultdict(list)
        self._bytes = 0
        self._extents: defaultdict[Hashable, list[tuple[int, int]]] = defaultdict(list)
        self._file: IO[bytes] | None = None
        self._end = 0

    def add(self, label: Hashable, changes: pa.Table) -> None:
        """Append changes to a label. Raises TransientError SLC-658 if the disk has no room."""
        if not len(changes):
            return
        self._in_memory[label].append(changes)
        self.weights[label] += changes.nbytes
        self._bytes += changes.nbytes
        if self._bytes > MOST_BYTES:
            try:
                self._write()
            except OSError as error:
                raise TransientError(
                    658,
                    "changes that wait for the end of their transaction cannot be put aside in "
                    f"{tempfile.tempdir or 'a temporary directory'}: {error.strerror}",
                    "nothing is lost; make room there, or let TMPDIR name another directory; the run tries again "
                    "by itself",
                ) from error

    def read(self, label: Hashable) -> Iterator[pa.Table]:
        """The changes of a label in order, in tables of limited size."""
        for offset, size in self._extents[label]:
            assert self._file is not None
            self._file.seek(offset)
            record = pa.ipc.read_record_batch(pa.py_buffer(self._file.read(size)), CHANGES)
            yield pa.Table.from_batches([record])
        yield from self._in_memory[label]

    def _write(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is gone with this object
        self._file.seek(self._end)
        while self._in_memory:
            label, tables = self._in_memory.popitem()
            for record in pa.concat_tables(tables).combine_chunks().to_batches():
                written = record.serialize()
                self._file.write(written)
                self._extents[label].append((self._end, written.size))
                self._end += written.size
        self._file.flush()
        self._bytes = 0
