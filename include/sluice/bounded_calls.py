"""Calls of servers that may hang: each in a thread of its own, waited for within limits."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from threading import Lock, Thread
from typing import Generic, TypeVar

from sluice.errors import SluiceError
from sluice.library_errors import unforeseen

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
_LOOK_S = 0.02


class BoundedCalls(Generic[K]):
    """Makes calls at the same time. One that hangs keeps its thread, so it is not begun again before it has ended.

    Args:
        at_once: so many calls are made at the same time.
    """

    def __init__(self, at_once: int = 8) -> None:
        self._at_once = at_once
        self._lock = Lock()
        self._at_work: dict[K, Thread] = {}

    def results(self, calls: Mapping[K, Callable[[], T]], seconds: float) -> dict[K, T | SluiceError]:
        """The result or the error of each call; none of a call that has not ended after so many seconds, or that hangs
        since earlier.

        A call that was begun goes on after that. A call that was not begun never is.
        """
        end = time.monotonic() + seconds
        results: dict[K, T | SluiceError] = {}
        waiting = deque(calls.items())
        working: list[Thread] = []
        while (waiting or working) and time.monotonic() < end:
            while waiting and len(working) < self._at_once:
                if thread := self._begin(*waiting.popleft(), results):
                    working.append(thread)
            if working:
                working[0].join(_LOOK_S)
            working = [thread for thread in working if thread.is_alive()]
        # A call that goes on may write into it.
        return dict(results)

    def _begin(self, key: K, call: Callable[[], T], results: dict[K, T | SluiceError]) -> Thread | None:
        def work() -> None:
            try:
                results[key] = call()
            except SluiceError as error:
                results[key] = error
            except Exception as error:
                results[key] = unforeseen(error)

        with self._lock:
            if key in self._at_work and self._at_work[key].is_alive():
                return None
            thread = self._at_work[key] = Thread(target=work, daemon=True, name=f"call {key}")
            thread.start()
        return thread
