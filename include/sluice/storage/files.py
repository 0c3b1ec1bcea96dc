"""Files that are on the disk for sure: flushed, and hashed on their way."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import IO


class HashingFile:
    """A file that hashes what passes through it on its way to the disk."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()
        self.size = 0
        self.closed = False

    def write(self, data: bytes) -> int:
        """Write and hash."""
        self.digest.update(data)
        self.size += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        """Hand buffers to the system."""
        self._file.flush()

    def tell(self) -> int:
        """Bytes written so far."""
        return self.size

    def close(self) -> None:
        """The underlying file stays open, to be fsynced."""
        self.closed = True


def flush(path: Path | str) -> None:
    """Wait until a file, or a directory's list of names, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
