"""Running jobs once more, now and then: all that a third of deliveries show, for a fraction of the time of all."""

from __future__ import annotations

import os
from zlib import crc32


def runs_twice(number: int) -> bool:
    """Whether the jobs of a delivery run twice, by its number within its test: one of three, always the same ones."""
    return crc32(f"{os.environ.get('PYTEST_CURRENT_TEST')} {number}".encode()) % 3 == 0
