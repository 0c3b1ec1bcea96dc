"""The history of a replication, for charts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HistoryPoint:
    """A replication at a time, in seconds since 1970; the ordinal is its position's."""

    at: float
    lag_s: float
    holdback: int
    ordinal: int
