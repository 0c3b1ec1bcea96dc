"""The places where a job may die: named, so that the tests can kill it at each of them.

A job killed at any of these and started again must lose nothing and deliver nothing twice. So must a step whose
process, executor or server is killed there.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

# A point; or a directory with a file named after a point.
ENV = "SLUICE_CRASH_AT"


class CrashPoint(StrEnum):
    """Every place between two steps that are not one transaction."""

    SWEPT = "swept"
    WRITTEN = "written"
    LISTED = "listed"
    PURGED = "purged"
    GATED = "gated"
    STAGED = "staged"
    MERGED = "merged"
    COMMITTED = "committed"
    REPLAYED = "replayed"
    DELIVERED = "delivered"
    INTENDED = "intended"
    EXECUTED = "executed"
    CHUNK_LOADED = "chunk_loaded"
    DUMPED = "dumped"
    SLOT_MADE = "slot_made"
    CHANGED_OVER = "changed_over"
    SLOT_READ = "slot_read"


def crash_if_asked(point: CrashPoint) -> None:
    """Die here, as a power failure would have it, if a test asked for it; or stop here, and let it kill others, too."""
    asked = os.environ.get(ENV, "")
    if asked == point:
        os.kill(os.getpid(), signal.SIGKILL)
    elif os.sep in asked:
        _stop(Path(asked) / point)


def _stop(file: Path) -> None:
    """Stop, and write the process's id into the file's name. Only one process does so."""
    with suppress(FileNotFoundError):
        file.rename(f"{file}.{os.getpid()}")
        os.kill(os.getpid(), signal.SIGSTOP)
