"""The result of a step of a drain, which the drain's process reads."""

from __future__ import annotations

from dataclasses import dataclass, field

from sluice.model.position import Position


@dataclass
class StepDone:
    """The result of a step.

    Attributes:
        position: the slave's, which is durable.
        conflicts: rows that were not as expected: schema and table of the slave, the kind, how many.
        shut: it ended because the control store holds the slave's gate.
    """

    segment: int = 0
    ordinal: int = 0
    transactions: int = 0
    changes: int = 0
    conflicts: list[tuple[str, str, str, int]] = field(default_factory=list)
    shut: bool = False

    @property
    def position(self) -> Position:
        """The slave's position."""
        return Position(self.segment, self.ordinal)
