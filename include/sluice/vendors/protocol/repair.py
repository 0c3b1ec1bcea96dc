"""A slave whose rows of some keys become those of the master, at a point of the stream (R10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sluice.apply.mapping.table_view import TableView
    from sluice.changelog.points import PointWait
    from sluice.vendors.protocol.read import Key


@dataclass(frozen=True)
class RowsRepaired:
    """How many rows of the slave were deleted, and how many were inserted or updated."""

    deleted: int = 0
    written: int = 0


# Told what a transaction wrote, before that is committed; what is to be counted of it.
Counted = Callable[[RowsRepaired], RowsRepaired]


class RowRepair(Protocol):
    """The master's rows of some keys come beside the table, and at the point into it."""

    def begin(self, view: TableView) -> Sequence[str]:
        """Begin with rows of a table. Returns the types that the columns of its key have on the slave.

        Raises:
            SluiceError: SLC-467, no index of the slave's table tells rows apart by that key; or what else is in the
                way of writing to it.
        """

    def write(self, buffer: bytes) -> None:
        """Write some rows, in the text format, with the columns that the view writes."""

    def end(
        self, keys: Sequence[Key], at: PointWait, expect_allowed: Callable[[], None], counted: Counted
    ) -> RowsRepaired:
        """Wait for the slave to be at the point; there make its rows of these keys those that were written.

        Args:
            expect_allowed: called when no other job can move the slave any more; it raises if that is not to be.
            counted: called when all is written; what it answers is returned.

        Raises:
            KeyConflict: SLC-603, a row of another key is in the way; nothing was changed.
        """

    def close(self) -> None:
        """End, without what was not committed."""


# The values of a row, and its version, which is another one whenever it was written.
VersionedRow = tuple[Sequence[str | None], str]


class VersionedRepair(RowRepair, Protocol):
    """The same for rows that others write, too: only a row that is still the one that was looked at is replaced."""

    def arrive(self, at: PointWait) -> None:
        """Wait for the slave to be at a point, at which it is kept."""

    def rows(self, view: TableView, keys: Sequence[Key], at: PointWait) -> Mapping[Key, VersionedRow]:
        """The rows of these keys while the slave is at the point: the columns that the view writes."""

    def end_unchanged(
        self,
        keys: Sequence[Key],
        versions: Mapping[Key, str],
        at: PointWait,
        expect_allowed: Callable[[], None],
        counted: Counted,
    ) -> RowsRepaired:
        """The same as `end`, for those of the keys whose rows are of these versions. Others are left as they are."""
