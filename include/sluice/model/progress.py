"""The progress of the load of an initial update."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


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
    """

    chunks: int
    chunks_done: int
    rows: int
    bytes: int | None = None
    bytes_planned: int | None = None
    rows_per_s: int | None = None
    seconds_left: int | None = None
    waits: str | None = None

    @property
    def facts(self) -> dict[str, object]:
        """Fields of a log line: megabytes done and planned, and seconds left; empty if the sizes are unknown."""
        if self.bytes is None or self.bytes_planned is None:
            return {}
        left = "?" if self.seconds_left is None else self.seconds_left
        return {"mb": f"{self.bytes / 1e6:.1f}/{self.bytes_planned / 1e6:.1f}", "seconds_left": left}

    @property
    def summary(self) -> str:
        """A text for people: everything but the chunks."""
        parts = [f"{self.rows:,} rows"] if self.chunks else []
        if self.bytes is not None and self.bytes_planned is not None:
            parts.append(f"{self.bytes / 1e6:,.1f} of {self.bytes_planned / 1e6:,.1f} MB")
        if self.rows_per_s is not None:
            parts.append(f"{self.rows_per_s:,} rows/s")
        if self.seconds_left:
            parts.append(f"{timedelta(seconds=self.seconds_left)} left")
        if self.waits:
            parts.append(f"waits: {self.waits}")
        return ", ".join(parts)
