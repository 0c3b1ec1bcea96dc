"""Builds the transform of a table from its configuration: row filter, computed and masked columns."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.transform.plugin import load_plugin
from sluice.apply.transform.stylesheet import stylesheet_transform
from sluice.apply.transform.transform import (
    ColumnTransform,
    RowFilter,
    RowTransform,
    Texts,
    TransformChain,
    copy_column,
)
from sluice.config.slave_table import HASH, REDACT, SlaveTableSettings
from sluice.errors import ConfigError
from sluice.expressions import Expression, Fault, constant, is_text, parse
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.stylesheet import Stylesheet

_T = TypeVar("_T")
_REDACTED = "***"


def build_transform(
    entry: SlaveTableSettings, style: Stylesheet | None, layout: Layout, names: Mapping[str, str], salt: bytes
) -> tuple[Layout, RowTransform]:
    """The layout of a table in the slave's view, still under the master's name, and the transform that makes its rows.

    Args:
        style: the stylesheet that the slave's messages pass.
        layout: the master's.
        names: the columns that the slave gets, each with its name there.
        salt: the key of hashes.

    Raises:
        ConfigError: SLC-007, an expression does not fit the table's columns; SLC-161, the stylesheet or the plugin
            does not.
    """
    shapes: list[RowTransform] = []
    if entry.where is not None:
        shapes.append(_row_filter(entry.where, layout))
    columned, key = _columns(entry, layout, names, salt)
    shapes.append(columned)
    seen = replace(layout, columns=columned.columns, key=key)
    if style is not None:
        shapes.append(own := stylesheet_transform(style, seen))
        seen = own.layout
    if entry.plugin is not None:
        shapes.append(own := load_plugin(entry.plugin, seen))
        seen = own.layout
    return seen, TransformChain(tuple(shapes))


def _row_filter(where: str, layout: Layout) -> RowFilter:
    condition = read_setting(layout.name, "where", lambda: _row_expression(where).condition(layout.columns))
    return RowFilter(layout.columns, condition)


def _row_expression(text: str) -> Expression:
    expression = parse(text)
    if expression.images - {"row"}:
        raise Fault("a row is seen by itself, so there is no `new.` and no `old.`; `when` has them")
    return expression


def _columns(
    entry: SlaveTableSettings, layout: Layout, names: Mapping[str, str], salt: bytes
) -> tuple[ColumnTransform, tuple[int, ...]]:
    """The columns, and the key, which is empty unless all its columns are copied or hashed."""
    made: list[tuple[Column, Texts]] = []
    kept: dict[int, int] = {}
    for index, column in enumerate(layout.columns):
        slave_name = names.get(column.name)
        if slave_name is None:
            continue
        if slave_name in entry.compute:
            made.append(_computed_column(entry.compute[slave_name], slave_name, layout))
        elif column.name in entry.mask:
            made.append(_masked_column(layout, index, slave_name, entry.mask[column.name], salt))
            if entry.mask[column.name] == HASH:
                kept[index] = len(made) - 1
        else:
            kept[index] = len(made)
            made.append((replace(column, name=slave_name), copy_column(index)))
    known = {column.name for column, _ in made}
    made += [_computed_column(text, name, layout) for name, text in entry.compute.items() if name not in known]
    key = tuple(kept[index] for index in layout.key) if kept.keys() >= set(layout.key) else ()
    return ColumnTransform(tuple(column for column, _ in made), tuple(texts for _, texts in made)), key


def _computed_column(text: str, name: str, layout: Layout) -> tuple[Column, Texts]:
    value = read_setting(layout.name, f"compute.{name}", lambda: _row_expression(text).value(layout.columns))
    given = next((column for column in layout.columns if column.name == value.expression.column), None)
    return Column(name, value.type, not_null=given is not None and given.not_null), value.texts


def _masked_column(layout: Layout, index: int, name: str, mask: str | None, salt: bytes) -> tuple[Column, Texts]:
    """A masked column. NULL stays NULL, except with a constant."""
    column, given = layout.columns[index], copy_column(index)
    if mask == HASH:
        return replace(column, name=name, type="text", generated=False), lambda rows: hash_texts(given(rows), salt)
    column = replace(column, name=name, not_null=False, generated=False)
    if mask == REDACT:
        text = _cut_to_fit(_REDACTED, column.type) if is_text(column.type) else None
        return column, lambda rows: pc.if_else(given(rows).is_valid(), pa.scalar(text, pa.string()), None)
    text = (
        None if mask is None else read_setting(layout.name, f"mask.{column.name}", lambda: constant(mask, column.type))
    )
    return column, lambda rows: pa.array([text] * len(rows), pa.string())


def hash_texts(texts: pa.StringArray, salt: bytes) -> pa.StringArray:
    """SHA-256 of each text with the salt (HMAC), in hexadecimal: the same for the same text, in whichever table."""
    salted, made = hmac.new(salt, digestmod="sha256"), []
    distinct = texts.dictionary_encode()
    for text in distinct.dictionary.to_pylist():
        digest = salted.copy()
        digest.update(text.encode())
        made.append(digest.hexdigest())
    return pa.array(made, pa.string()).take(distinct.indices)


def _cut_to_fit(text: str, type_: str) -> str:
    """The text, cut to the length of its type."""
    width = re.search(r"\((\d+)\)", type_)
    return text[: int(width[1])] if width else text


def read_setting(table: TableName, setting: str, read: Callable[[], _T]) -> _T:
    """Read a setting of a table. Raises ConfigError SLC-007 instead of a Fault."""
    try:
        return read()
    except Fault as fault:
        raise ConfigError(
            7,
            f"`{setting}` of {table} cannot be used: {fault}",
            "fix it in the slave's `tables`; include/docs/expressions.md tells what there is",
        ) from None
