"""Reads the change logs for all that want events of them: at the end of a log all share one reading."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol

from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.names import TableName
from sluice.relay.log_reader import LogReader, LogSlice

# After a log could not be read.
_AGAIN_S = 1.0


class Consumer(Protocol):
    """Somebody who is given events."""

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

    async def take(self, source: str, found: LogSlice) -> None:
        """Take what was read from its cursor on, and move that."""


class Feed:
    """The loop that reads; consumers are called in the event loop, logs are read in a thread.

    Args:
        readers: by source.
        consumers: those of now.
    """

    def __init__(
        self, readers: Mapping[str, LogReader], consumers: Callable[[], Iterable[Consumer]], poll_s: float
    ) -> None:
        self.troubles: dict[str, str] = {}
        self._readers = readers
        self._consumers = consumers
        self._poll_s = poll_s
        self._asked = asyncio.Event()

    def ask(self) -> None:
        """Look now: somebody wants more."""
        self._asked.set()

    async def run(self) -> None:
        """Read without an end."""
        while True:
            self._asked.clear()
            moved = [await self._turn(source) for source in self._readers]
            if not any(moved):
                pause = _AGAIN_S if self.troubles else self._poll_s
                try:
                    await asyncio.wait_for(self._asked.wait(), pause)
                except TimeoutError:
                    continue

    async def _turn(self, source: str) -> bool:
        """Read once for each cursor; whether that led further."""
        groups: dict[int, list[Consumer]] = defaultdict(list)
        for one in self._consumers():
            if one.is_ready and source in one.cursors:
                groups[one.cursors[source]].append(one)
        moved = False
        for cursor, group in groups.items():
            versions = [one.version for one in group]
            try:
                found = await asyncio.to_thread(self._readers[source].read, cursor, _wanted_by(group))
            except Exception as error:
                why = error.message if isinstance(error, SluiceError) else f"{type(error).__name__}: {error}"
                if self.troubles.get(source) != why:
                    event("WARNING log not read", source=source, why=why)
                self.troubles[source] = why
                return False
            self.troubles.pop(source, None)
            for one, version in zip(group, versions, strict=True):
                # Meanwhile it may want something else: then this was read for nobody.
                if one.version == version and one.cursors.get(source) == cursor:
                    await one.take(source, found)
                    moved |= one.cursors[source] != cursor
        return moved


def _wanted_by(group: Collection[Consumer]) -> Callable[[TableName], bool]:
    return lambda table: any(one.wants(table) for one in group)
