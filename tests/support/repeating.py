"""Running jobs once more, now and then: all that a third of deliveries show, for a fraction of the time of all."""

from __future__ import annotations

import os
from collections import Counter
from zlib import crc32

_asked: Counter[str] = Counter()


def runs_twice() -> bool:
    """Whether the jobs of this delivery run twice: those of one of three do, in each test always the same ones."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    _asked[test] += 1
    return crc32(f"{test} {_asked[test]}".encode()) % 3 == 0
