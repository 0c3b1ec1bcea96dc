"""Estimates the rest of a load in blocks by the row counts of the master's planner."""

from __future__ import annotations

import time
from collections.abc import Sequence, Set
from dataclasses import replace

from sluice.context import Context
from sluice.errors import SluiceError
from sluice.initial_update.progress import LoadedAmount, progress
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
        self._remaining: dict[int, Foreseen] = {}
        self._asked: dict[int, Key | None] = {}
        self._first: LoadedAmount | None = None
        self._planned = 0

    def look(self, ranges: Sequence[KeyRange], wanted: Set[int]) -> None:
        """Estimate the rest of the ranges. Earlier estimates stay if the master does not answer.

        Args:
            wanted: the numbers of the ranges that lack rows.
        """
        changed = [
            key_range
            for key_range in ranges
            if key_range.number in wanted and self._asked.get(key_range.number, ()) != key_range.reached
        ]
        settings = self._context.config.source(self._source)
        try:
            connection = self._context.connection(settings.connection)
            estimates = master(settings.vendor).foresee(connection, changed, settings.trusted_code) if changed else []
        except SluiceError:
            estimates = []
        self._asked |= {key_range.number: key_range.reached for key_range, _ in zip(changed, estimates, strict=False)}
        self._remaining |= {key_range.number: estimate for key_range, estimate in zip(changed, estimates, strict=False)}
        self._remaining |= {number: Foreseen() for number in self._remaining.keys() - wanted}
        if self._first is None and wanted <= self._remaining.keys():
            bytes_left = sum(
                key_range.rows * self._remaining[key_range.number].width
                for key_range in ranges
                if key_range.number in self._remaining
            )
            self._planned = bytes_left + self._bytes_left()
            self._first = LoadedAmount(bytes_left, *_count_ended(ranges))

    def progress(self, ranges: Sequence[KeyRange], waits: str | None) -> LoadProgress:
        """The progress at the last look."""
        chunks, rows = _count_ended(ranges)
        tables = self._by_table(ranges, rests=bool(waits))
        if self._first is None:
            return LoadProgress(len(ranges), chunks, rows, waits=waits, by_table=tables)
        # What is expected changes as the master's statistics do.
        now = LoadedAmount(max(self._planned - self._bytes_left(), self._first.bytes), chunks, rows, tables)
        all_ = LoadedAmount(self._planned, len(ranges))
        return replace(progress(all_, self._first, now, time.monotonic() - self._began), waits=waits)

    def _by_table(self, ranges: Sequence[KeyRange], *, rests: bool) -> list[TableProgress]:
        ranges_by_table: dict[TableName, list[KeyRange]] = {}
        for key_range in ranges:
            ranges_by_table.setdefault(key_range.table, []).append(key_range)
        return [self._table_progress(str(table), ours, rests=rests) for table, ours in ranges_by_table.items()]

    def _table_progress(self, table: str, ranges: Sequence[KeyRange], *, rests: bool) -> TableProgress:
        ended, rows = _count_ended(ranges)
        estimates = [self._remaining.get(key_range.number) for key_range in ranges]
        rows_left = [estimate.rows for estimate in estimates if estimate is not None]
        state = TableState.WAITING if rests or not rows else TableState.RUNNING
        return TableProgress(
            table,
            TableState.DONE if ended == len(ranges) else state,
            chunks=len(ranges),
            chunks_done=ended,
            rows=rows,
            rows_planned=rows + sum(rows_left) if len(rows_left) == len(ranges) else None,
        )

    def _bytes_left(self) -> int:
        return sum(estimate.rows * estimate.width for estimate in self._remaining.values())


def _count_ended(ranges: Sequence[KeyRange]) -> tuple[int, int]:
    return sum(key_range.ended for key_range in ranges), sum(key_range.rows for key_range in ranges)
