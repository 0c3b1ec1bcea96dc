"""How far the load of an initial update is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class LoadProgress:
    """How far it is on the slave that is furthest behind.

    Attributes:
        chunks, chunks_done: how many there are, and are in; with blocks, ranges of keys; none if programs bring rows.
        rows: how many are in; nobody counts those that programs bring.
        bytes, bytes_planned: of the chunks that are in, and of all, about; of tables that programs fill, and of the
            master's; None if nobody knows.
        rows_per_s: since whoever loads now began.
        seconds_left: as it went since then; None if nobody can tell.
        waits: why nothing is loaded now; None if something is.
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
        """For a log: megabytes and the time that is left, as far as these are known."""
        if self.bytes is None or self.bytes_planned is None:
            return {}
        left = "?" if self.seconds_left is None else self.seconds_left
        return {"mb": f"{self.bytes / 1e6:.1f}/{self.bytes_planned / 1e6:.1f}", "seconds_left": left}

    @property
    def summary(self) -> str:
        """For people: all of it but the chunks."""
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
