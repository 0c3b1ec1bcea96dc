"""Waiting for what others do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(look: Callable[[], T], otherwise: str = "it did not happen", seconds: float = 30) -> T:
    """What `look` gives, once it gives something."""
    end = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < end, otherwise
        time.sleep(0.02)
    return seen
