"""Row conflicts: rows of a slave that differ from what the master's changes expect, and the actions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from sluice.model.layout import Layout
from sluice.model.names import TableName


class RowConflict(StrEnum):
    """A kind of conflict: the row of an update or delete is missing, or the row of an insert exists already."""

    MISSING = "missing"
    DUPLICATE = "duplicate"


# Numbers of rows, by table of the slave and kind of conflict.
Tolerated = Counter[tuple[TableName, RowConflict]]


def conflict_counts(table: TableName, missing: int = 0, duplicate: int = 0) -> Tolerated:
    """The conflicts of one table as a counter; a negative number of missing rows counts as duplicates."""
    counts = {RowConflict.MISSING: max(missing, 0), RowConflict.DUPLICATE: duplicate + max(-missing, 0)}
    return Counter({(table, conflict): rows for conflict, rows in counts.items() if rows})


class ConflictAction(StrEnum):
    """The action of a slave for a row conflict."""

    WARN = "warn"
    """The row becomes the master's row, and the conflict is counted."""
    UPSERT = "upsert"
    """The row becomes the master's row."""
    STOP = "stop"
    """The drain stops before the transaction."""
    RECORD = "record"
    """The row stays as it is, and the change is kept in the control store."""


@dataclass(frozen=True)
class RejectedChange:
    """A change that was not applied. Images as in a segment, with the slave's names.

    Attributes:
        layout: None if it belongs to no table.
        conflict: the conflict that caused the rejection; None if an administrator removed its transaction.
        unseen: the images are the master's, because the slave's view of them could not be computed.
    """

    layout: Layout | None
    conflict: RowConflict | None
    action: str
    ordinal: int
    repl_key: int
    new: list[str | None] | None
    old: list[str | None] | None
    unseen: bool = False
