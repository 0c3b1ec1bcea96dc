"""How a replication was at some time, for charts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HistoryPoint:
    """A replication at a time, in seconds since 1970; the ordinal is that of its position."""

    at: float
    lag_s: float
    holdback: int
    ordinal: int
