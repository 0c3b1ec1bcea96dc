"""A statement for every node in the log: its transaction has a record of it in a table of ours, and its own rows.

The record comes first, without a text, so that none of the rows is given before it is known whose they are. Its text
comes last. A transaction that begins so and does not end so is refused: its rows would be lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sluice.model.action import Action
from sluice.model.names import TableName
from sluice.model.statement import Statement
from sluice.vendors.mariadb.capture.binlog.byte_reader import Malformed
from sluice.vendors.mariadb.capture.binlog.values import Image

# The places of the columns of a record.
NUMBER, TEXT = 0, 1


@dataclass
class Issued:
    """What is known of a statement within its transaction.

    Attributes:
        number: its number, as the record has it.
        touched: the watched tables that have rows in the transaction.
    """

    number: str | None
    touched: set[TableName] = field(default_factory=set)
    _text: str | None = None

    def records(self, action: Action, found: list[Image]) -> None:
        """Another change of a record within the transaction."""
        if action is not Action.UPDATE or len(found) != 2 or found[1][NUMBER] != self.number:
            raise Malformed("a transaction with a statement has the records of others")
        self._text = found[1][TEXT]

    @property
    def text(self) -> str:
        """Its text, for the stream. Raises ValueError, it is not all that the transaction did."""
        if not self._text:
            raise Malformed("a statement has no text")
        statement = Statement.from_json(self._text)
        layout = statement.table
        if str(statement.id) != self.number or layout is None:
            raise Malformed("a statement has the text of another one")
        if others := sorted(str(name) for name in self.touched - {layout.name}):
            raise Malformed(f"statement {statement.id} changed rows of {', '.join(others)}, which it does not name")
        if statement.reads and self.touched:
            raise Malformed(f"statement {statement.id} changed rows, and only reads")
        return self._text


def begun_by(action: Action, found: list[Image], *, is_first: bool) -> Issued | None:
    """The statement that a change of a record begins; None if that is a change of an earlier record."""
    if action is not Action.INSERT:
        return None
    if len(found) != 1 or not is_first:
        raise Malformed("a statement begins behind other changes")
    return Issued(found[0][NUMBER])
