"""Which tables change how much, whatever clients want: since the start, in the last hour and in the last 24."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Mapping

from sluice.model.names import TableName
from sluice.relay.log_reader import LogSlice
from sluice.relay.payloads import Kind

Key = tuple[str, TableName, Kind]
# A window's length, and the steps in which it moves on.
HOUR, DAY = (3_600, 300), (86_400, 3_600)


class RollingCounts:
    """Counts of the last `length_s` seconds, which go in steps."""

    def __init__(self, length_s: int, step_s: int) -> None:
        self.total: Counter[Key] = Counter()
        self._steps = length_s // step_s
        self._step_s = step_s
        self._parts: deque[tuple[int, Counter[Key]]] = deque()

    def add(self, counts: Mapping[Key, int], now: float) -> None:
        """Count."""
        self.let_go(now)
        number = int(now // self._step_s)
        if not self._parts or self._parts[-1][0] != number:
            self._parts.append((number, Counter()))
        self._parts[-1][1].update(counts)
        self.total.update(counts)

    def let_go(self, now: float) -> None:
        """Forget what is too old."""
        while self._parts and self._parts[0][0] <= now // self._step_s - self._steps:
            for key, count in self._parts.popleft()[1].items():
                self.total[key] -= count
                if not self.total[key]:
                    del self.total[key]


class Usage:
    """Counts all changes from the logs' ends on; its cursors are where the logs end."""

    version = 0
    is_ready = True

    def __init__(self, ends: Mapping[str, int], clock: Callable[[], float] = time.time) -> None:
        self.cursors = dict(ends)
        self.since_start: Counter[Key] = Counter()
        self._hour, self._day = RollingCounts(*HOUR), RollingCounts(*DAY)
        self._clock = clock

    def wants(self, _: TableName) -> bool:
        """No event: their numbers will do."""
        return False

    async def take(self, source: str, found: LogSlice) -> None:
        """Count what was read."""
        counts = {(source, table, kind): count for (table, kind), count in found.usage.items()}
        self.since_start.update(counts)
        for window in (self._hour, self._day):
            window.add(counts, self._clock())
        self.cursors[source] = found.end

    def figures(self) -> list[dict[str, object]]:
        """One entry for each table."""
        windows = {"since_start": self.since_start}
        for name, window in (("last_hour", self._hour), ("last_24_hours", self._day)):
            window.let_go(self._clock())
            windows[name] = window.total
        return [
            {
                "source": source,
                "schema": table.schema,
                "table": table.table,
                **{
                    name: {str(kind.name).lower(): counts[source, table, kind] for kind in Kind}
                    for name, counts in windows.items()
                },
            }
            for source, table in sorted({key[:2] for key in self.since_start})
        ]
