"""Values of sequences: the master's, and the value to which a slave's sequence has to advance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sluice.model.names import TableName


@dataclass(frozen=True)
class SequenceValue:
    """The state of a sequence of the source that a column of a watched table uses.

    Attributes:
        table, column: the column whose values come from the sequence.
        last: the last value that it gave out, or cached for a session.
        cycle: it is declared CYCLE, so that values have no order.
    """

    table: TableName
    column: str
    sequence: TableName
    last: int
    cycle: bool

    @property
    def use(self) -> tuple[TableName, str, TableName]:
        """The table, its column, and the sequence that the column uses."""
        return self.table, self.column, self.sequence

    def to_json(self) -> dict[str, Any]:
        """A plain form for the manifest; `from_json` reads it."""
        return asdict(self)

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> SequenceValue:
        """The value that `to_json` wrote."""
        names = {name: TableName(**body[name]) for name in ("table", "sequence")}
        return cls(**{**body, **names})


@dataclass(frozen=True)
class SequenceState:
    """The state of a slave's sequence: last value, whether it was handed out (`is_called`), increment and bounds."""

    last: int
    called: bool
    increment: int
    low: int
    high: int


def next_value(own: SequenceState, master: SequenceValue) -> int | None:
    """The last value that a slave's sequence has to have; None if it is far enough already.

    A sequence never goes back, in either direction, and keeps its own steps: one that counts even numbers gets an even
    value. Only a sequence with CYCLE is set to the master's value.
    """
    current = own.last if own.called else own.last - own.increment
    if master.cycle:
        target = min(max(master.last, own.low), own.high)
        return None if own.called and target == current else target
    steps = -((current - master.last) // own.increment)
    return min(max(current + steps * own.increment, own.low), own.high) if steps > 0 else None
