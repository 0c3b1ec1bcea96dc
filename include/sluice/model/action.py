"""What a change is: the one letter that ITEMS and the change log keep of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from sluice.model.layout import Layout
from sluice.model.table_definition import TableChange


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


class Policy(StrEnum):
    """What a slave does about one kind of command."""

    APPLY = "apply"
    IGNORE = "ignore"
    STOP = "stop"
    """It waits in front of it, as at an error, for somebody to decide."""
    ASK = "ask"
    """It waits in front of it, and people are asked."""


class Existing(StrEnum):
    """What a CREATE does about a table that is there already, with rows or other columns."""

    STOP = "stop"
    OVERWRITE = "overwrite"
    """The rows are deleted."""
    RECREATE = "recreate"
    """The table is dropped and made anew."""


class Filled(StrEnum):
    """What an initial update does about rows that a table of the slave has."""

    TRUNCATE = "truncate"
    """They go."""
    REFUSE = "refuse"
    """It ends in front of them."""
    MERGE = "merge"
    """Those that bear a key of the master's become the master's; the others stay, and are the slave's own."""


@dataclass(frozen=True)
class Policies:
    """What a slave does about commands of the master."""

    creates: Policy = Policy.APPLY
    drops: Policy = Policy.APPLY
    alters: Policy = Policy.APPLY
    existing: Existing = Existing.STOP

    def about(self, action: Action) -> Policy:
        """What it does about one kind; what has no policy is applied."""
        listed = {Action.CREATE: self.creates, Action.DROP: self.drops, Action.ALTER: self.alters}
        return listed.get(action, Policy.APPLY)


APPLIED = Policies()


ROWS = frozenset({Action.INSERT, Action.UPDATE, Action.DELETE, Action.TRUNCATE})
COMMANDS = frozenset({Action.CREATE, Action.ALTER, Action.DROP, Action.STATEMENT})


@dataclass(frozen=True)
class Command:
    """A change that is no change of rows, at its place in the stream.

    Attributes:
        layout: the columns of its table from here on (of a dropped one: until here); None if it has no table.
        text: what it carries, as the source wrote it.
        ordinal: of its transaction.
        key: its REPL_KEY.
        existing: what a CREATE does on this slave about a table that is there already.
        change: what the text says of a table; None if it says nothing, or nobody has parsed it yet.
    """

    action: Action
    layout: Layout | None
    text: str
    ordinal: int
    key: int
    existing: Existing = Existing.STOP
    change: TableChange | None = field(default=None, compare=False)

    def described(self) -> TableChange:
        """What it says of its table. Raises ValueError if that is nothing."""
        return self.change or TableChange.from_json(self.text)
