"""The beginning of a transaction whose end did not come yet: in memory, or in a file if it is much."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO

import pyarrow as pa

_MOST_BYTES = 64 * 1024 * 1024


class TransactionBuffer:
    """Batches that are given back once, in their order."""

    def __init__(self) -> None:
        self._kept: list[pa.RecordBatch] = []
        self._bytes = 0
        self._files: list[IO[bytes]] = []

    def __bool__(self) -> bool:
        return bool(self._kept or self._files)

    def keep(self, batch: pa.RecordBatch) -> None:
        """Keep one more."""
        self._kept.append(batch)
        self._bytes += batch.nbytes
        if self._bytes > _MOST_BYTES:
            file = tempfile.TemporaryFile(prefix="sluice-")  # noqa: SIM115
            with pa.ipc.new_stream(file, batch.schema) as writer:
                for one in self._kept:
                    writer.write_batch(one)
            self._files.append(file)
            self._kept, self._bytes = [], 0

    def given(self) -> Iterator[pa.RecordBatch]:
        """All of them; then nothing is left."""
        files, kept = self._files, self._kept
        self._files, self._kept, self._bytes = [], [], 0
        for file in files:
            with file:
                file.seek(0)
                yield from pa.ipc.open_stream(file)
        yield from kept
