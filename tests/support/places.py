"""Where servers of a test session listen, if they can, and where they keep their data."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# A disk in memory: a test makes databases by the hundred, which are gone when it ends.
_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 6 << 30


@contextmanager
def server_directory(otherwise: Path) -> Iterator[Path]:
    """A directory for a server's data: in memory if there is room, else the other one."""
    if not _MEMORY.is_dir() or shutil.disk_usage(_MEMORY).free < _ROOM_BYTES:
        yield otherwise
        return
    with tempfile.TemporaryDirectory(prefix="sluice-test-", dir=_MEMORY) as directory:
        # The user of root's server goes through it.
        Path(directory).chmod(0o711)
        yield Path(directory) / "server"


def port(offset: int = 0) -> int:
    """The port to try first. Sessions that run side by side begin at different ones: else two might take the same."""
    return 20_000 + os.getpid() % 200 * 50 + offset
