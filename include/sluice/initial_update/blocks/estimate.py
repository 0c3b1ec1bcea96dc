"""Estimates the rest of a load in blocks by the row counts of the master's planner."""

from __future__ import annotations

import time
from collections.abc import Sequence, Set
from dataclasses import replace

from sluice.context import Context
from sluice.errors import SluiceError
from sluice.initial_update.progress import Done, progress
from sluice.model.names import TableName
from sluice.model.progress import LoadProgress, TableProgress, TableState
from sluice.vendors.protocol.read import Foreseen, Key, KeyRange
from sluice.vendors.registry import master


class RemainingEstimate:
    """The rest of the key ranges of one slave, since the current job began."""

    def __init__(self, context: Context, source: str) -> None:
        self._context = context
        self._source = source
        self._began = time.monotonic()
        self._left: dict[int, Foreseen] = {}
        self._asked: dict[int, Key | None] = {}
        self._first: Done | None = None
        self._planned = 0

    def look(self, ranges: Sequence[KeyRange], wanted: Set[int]) -> None:
        """See how far they are; a master that does not answer leaves it at what is known.

        Args:
            wanted: the numbers of those of which something is to come.
        """
        moved = [one for one in ranges if one.number in wanted and self._asked.get(one.number, ()) != one.reached]
        settings = self._context.config.source(self._source)
        try:
            connection = self._context.connection(settings.connection)
            found = master(settings.vendor).foresee(connection, moved, settings.trusted_code) if moved else []
        except SluiceError:
            found = []
        self._asked |= {one.number: one.reached for one, _ in zip(moved, found, strict=False)}
        self._left |= {one.number: range_left for one, range_left in zip(moved, found, strict=False)}
        self._left |= {number: Foreseen() for number in self._left.keys() - wanted}
        if self._first is None and wanted <= self._left.keys():
            bytes_left = sum(one.rows * self._left[one.number].width for one in ranges if one.number in self._left)
            self._planned = bytes_left + self._bytes()
            self._first = Done(bytes_left, *_counted(ranges))

    def progress(self, ranges: Sequence[KeyRange], waits: str | None) -> LoadProgress:
        """The progress at the last look."""
        chunks, rows = _counted(ranges)
        tables = self._by_table(ranges, rests=bool(waits))
        if self._first is None:
            return LoadProgress(len(ranges), chunks, rows, waits=waits, by_table=tables)
        # What is expected changes as the master's statistics do.
        now = Done(max(self._planned - self._bytes(), self._first.bytes), chunks, rows, tables)
        all_ = Done(self._planned, len(ranges))
        return replace(progress(all_, self._first, now, time.monotonic() - self._began), waits=waits)

    def _by_table(self, ranges: Sequence[KeyRange], *, rests: bool) -> list[TableProgress]:
        found: dict[TableName, list[KeyRange]] = {}
        for one in ranges:
            found.setdefault(one.table, []).append(one)
        return [self._of_table(str(table), ours, rests=rests) for table, ours in found.items()]

    def _of_table(self, table: str, ranges: Sequence[KeyRange], *, rests: bool) -> TableProgress:
        ended, rows = _counted(ranges)
        left = [self._left.get(one.number) for one in ranges]
        known = [one.rows for one in left if one is not None]
        state = TableState.WAITING if rests or not rows else TableState.RUNNING
        return TableProgress(
            table,
            TableState.DONE if ended == len(ranges) else state,
            chunks=len(ranges),
            chunks_done=ended,
            rows=rows,
            rows_planned=rows + sum(known) if len(known) == len(ranges) else None,
        )

    def _bytes(self) -> int:
        return sum(one.rows * one.width for one in self._left.values())


def _counted(ranges: Sequence[KeyRange]) -> tuple[int, int]:
    return sum(one.ended for one in ranges), sum(one.rows for one in ranges)
