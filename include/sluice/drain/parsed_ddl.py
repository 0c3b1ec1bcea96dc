"""The DDL of a batch, parsed: each text is parsed once, when the batch is cut."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from sluice.changelog.schema import have_actions
from sluice.model.action import COMMANDS, Action
from sluice.model.table_definition import TableChange

# A statement is no description of a table, and has a text of another form.
_DDL = COMMANDS - {Action.STATEMENT}


class ParsedDdl:
    """Descriptions of tables, by the texts that commands carry."""

    def __init__(self) -> None:
        self._known: dict[str, TableChange | None] = {}

    def change(self, text: str) -> TableChange | None:
        """A text, parsed; None if it is no description: only the slave that is to carry it out refuses it."""
        if text not in self._known:
            try:
                self._known[text] = TableChange.from_json(text)
            except ValueError:
                self._known[text] = None
        return self._known[text]


def parsed_ddl(changes: pa.Table) -> ParsedDdl:
    """The commands among these changes, parsed. Columns as in `CHANGES`."""
    parsed = ParsedDdl()
    commands = have_actions(changes["action"], _DDL)
    if pc.any(commands).as_py():
        for texts in changes["new"].filter(commands).to_pylist():
            parsed.change(texts[0])
    return parsed
