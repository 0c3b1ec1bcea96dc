"""Rules that say which side's row wins where both sides are masters."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from sluice.model.row_difference import Kind

Row = dict[str, str | None]


class Winner(StrEnum):
    """The side whose row both are to have; or neither."""

    SOURCE = "source"
    SLAVE = "slave"
    LEAVE = "leave"


@dataclass(frozen=True)
class Conflict:
    """A row that is not the same on both sides, at points of both streams.

    Attributes:
        key: in the order of the slave's key.
        ours, theirs: the source's and the slave's row, by the source's names of columns; None if it is not there.
    """

    key: tuple[str, ...]
    ours: Row | None
    theirs: Row | None

    @property
    def kind(self) -> Kind:
        """As a comparison calls it."""
        if self.ours is None:
            return "extra"
        return "missing" if self.theirs is None else "changed"


@dataclass(frozen=True)
class Rule:
    """One side wins every row of some kinds; others are left. A row may be of another kind than a report says."""

    side: Winner
    kinds: Collection[str]

    def winner(self, conflict: Conflict) -> Winner:
        """The winner of a row."""
        return self.side if conflict.kind in self.kinds else Winner.LEAVE
