"""Changes of a table, counted by kind."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RowCounts:
    """Rows that were inserted, updated and deleted."""

    inserts: int = 0
    updates: int = 0
    deletes: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.inserts + self.updates + self.deletes

    def __add__(self, other: RowCounts) -> RowCounts:
        """The rows of both."""
        return RowCounts(self.inserts + other.inserts, self.updates + other.updates, self.deletes + other.deletes)
