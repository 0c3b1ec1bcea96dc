"""Rows of a slave that are not as the master's changes expect them; what a slave does about them is its own affair."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from sluice.model.layout import Layout
from sluice.model.names import TableName


class RowConflict(StrEnum):
    """How a row was found: not there, although it changes or goes; there, although it comes."""

    MISSING = "missing"
    DUPLICATE = "duplicate"


# How many rows of each of the slave's tables.
Tolerated = Counter[tuple[TableName, RowConflict]]


def conflict_counts(table: TableName, missing: int = 0, duplicate: int = 0) -> Tolerated:
    """The count of one table; fewer than none missing are so many too many."""
    found = {RowConflict.MISSING: max(missing, 0), RowConflict.DUPLICATE: duplicate + max(-missing, 0)}
    return Counter({(table, conflict): rows for conflict, rows in found.items() if rows})


class ConflictAction(StrEnum):
    """What is done about such a row."""

    WARN = "warn"
    """It becomes what it is on the master, and is counted."""
    UPSERT = "upsert"
    """It becomes what it is on the master."""
    STOP = "stop"
    """The slave stops in front of the transaction."""
    RECORD = "record"
    """The row stays as it is, and the change is kept in the control store."""


@dataclass(frozen=True)
class RejectedChange:
    """A change that was not carried out. Images as in a segment, under the slave's names.

    Attributes:
        layout: None if it belongs to no table.
        oddity: how its row was found; None if somebody had its transaction removed.
        unseen: it is as the master wrote it, since what the slave would have seen of it could not be found out.
    """

    layout: Layout | None
    conflict: RowConflict | None
    action: str
    ordinal: int
    repl_key: int
    new: list[str | None] | None
    old: list[str | None] | None
    unseen: bool = False
