"""The progress of the load of an initial update."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from enum import StrEnum
from typing import Any, Self

# So many tables are named in a line.
_NAMED = 4


class TableState(StrEnum):
    """Whether a table is loaded."""

    DONE = "done"
    RUNNING = "running"
    WAITING = "waiting"


@dataclass(frozen=True)
class TableProgress:
    """The progress of one table, by the master's name of it.

    Attributes:
        chunks, chunks_done, rows, bytes, bytes_planned: as those of `LoadProgress`.
        rows_planned: an estimate; None if it is not by rows that the load is planned.
    """

    table: str
    state: TableState
    chunks: int
    chunks_done: int
    rows: int
    rows_planned: int | None = None
    bytes: int | None = None
    bytes_planned: int | None = None

    @property
    def part(self) -> str:
        """Say how much of it is in, for people."""
        if self.rows_planned is not None:
            return f"{self.rows:,} of about {max(self.rows, self.rows_planned):,} rows"
        sizes = ""
        if self.bytes is not None and self.bytes_planned is not None:
            sizes = f", {self.bytes / 1e6:,.1f} of {self.bytes_planned / 1e6:,.1f} MB"
        return f"{self.chunks_done} of {self.chunks} chunks, {self.rows:,} rows{sizes}"


@dataclass(frozen=True)
class LoadProgress:
    """The progress on the slave that is furthest behind.

    Attributes:
        chunks, chunks_done: numbers of all chunks and of loaded ones; in blocks, of key ranges; 0 with programs.
        rows: the number of loaded rows; 0 if programs load them.
        bytes, bytes_planned: approximate sizes of the loaded chunks and of all; with programs, of the slave's tables
            and of the master's; None if unknown.
        rows_per_s: the rate since the current job began.
        seconds_left: the estimate at that rate; None if unknown.
        waits: the reason why nothing is loaded now; None if something is.
        by_table: the same of each table, in the order in which they are loaded; none with programs, or if it was not
            asked for.
    """

    chunks: int
    chunks_done: int
    rows: int
    bytes: int | None = None
    bytes_planned: int | None = None
    rows_per_s: int | None = None
    seconds_left: int | None = None
    waits: str | None = None
    by_table: Sequence[TableProgress] = ()

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> LoadProgress:
        """The progress as a row of the control store has it, which may lack the tables."""
        known = {column.name: values[column.name] for column in fields(cls) if column.name != "by_table"}
        tables = [TableProgress(**{**row, "state": TableState(row["state"])}) for row in values.get("by_table") or ()]
        return cls(**known, by_table=tables)

    @property
    def has_begun(self) -> bool:
        """Whether it is known how much there is to load."""
        return bool(self.chunks or self.bytes_planned)

    def in_state(self, state: TableState) -> list[TableProgress]:
        """The tables that are in a state."""
        return [table for table in self.by_table if table.state is state]

    @property
    def tables(self) -> str:
        """Say how many tables are loaded, and which are at work, for people; empty if unknown."""
        if not self.by_table:
            return ""
        running = self.in_state(TableState.RUNNING)
        parts = [f"{len(self.in_state(TableState.DONE))} of {len(self.by_table)} tables"]
        parts += [f"{table.table}: {table.part}" for table in running[:_NAMED]]
        parts += [f"{len(running) - _NAMED} more at work"] if len(running) > _NAMED else []
        return "; ".join(parts)

    @property
    def facts(self) -> dict[str, object]:
        """Fields of a log line: megabytes done and planned, and seconds left; empty if the sizes are unknown."""
        if self.bytes is None or self.bytes_planned is None:
            return {}
        left = "?" if self.seconds_left is None else self.seconds_left
        return {"mb": f"{self.bytes / 1e6:.1f}/{self.bytes_planned / 1e6:.1f}", "seconds_left": left}

    @property
    def rows_planned(self) -> int | None:
        """The estimate of all rows, as many for each byte as so far; None if unknown."""
        if not (self.chunks and self.rows and self.bytes and self.bytes_planned):
            return None
        return max(self.rows, round(self.rows * self.bytes_planned / self.bytes))

    @property
    def summary(self) -> str:
        """A text for people: everything but the chunks."""
        parts = [_rows(self.rows, self.rows_planned)] if self.chunks else []
        if self.bytes is not None and self.bytes_planned is not None:
            parts.append(f"{self.bytes / 1e6:,.1f} of {self.bytes_planned / 1e6:,.1f} MB")
        parts += _pace(self.rows_per_s, self.seconds_left)
        if self.waits:
            parts.append(f"waits: {self.waits}")
        return ", ".join(parts)

    @property
    def text(self) -> str:
        """A text for people: everything but the tables."""
        chunks = f"{self.chunks_done} of {self.chunks} chunks" if self.chunks else ""
        return ", ".join(filter(None, [chunks, self.summary]))


@dataclass(frozen=True)
class ComparisonProgress:
    """The progress of a comparison, of all its slaves.

    Attributes:
        parts, parts_done: numbers of all parts and of compared ones; a part is a table, or a range of its keys.
        rows: the number of compared rows.
        rows_planned: an estimate of all; None if unknown.
        rows_per_s, seconds_left: as those of `LoadProgress`.
    """

    parts: int
    parts_done: int
    rows: int
    rows_planned: int | None = None
    rows_per_s: int | None = None
    seconds_left: int | None = None

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """The progress as a row of the control store has it, which may have more."""
        return cls(**{column.name: values[column.name] for column in fields(cls)})

    @classmethod
    def at(cls, first: tuple[int, int], now: tuple[int, int], parts: int, planned: int | None, seconds: float) -> Self:
        """The progress of a comparison that began `seconds` ago.

        Args:
            first, now: parts and rows, that an earlier try had compared and that are compared now.
            planned: the estimate of all rows.
        """
        (done, rows), (parts_before, rows_before) = now, first
        # What is left takes as long for each row, or else for each part, as what was done.
        left, speed = parts - done, done - parts_before
        if planned is not None and left and planned > rows > rows_before:
            left, speed = planned - rows, rows - rows_before
        return cls(
            parts,
            done,
            rows,
            None if planned is None else max(planned, rows) if done < parts else rows,
            int((rows - rows_before) / seconds) if seconds and done > parts_before else None,
            round(left * seconds / speed) if speed else None if left else 0,
        )

    @property
    def text(self) -> str:
        """A text for people."""
        parts = f"{self.parts_done} of {self.parts} parts"
        return ", ".join([_rows(self.rows, self.rows_planned), parts, *_pace(self.rows_per_s, self.seconds_left)])


def _rows(rows: int, planned: int | None) -> str:
    return f"{rows:,} rows" if planned is None or planned == rows else f"{rows:,} of about {planned:,} rows"


def _pace(rows_per_s: int | None, seconds_left: int | None) -> list[str]:
    rate = [] if rows_per_s is None else [f"{rows_per_s:,} rows/s"]
    return [*rate, f"{timedelta(seconds=seconds_left)} left"] if seconds_left else rate
