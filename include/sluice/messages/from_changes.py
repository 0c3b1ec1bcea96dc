"""Changes of the change log as messages: what `reading` gives back of them, one description or row at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sluice.changelog.schema import NO_LAYOUT
from sluice.messages.column_literal import Cell
from sluice.messages.message import REPLICATION, Cells, ColumnName, Description, Row
from sluice.model.action import COMMANDS, Action
from sluice.model.layout import Layout
from sluice.model.statement import Statement
from sluice.model.table_definition import DefinedColumn, DefinedTable, TableChange

# So many changes at a time become Python values.
_AT_ONCE = 1_000
_SIZED = re.compile(r"(?P<type>[^(]*)\((?P<size>\d+)(?:,(?P<scale>-?\d+))?\)")

Value = Callable[[str], Cell]


@dataclass(frozen=True)
class Labels:
    """The attributes that all messages of a source have.

    Attributes:
        collected: transactions go into one message until it has so many rows; 0: each into its own.
        on_create: so many rows that a table had when it was found go into one message; the others of the transaction
            into further ones.
    """

    db_id: str
    version: str
    collected: int = 0
    on_create: int = 250


class Describing:
    """Makes messages of one source's changes.

    Args:
        layouts: finds layouts by their numbers.
        values: for a type, what a message has for what the database prints; None if it is the same.
    """

    def __init__(
        self,
        labels: Labels,
        layouts: Callable[[set[int]], Mapping[int, Layout]],
        values: Callable[[str], Value | None],
    ) -> None:
        self._labels = labels
        self._find = layouts
        self._values = values
        self._tables: dict[int, _Table] = {}
        self._open: _Open | None = None
        self._created = -1

    def descriptions(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Description | Row]:
        """The descriptions and rows of changes in their order, columns as in `changelog.schema.LOGGED`.

        A transaction begins a message, unless it is collected; a command is one of its own. Only the initial content of
        new tables is spread over several. Marks are in no message.
        """
        for batch in batches:
            for begin in range(0, len(batch), _AT_ONCE):
                changes = batch.slice(begin, _AT_ONCE).to_pylist()
                self._learn({change["layout"] for change in changes})
                for change in changes:
                    yield from self._describe(change)

    def _describe(self, change: Mapping[str, Any]) -> Iterator[Description | Row]:
        action = Action(change["action"])
        if action is Action.COMMIT:
            return
        attributes = dict(change["description"] or ())
        if action in COMMANDS:
            self._open = None
            if action is Action.CREATE:
                self._created = change["ordinal"]
            yield self._command(action, change, attributes)
            return
        hand = self._open
        full = self._labels.on_create if self._created == change["ordinal"] else None
        if hand is None or hand.ends(change["ordinal"], attributes, self._labels.collected, full):
            hand = self._open = _Open(attributes)
            yield Description(REPLICATION, change["trans_key"], attributes=attributes)
        hand.ordinal = change["ordinal"]
        hand.rows += 1
        yield self._row(action, change)

    def _row(self, action: Action, change: Mapping[str, Any]) -> Row:
        table = self._tables[change["layout"]]
        new, old = table.cells(change["new"]), table.cells(change["old"])
        named = {"schema": table.layout.name.schema, "tableName": table.layout.name.table}
        attributes = {**named, **self._attributes(action, change), **dict(change["attributes"] or ())}
        if action is Action.UPDATE:
            return Row(new or (), attributes, old)
        return Row(new or old or (), attributes)

    def _command(self, action: Action, change: Mapping[str, Any], attributes: Mapping[str, str | None]) -> Description:
        (text,) = change["new"]
        attributes = {**self._attributes(action, change), **dict(change["attributes"] or ()), **attributes}
        if action is Action.STATEMENT:
            attributes |= _statement_attributes(text)
            return Description(action.name, change["trans_key"], attributes=attributes)
        done = TableChange.from_json(text)
        table = done.after or done.before
        assert table is not None
        named: dict[str, str | None] = {"schema": table.name.schema, "tableName": table.name.table}
        if done.before and done.before.name != table.name:
            named |= {"oldSchema": done.before.name.schema, "oldTableName": done.before.name.table}
        if done.statement is not None:
            attributes["statement"] = done.statement
        return Description(action.name, change["trans_key"], tuple(column_names(done, table)), {**named, **attributes})

    def _attributes(self, action: Action, change: Mapping[str, Any]) -> dict[str, str | None]:
        return {
            "dbId": self._labels.db_id,
            "action": action.name,
            "replKey": str(change["repl_key"]),
            "version": self._labels.version,
            "transaction": change["trans_key"],
            "ordinal": str(change["ordinal"]),
        }

    def _learn(self, numbers: set[int]) -> None:
        if unknown := numbers - self._tables.keys() - {NO_LAYOUT}:
            for number, layout in self._find(unknown).items():
                self._tables[number] = _Table(layout, self._values)


@dataclass
class _Open:
    """The message that rows go into."""

    attributes: Mapping[str, str | None]
    ordinal: int = 0
    rows: int = 0

    def ends(self, ordinal: int, attributes: Mapping[str, str | None], collected: int, full: int | None) -> bool:
        """Whether a change begins another one: where a transaction begins (R4), or what a new table holds fills it."""
        if ordinal == self.ordinal:
            return full is not None and self.rows >= full
        return self.rows >= collected or attributes != self.attributes


class _Table:
    """A layout, and which of its columns messages write otherwise than the database."""

    def __init__(self, layout: Layout, values: Callable[[str], Value | None]) -> None:
        self.layout = layout
        self._names = [column.name for column in layout.columns]
        self._other = [(index, made) for index, column in enumerate(layout.columns) if (made := values(column.type))]

    def cells(self, values: list[str | None] | None) -> Cells | None:
        """A row image as messages have it."""
        if values is None:
            return None
        cells: list[Any] = list(values)
        for index, made in self._other:
            if cells[index] is not None:
                cells[index] = made(cells[index])
        return tuple(zip(self._names, cells, strict=True))


def _statement_attributes(text: str) -> dict[str, str]:
    """The attributes of a statement (Table 5.4 of the guide)."""
    issued = Statement.from_json(text)
    numbers = {"statementId": str(issued.id), "maxEntries": str(issued.max_rows)}
    return {"schema": issued.schema, **numbers, "statement": issued.sql}


def column_names(done: TableChange, table: DefinedTable) -> Iterator[ColumnName]:
    """The descriptions of a table's columns in a message, with their old names if they were renamed."""
    earlier = {column.number: column.name for column in done.before.columns} if done.before and done.after else {}
    for position, column in enumerate(table.columns, start=1):
        before = earlier.get(column.number, column.name)
        renamed = {"oldName": before} if before != column.name else {}
        yield ColumnName(column.name, {**_column_attributes(column, position, table), **renamed})


def _column_attributes(column: DefinedColumn, position: int, table: DefinedTable) -> dict[str, str]:
    attributes = {
        "table": table.name.table,
        "schema": table.name.schema,
        "pos": str(position),
        "number": str(column.number),
        "label": column.name,
        "typeName": column.type,
        "nullable": "0" if column.not_null else "1",
        "pk": str(column.name in table.key).lower(),
    }
    if sized := _SIZED.match(column.type):
        attributes |= {"colSize": sized["size"], "precision": sized["size"], "scale": sized["scale"] or "0"}
    more = {
        "default": column.default,
        "generated": column.generated,
        "identity": column.identity,
        "collation": column.collation,
    }
    return attributes | {name: value for name, value in more.items() if value is not None}
