"""A stylesheet as a plugin: each row becomes a message of its own, passes it, and what comes back is read as rows.

No message has two rows, and none tells of a transaction, or of another action than INSERT: so nothing can depend on
where batches are cut, and an initial update, the stream and a comparison make the same of a row. The columns are those
of the CREATE that passes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from sluice import extensions, shell
from sluice.apply.transform.plugin import PluginTransform, Rows, fit_plugin, rows_of_each
from sluice.apply.transform.plugin import Row as Values
from sluice.apply.transform.xslt_process import sandbox
from sluice.expressions.value_types import Type, TypeFamily
from sluice.messages.column_literal import BOOLEAN_LETTERS, BOOLEAN_WORDS
from sluice.messages.from_changes import column_names
from sluice.messages.message import Description, Message, Row
from sluice.messages.xml_reader import parse
from sluice.messages.xml_writer import render
from sluice.model.action import Action
from sluice.model.layout import Column, Layout
from sluice.model.stylesheet import Stylesheet
from sluice.model.table_definition import DefinedColumn, DefinedTable, TableChange


def stylesheet_transform(sheet: Stylesheet, layout: Layout) -> PluginTransform:
    """The stylesheet's shape, for a table as a slave would see it. Raises ConfigError SLC-161 as `fit_plugin`."""
    hint = f"take it out of `stylesheets`; {shell.check()} tells whether it can be used"
    return fit_plugin(
        f"stylesheet {sheet.name}",
        layout,
        lambda given: extensions.usable(lambda: StylesheetPlugin(sheet, given)),
        hint,
    )


class StylesheetPlugin:
    """A plugin that passes rows through a stylesheet. Raises ValueError, and what `Sandbox.transform` raises."""

    def __init__(self, sheet: Stylesheet, layout: Layout) -> None:
        self._sandbox = sandbox(sheet.text)
        self._names = [column.name for column in layout.columns]
        self._given = _booleans(layout.columns)
        self._attributes = {"schema": layout.name.schema, "tableName": layout.name.table}
        (made,) = self._transform([Message(self._create_description(layout))])
        if made is None:
            raise ValueError("it leaves nothing of the CREATE, which tells the columns")
        self._expect(made.description.attributes, Action.CREATE)
        self.columns = [_column(column.name, column.attributes) for column in made.description.columns]
        self._made = _booleans(self.columns)
        self.key = [column.name for column in made.description.columns if column.attributes.get("pk") == "true"]

    def rows(self, rows: pa.RecordBatch) -> Rows:
        """Pass each row through the stylesheet."""
        attributes = {**self._attributes, "action": Action.INSERT.name}
        values = zip(*(column.to_pylist() for column in rows.columns), strict=True)
        shown = (dict(zip(self._names, texts, strict=True)) for texts in values)
        given = (Row(tuple(_spell_booleans(row, self._given, BOOLEAN_WORDS).items()), attributes) for row in shown)
        made = self._transform(Message(Description(), (row,)) for row in given)
        return rows_of_each([column.name for column in self.columns], (list(self._values(message)) for message in made))

    def _create_description(self, layout: Layout) -> Description:
        columns = (
            DefinedColumn(at, column.name, column.type, column.not_null) for at, column in enumerate(layout.columns, 1)
        )
        table = DefinedTable(layout.name, tuple(columns), layout.key_names)
        attributes = {**self._attributes, "action": Action.CREATE.name}
        return Description(Action.CREATE.name, "", tuple(column_names(TableChange(after=table), table)), attributes)

    def _transform(self, messages: Iterable[Message]) -> Iterator[Message | None]:
        return (
            parse(text) if text else None for text in self._sandbox.transform([render(message) for message in messages])
        )

    def _values(self, message: Message | None) -> Iterator[Values]:
        for row in message.rows if message else ():
            self._expect(row.attributes, Action.INSERT)
            if raw := [name for name, value in row.columns if isinstance(value, bytes)]:
                raise ValueError(f"the column {raw[0]} is base64 without type='text': values are texts, bytea too")
            values = {name: value for name, value in row.columns if not isinstance(value, bytes)}
            yield _spell_booleans(values, self._made, BOOLEAN_LETTERS)

    def _expect(self, attributes: Mapping[str, str | None], action: Action) -> None:
        """Check that the stylesheet changed no attribute that another setting determines."""
        for name, value in {**self._attributes, "action": action.name}.items():
            if attributes.get(name, value) != value:
                raise ValueError(f"it says another {name} than {value}, which is not for a stylesheet to say")


def _column(name: str, attributes: Mapping[str, str]) -> Column:
    if "typeName" not in attributes:
        raise ValueError(f"the column {name} has no typeName")
    return Column(name, attributes["typeName"], attributes.get("nullable") == "0")


def _booleans(columns: Iterable[Column]) -> list[str]:
    return [column.name for column in columns if Type.from_name(column.type).kind is TypeFamily.BOOLEAN]


def _spell_booleans(row: Values, booleans: Iterable[str], spelling: Mapping[str, str]) -> Values:
    """A row with its booleans as words for a message, or as letters for a database."""
    return {**row, **{name: spelling.get(value, value) for name in booleans if (value := row.get(name))}}
