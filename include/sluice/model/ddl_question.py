"""A question to people: whether a slave is to apply a command of the master."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sluice.model.action import Action
from sluice.model.table_definition import TableChange


@dataclass(frozen=True)
class DdlQuestion:
    """A command that waits for a decision, with the ordinal of its transaction, its REPL_KEY and its body.

    Attributes:
        doubts: the definitions in it that the slave does not create without a decision, each with the reason.
    """

    ordinal: int
    key: int
    action: Action
    table: str
    text: str
    doubts: tuple[str, ...] = ()

    def __str__(self) -> str:
        lost = "; ".join(self.lost_data) or "nothing that the slave has"
        text = f"the master's {self.action.name} of {self.table} in transaction {self.ordinal}. Lost with it: {lost}"
        return f"{text}. Not made by itself: {'; '.join(self.doubts)}" if self.doubts else text

    @property
    def statement(self) -> str:
        """The statement that was executed on the master; empty if its text is not known for certain."""
        return TableChange.from_json(self.text).statement or ""

    @property
    def lost_data(self) -> tuple[str, ...]:
        """The data that the slave loses if it applies the command, one phrase each; empty if none."""
        return tuple(lost_by(TableChange.from_json(self.text)))


def lost_by(change: TableChange) -> Iterator[str]:
    """The losses of a slave that carries it out."""
    if change.after is None:
        yield "the table with all its rows"
    if change.before is None or change.after is None:
        return
    after = {column.number: column for column in change.after.columns}
    for column in change.before.columns:
        if column.number not in after:
            yield f"the column {column.name} with its values"
        elif (new := after[column.number]).type != column.type:
            yield f"what {new.type} does not hold of the column {column.name}, which is {column.type}"
    if change.after.rewritten:
        yield "the rows as they are: the master computed them anew, and they follow"
