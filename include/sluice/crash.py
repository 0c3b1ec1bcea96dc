"""The places where a job may die: named, so that the tests can kill it at each of them.

A job killed at any of these and started again must lose nothing and deliver nothing twice.
"""

from __future__ import annotations

import os
import signal
from enum import StrEnum

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
    CHUNK_LOADED = "chunk_loaded"
    DUMPED = "dumped"


def reached(point: CrashPoint) -> None:
    """Die here, as a power failure would have it, if a test asked for it."""
    if os.environ.get(ENV) == point:
        os.kill(os.getpid(), signal.SIGKILL)
