"""The queue of one connected client: events in their order, bounded by its filters and by memory.

The change log is the rest of the queue. When memory is full, reading for this client pauses at its cursor, and goes on
when half of it was served. An event counts as received when the client asks for the next one.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sluice.model.names import TableName
from sluice.relay.log_reader import LogSlice, PackedEvent, trimmed_log_error
from sluice.relay.payloads import Discard, EventKind, Filter

_LAST = 10


# The table and the kinds of a filter.
Wish = tuple[TableName, EventKind]


@dataclass
class _QueuedEvent:
    source: str
    wish: Wish
    event: PackedEvent | None
    """None once it was discarded."""


@dataclass(frozen=True)
class ServedEvent:
    """An event that a client got, for the figures."""

    at: float
    source: str
    table: TableName
    kind: int
    position: int


class ClientQueue:
    """The events that wait for one client.

    Args:
        cursors: by source, the position up to which its log was read for this client.
        most_bytes: the memory that events may take before reading pauses.
    """

    def __init__(self, name: str, filters: Iterable[Filter], cursors: Mapping[str, int], most_bytes: int) -> None:
        self.name = name
        self.filters = {to_wish(wanted): wanted for wanted in filters}
        self.cursors = dict(cursors)
        self.version = 0
        self.served = self.discarded = self.largest = 0
        self.last: deque[ServedEvent] = deque(maxlen=_LAST)
        self.lost: str | None = None
        self.paused = False
        self._most_bytes = most_bytes
        self._order: deque[_QueuedEvent] = deque()
        self._by_wish: dict[Wish, deque[_QueuedEvent]] = {}
        self._source_counts: Counter[str] = Counter()
        self._bytes = 0
        self._size = 0
        self._unconfirmed: _QueuedEvent | None = None

    @property
    def size(self) -> int:
        """The number of events that wait in memory."""
        return self._size

    @property
    def bytes(self) -> int:
        """The memory that waiting events take."""
        return self._bytes

    @property
    def has_all(self) -> bool:
        """Whether the client confirmed everything that was read for it."""
        return not self._size and self._unconfirmed is None

    @property
    def is_ready(self) -> bool:
        """Whether events are to be read for it."""
        return bool(self.filters) and self._bytes < self._most_bytes // 2

    def wants(self, table: TableName) -> bool:
        """Whether a filter is about that table."""
        return any(wished == table for wished, _ in self.filters)

    def add_filter(self, added: Filter, ends: Mapping[str, int]) -> None:
        """Wish for more events from now on; a filter of the same table and kinds only gets other limits.

        A filter without a kind takes all of its table away. The first one begins where the logs end.
        """
        table, _ = wish = to_wish(added)
        if not self.filters:
            self.cursors = dict(ends)
        # Replaced and never changed: a thread may be reading by it.
        if added.kinds:
            self.filters = {**self.filters, wish: added}
        else:
            self.filters = {other: wanted for other, wanted in self.filters.items() if other[0] != table}
        self.version += 1

    async def take(self, source: str, log_slice: LogSlice) -> None:
        """Queue what was read of a log, as far as there is room."""
        if log_slice.lost:
            self.lost = trimmed_log_error(source).message
        for event in log_slice.events:
            if self._bytes >= self._most_bytes:
                self.cursors[source] = event.position - 1
                break
            self._offer(source, event)
        else:
            self.cursors[source] = log_slice.end
        self.paused = not self.is_ready

    def poll(self) -> PackedEvent | None:
        """The next event; the one before counts as received."""
        self._unconfirmed = None
        while self._order:
            queued = self._order.popleft()
            if (event := queued.event) is not None:
                self._by_wish[queued.wish].popleft()
                self._forget(queued)
                self._unconfirmed = queued
                self.served += 1
                self.last.append(ServedEvent(time.time(), queued.source, event.table, event.kind, event.position))
                return event
        return None

    def position(self, source: str) -> int:
        """The place where reading begins if all of this is lost: before the first event that is not received."""
        if (first := self._unconfirmed) and first.source == source and first.event:
            return first.event.position - 1
        if self._source_counts[source]:
            for queued in self._order:
                if queued.source == source and queued.event:
                    return queued.event.position - 1
        return self.cursors[source]

    def _offer(self, source: str, event: PackedEvent) -> None:
        wishes = (wish for wish in self.filters if wish[0] == event.table and wish[1] & event.kind)
        # Once, whichever of them have its kind.
        if (wish := next(wishes, None)) is None:
            return
        filtered, mine = self.filters[wish], self._by_wish.setdefault(wish, deque())
        if filtered.limit and len(mine) >= filtered.limit:
            self.discarded += 1
            if filtered.discard is not Discard.OLDEST:
                return
            oldest = mine.popleft()
            self._forget(oldest)
            oldest.event = None
            self._drop_gaps()
        queued = _QueuedEvent(source, wish, event)
        self._order.append(queued)
        mine.append(queued)
        self._size += 1
        self._source_counts[source] += 1
        self._bytes += event.size
        self.largest = max(self.largest, self._size)

    def _forget(self, queued: _QueuedEvent) -> None:
        assert queued.event is not None
        self._size -= 1
        self._source_counts[queued.source] -= 1
        self._bytes -= queued.event.size

    def _drop_gaps(self) -> None:
        """Drop the empty places of discarded events when they are the most."""
        if len(self._order) > 2 * self._size + 100:
            self._order = deque(queued for queued in self._order if queued.event is not None)


def to_wish(wanted: Filter) -> Wish:
    """The table and the kinds of a filter."""
    return TableName(wanted.schema, wanted.table), wanted.kinds
