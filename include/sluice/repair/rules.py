"""Rules that say which side's row wins where both sides are masters."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from sluice.model.row_difference import Kind

Row = dict[str, str | None]


class Winner(StrEnum):
    """The side whose row both are to have; or neither: the rule leaves the row, or cannot decide on it."""

    SOURCE = "source"
    SLAVE = "slave"
    LEAVE = "leave"
    UNDECIDED = "undecided"


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
        """The kind of difference, as a comparison calls it."""
        if self.ours is None:
            return "extra"
        return "missing" if self.theirs is None else "changed"


class Rule(Protocol):
    """A rule for the rows of one table."""

    def winners(self, conflicts: Sequence[Conflict]) -> Sequence[Winner]:
        """The winner of each."""


@dataclass(frozen=True)
class OneSide:
    """One side wins every row."""

    side: Winner

    def winners(self, conflicts: Sequence[Conflict]) -> Sequence[Winner]:
        """The winner of each."""
        return [self.side] * len(conflicts)


@dataclass(frozen=True)
class OfKinds:
    """Another rule for rows of some kinds; others are left. A row may be of another kind than a report says."""

    kinds: Collection[str]
    rule: Rule

    def winners(self, conflicts: Sequence[Conflict]) -> Sequence[Winner]:
        """The winner of each."""
        asked = [conflict for conflict in conflicts if conflict.kind in self.kinds]
        winners = self.rule.winners(asked) if asked else ()
        answers = {conflict.key: winner for conflict, winner in zip(asked, winners, strict=True)}
        return [answers.get(conflict.key, Winner.LEAVE) for conflict in conflicts]
