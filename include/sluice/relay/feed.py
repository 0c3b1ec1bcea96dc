"""Reads the change logs for all that want events of them: at the end of a log all share one reading.

Sources are read beside each other, and one cursor of a source after another: a log that hangs holds up no other log,
and a segment that cannot be read holds up no consumer that stands elsewhere.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.names import TableName
from sluice.relay.log_reader import LogReader, LogSlice

# Before a cursor is read again at which a log could not be read.
_AGAIN_S = 1.0

T = TypeVar("T")


class EventConsumer(Protocol):
    """A receiver of events."""

    @property
    def cursors(self) -> Mapping[str, int]:
        """By source, the position up to which its log was read for it."""

    @property
    def version(self) -> int:
        """A number that changes when what it wants does."""

    @property
    def is_ready(self) -> bool:
        """Whether it takes more now."""

    def wants(self, table: TableName) -> bool:
        """Whether it wants events of a table."""

    async def take(self, source: str, log_slice: LogSlice) -> None:
        """Take what was read from its cursor on, and move that."""


@dataclass(frozen=True)
class _Trouble:
    why: str
    again_at: float


class Feed:
    """The loops that read; consumers are called in the event loop, each log is read in a thread.

    Args:
        readers: by source.
        consumers: gives the consumers of now.

    Attributes:
        ends: by source, where its log ended at the last look.
    """

    def __init__(
        self, readers: Mapping[str, LogReader], consumers: Callable[[], Iterable[EventConsumer]], poll_s: float
    ) -> None:
        self.ends = {source: reader.end() for source, reader in readers.items()}
        self._readers = readers
        # By source, then by cursor; None is the end of the log.
        self._troubles: dict[str, dict[int | None, _Trouble]] = {source: {} for source in readers}
        # Threads of its own: logs that hang leave others for saving positions.
        self._threads = ThreadPoolExecutor(max(len(readers), 1), "feed")
        self._consumers = consumers
        self._poll_s = poll_s
        self._wakeups = {source: asyncio.Event() for source in readers}

    @property
    def troubles(self) -> dict[str, str]:
        """By source, why its log cannot be read."""
        return {source: "; ".join(self._reasons(source)) for source, those in self._troubles.items() if those}

    def ask(self) -> None:
        """Look now: a consumer wants more."""
        for wakeup in self._wakeups.values():
            wakeup.set()

    async def run(self) -> None:
        """Read without an end."""
        async with asyncio.TaskGroup() as group:
            for source in self._readers:
                group.create_task(self._follow(source))

    async def _follow(self, source: str) -> None:
        wakeup = self._wakeups[source]
        while True:
            wakeup.clear()
            if not await self._turn(source):
                # `wait_for` of Python 3.11 loses a cancellation that comes with a wakeup.
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._poll_s):
                        await wakeup.wait()

    async def _turn(self, source: str) -> bool:
        """Look where the log ends, and read once for each cursor before that; whether this led further."""
        if not await self._look(source):
            return False
        groups: dict[int, list[EventConsumer]] = defaultdict(list)
        for consumer in self._consumers():
            # A consumer stands behind the end when the store was restored to an older state.
            if consumer.is_ready and consumer.cursors.get(source, self.ends[source]) != self.ends[source]:
                groups[consumer.cursors[source]].append(consumer)
        troubles = self._troubles[source]
        for cursor in troubles.keys() - groups.keys():
            del troubles[cursor]
        moved = False
        for cursor, group in groups.items():
            if cursor not in troubles or troubles[cursor].again_at <= _now():
                moved |= await self._read(source, cursor, group)
        return moved

    async def _look(self, source: str) -> bool:
        troubles = self._troubles[source]
        if None in troubles and troubles[None].again_at > _now():
            return False
        try:
            self.ends[source] = await self._in_thread(self._readers[source].end)
        except Exception as error:
            self._note(source, None, error)
            return False
        troubles.pop(None, None)
        return True

    async def _read(self, source: str, cursor: int, group: Collection[EventConsumer]) -> bool:
        versions = [consumer.version for consumer in group]
        read = self._readers[source].read
        try:
            log_slice = await self._in_thread(partial(read, cursor, _table_filter(group)))
        except Exception as error:
            self._note(source, cursor, error)
            return False
        self._troubles[source].pop(cursor, None)
        moved = False
        for consumer, version in zip(group, versions, strict=True):
            # If it wants something else meanwhile, this is not for it.
            if consumer.version == version and consumer.cursors.get(source) == cursor:
                await consumer.take(source, log_slice)
                moved |= consumer.cursors[source] != cursor
        return moved

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _note(self, source: str, cursor: int | None, error: Exception) -> None:
        why = error.message if isinstance(error, SluiceError) else f"{type(error).__name__}: {error}"
        if why not in self._reasons(source):
            event("WARNING log not read", source=source, why=why)
        self._troubles[source][cursor] = _Trouble(why, _now() + _AGAIN_S)

    def _reasons(self, source: str) -> list[str]:
        return list(dict.fromkeys(trouble.why for trouble in self._troubles[source].values()))


def _now() -> float:
    return asyncio.get_running_loop().time()


def _table_filter(group: Collection[EventConsumer]) -> Callable[[TableName], bool]:
    return lambda table: any(consumer.wants(table) for consumer in group)
