"""What a person sees while something takes long: no silent minute."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

HEARTBEAT_S = 5.0
_lock = threading.Lock()


def say(text: str) -> None:
    """One line on stderr."""
    with _lock:
        print(f"sluice: {text}", file=sys.stderr, flush=True)


@contextmanager
def step(title: str) -> Iterator[None]:
    """A step that says that it began, every few seconds that it is still at work, and how long it took."""
    over = threading.Event()
    began = time.monotonic()

    def beat() -> None:
        while not over.wait(HEARTBEAT_S):
            say(f"{title} ... {time.monotonic() - began:.0f} s")

    say(f"{title} ...")
    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    say(f"{title}: done in {time.monotonic() - began:.1f} s")
