"""How far a sequence has come, and how far another must go so as not to hand out what the first one did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sluice.model.names import TableName


@dataclass(frozen=True)
class SequenceValue:
    """A sequence of the source, as a column of a watched table uses it.

    Attributes:
        table: whose column takes its values from it.
        last: the newest value that it gave out, or set aside for a session.
        cycle: it begins again at its end, so that no value is "further" than another.
    """

    table: TableName
    column: str
    sequence: TableName
    last: int
    cycle: bool

    @property
    def use(self) -> tuple[TableName, str, TableName]:
        """Which column takes its values from which sequence."""
        return self.table, self.column, self.sequence

    def to_json(self) -> dict[str, Any]:
        """As the manifest keeps it."""
        return asdict(self)

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> SequenceValue:
        """What `to_json` gave."""
        names = {name: TableName(**body[name]) for name in ("table", "sequence")}
        return cls(**{**body, **names})


@dataclass(frozen=True)
class SequenceState:
    """Where a sequence of a slave stands, and by which steps it goes on."""

    last: int
    called: bool
    increment: int
    low: int
    high: int


def moved(own: SequenceState, master: SequenceValue) -> int | None:
    """The value that a slave's sequence is to have given out last; None if it is far enough.

    Never back, whichever way it counts, and in steps of its own: a slave that counts the even numbers goes on with an
    even one. Only a sequence that begins again at its end is put where the master's is.
    """
    current = own.last if own.called else own.last - own.increment
    if master.cycle:
        target = min(max(master.last, own.low), own.high)
        return None if own.called and target == current else target
    steps = -((current - master.last) // own.increment)
    return min(max(current + steps * own.increment, own.low), own.high) if steps > 0 else None
