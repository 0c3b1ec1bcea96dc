"""Kinds of changes, by the letter that ITEMS and the change log keep, and the policies of slaves for commands."""

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
    LOST = "L"
    """Rows of its table are not known from here on: one is too long to be published, or `new` says why. The log has a
    COMMIT for it."""


class Policy(StrEnum):
    """The action of a slave for one kind of command."""

    APPLY = "apply"
    IGNORE = "ignore"
    STOP = "stop"
    """The drain stops before the command, as at an error, until an administrator decides."""
    ASK = "ask"
    """The drain stops before the command, and a question in Airflow asks for the decision."""


class Existing(StrEnum):
    """The action of a CREATE for a table that exists on the slave already, with rows or with other columns."""

    STOP = "stop"
    OVERWRITE = "overwrite"
    """The rows are deleted."""
    RECREATE = "recreate"
    """The table is dropped and created again."""


class FilledRows(StrEnum):
    """The action of an initial update for rows that a table of the slave has already."""

    TRUNCATE = "truncate"
    """They are deleted."""
    REFUSE = "refuse"
    """The update is refused."""
    MERGE = "merge"
    """Rows with a key of the master's are replaced by the master's rows; the others stay, as the slave's own."""


@dataclass(frozen=True)
class Policies:
    """The policies of a slave for the master's commands, by kind."""

    creates: Policy = Policy.APPLY
    drops: Policy = Policy.APPLY
    alters: Policy = Policy.APPLY
    existing: Existing = Existing.STOP

    def about(self, action: Action) -> Policy:
        """The policy for one kind of command; APPLY for kinds without one."""
        listed = {Action.CREATE: self.creates, Action.DROP: self.drops, Action.ALTER: self.alters}
        return listed.get(action, Policy.APPLY)


APPLIED = Policies()


# Those of one row each.
OF_A_ROW = (Action.INSERT, Action.UPDATE, Action.DELETE)
ROWS = frozenset({*OF_A_ROW, Action.TRUNCATE})
COMMANDS = frozenset({Action.CREATE, Action.ALTER, Action.DROP, Action.STATEMENT})


@dataclass(frozen=True)
class Command:
    """A change that is not a change of rows, at its point in the stream.

    Attributes:
        layout: the columns of its table from here on (of a dropped table: until here); None if it has no table.
        text: its body, as the source wrote it.
        ordinal: the ordinal of its transaction.
        key: its REPL_KEY.
        existing: the action of a CREATE on this slave for a table that exists already.
        change: the parsed text; None if it names no table, or is not parsed yet.
    """

    action: Action
    layout: Layout | None
    text: str
    ordinal: int
    key: int
    existing: Existing = Existing.STOP
    change: TableChange | None = field(default=None, compare=False)

    def table_change(self) -> TableChange:
        """Its effect on its table. Raises ValueError if it has none."""
        return self.change or TableChange.from_json(self.text)
