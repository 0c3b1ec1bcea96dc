"""Waiting for what others do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from sluice.spark_environment import work_name

T = TypeVar("T")


def until(look: Callable[[], T], otherwise: str = "it did not happen", seconds: float = 120) -> T:
    """What `look` gives, once it gives something."""
    end = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < end, otherwise
        time.sleep(0.02)
    return seen


def await_steps(seconds: float = 60) -> None:
    """Wait for steps that runs of this process have left at work: a run that fails beside its step does not."""
    for thread in threading.enumerate():
        if thread.name.startswith(work_name("")):
            thread.join(seconds)
            assert not thread.is_alive(), f"{thread.name} does not end"
