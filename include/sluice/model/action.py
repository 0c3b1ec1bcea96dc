"""What a change is: the one letter that ITEMS and the change log keep of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sluice.model.layout import Layout


class Action(StrEnum):
    """One kind of change. Those of rows carry row images; commands carry a text of their own in `new`."""

    INSERT = "I"
    UPDATE = "U"
    DELETE = "D"
    TRUNCATE = "T"
    COMMIT = "C"
    """Only a key, drawn at the end of a transaction; it says where the transaction stands (R1)."""
    CREATE = "N"
    ALTER = "A"
    DROP = "X"
    STATEMENT = "S"


ROWS = frozenset({Action.INSERT, Action.UPDATE, Action.DELETE, Action.TRUNCATE})
COMMANDS = frozenset({Action.CREATE, Action.ALTER, Action.DROP, Action.STATEMENT})


@dataclass(frozen=True)
class Command:
    """A change that is no change of rows, at its place in the stream.

    Attributes:
        layout: the columns of its table from here on (of a dropped one: until here); None if it has no table.
        text: what it carries, as the source wrote it.
    """

    action: Action
    layout: Layout | None
    text: str
