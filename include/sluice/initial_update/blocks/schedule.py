"""The order in which key ranges get their next blocks."""

from __future__ import annotations

import time
from collections.abc import Iterable

from sluice.vendors.protocol.read import KeyRange

# How long a range rests whose block was put off; twice as long each time that it is put off again. While somebody keeps
# its table locked, a slave that stands at a point for it has little of the stream.
_FIRST_REST_S = 1.0
_LONGEST_REST_S = 30.0


class Schedule:
    """Ranges in their order. A range that was put off rests, and then goes behind the others."""

    def __init__(self) -> None:
        self._rests: dict[int, tuple[float, float]] = {}

    def next(self, waiting: Iterable[KeyRange], most: int) -> tuple[KeyRange, ...]:
        """At most so many of these; none if all of them rest."""
        now = time.monotonic()
        due = [
            (until, key_range)
            for key_range in waiting
            if (until := self._rests.get(key_range.number, (0.0, 0.0))[1]) <= now
        ]
        return tuple(key_range for _, key_range in sorted(due, key=lambda entry: entry[0])[:most])

    def put_off(self, key_range: KeyRange) -> None:
        """Let the range rest; its block failed, and is tried again later."""
        rested, _ = self._rests.get(key_range.number, (0.0, 0.0))
        rest = min(2 * rested or _FIRST_REST_S, _LONGEST_REST_S)
        self._rests[key_range.number] = rest, time.monotonic() + rest

    def finish(self, key_range: KeyRange) -> None:
        """Let the range rest no more; its block is loaded."""
        self._rests.pop(key_range.number, None)
