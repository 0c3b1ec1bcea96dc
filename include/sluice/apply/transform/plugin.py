"""The hook of a slave's owner: a plugin transforms rows of the slave's view.

It is named by an entry point of the group `sluice.plugins`, or as ``module:attribute``; that is called with the
table as the slave would see it, once for each layout and process. Its errors stop this slave (R8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice import extensions
from sluice.apply.transform.transform import TransformedRows
from sluice.arrow_rows import row_lists
from sluice.errors import ConfigError, SluiceError, TransientError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName

_T = TypeVar("_T")
GROUP = "sluice.plugins"
Row = Mapping[str, str | None]


@dataclass(frozen=True)
class Rows:
    """The result of a plugin for a batch.

    Attributes:
        rows: one column of texts for each of the plugin's `columns`, by its name, as the database prints them.
        of: for each row the index of its original row, ascending; None: one row for each original.
    """

    rows: pa.RecordBatch | pa.Table
    of: Any = None


@runtime_checkable
class Plugin(Protocol):
    """The interface of a plugin. `columns` and `key` are read once."""

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of the rows that it makes, with their types as the slave's database writes them."""

    @property
    def key(self) -> Sequence[str]:
        """The columns of the key of its rows; empty if they have none."""

    def rows(self, rows: pa.RecordBatch) -> Rows:
        """Rows of the slave out of rows that it would see: changed, left out, or several of one.

        It is called for rows of an initial update, for the new and the old rows of the stream, and for comparisons,
        in batches that are cut anywhere, from several processes, again after an error. So what it makes of a row must
        depend on that row alone.

        Args:
            rows: a column of texts for each column of the table, as the database prints them, null for NULL.
        """


class RowByRow:
    """A plugin that is asked about one row at a time: define `row`. Columns and key remain, unless it has others."""

    def __init__(self, layout: Layout) -> None:
        self.columns: Sequence[Column] = layout.columns
        self.key: Sequence[str] = [layout.columns[index].name for index in layout.key]

    def row(self, row: Row) -> Row | Iterable[Row] | None:
        """One row, several, or none; values by the names of columns, what is missing is NULL."""
        raise NotImplementedError

    def rows(self, rows: pa.RecordBatch) -> Rows:
        """Ask `row` about each row."""
        names = [column.name for column in self.columns]
        answers = map(self.row, rows.to_pylist())
        return rows_of_each(
            names, ([answer] if isinstance(answer, Mapping) else list(answer or ()) for answer in answers)
        )


def rows_of_each(names: Sequence[str], answers: Iterable[Sequence[Row]]) -> Rows:
    """The results for each original row, as `Rows`; missing columns are NULL. Raises ValueError for unknown columns."""
    made: list[Row] = []
    of: list[int] = []
    for index, several in enumerate(answers):
        for row in several:
            if unknown := row.keys() - set(names):
                raise ValueError(f"a row has a column {sorted(unknown)[0]}, which is none of {', '.join(names)}")
        made += several
        of += [index] * len(several)
    schema = pa.schema([(name, pa.string()) for name in names])
    columns = [[row.get(name) for row in made] for name in names]
    return Rows(pa.Table.from_arrays([pa.array(texts, pa.string()) for texts in columns], schema=schema), of)


@dataclass(frozen=True)
class PluginTransform:
    """A row transform by a plugin.

    Attributes:
        called: its name in messages.
        given: the layout of its input.
    """

    plugin: Plugin
    called: str
    given: Layout
    layout: Layout

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.layout.columns

    def transform(self, rows: pa.ListArray) -> TransformedRows:
        """Raises SluiceError SLC-162 if the plugin fails, does not end, or answers what makes no sense."""
        texts = [pc.list_element(rows, index) for index in range(len(self.given.columns))]
        batch = pa.RecordBatch.from_arrays(texts, [column.name for column in self.given.columns])
        return call_extension(
            self.called, self.given.name, len(rows), lambda: self._check(self.plugin.rows(batch), len(rows))
        )

    def _check(self, answer: Rows, count: int) -> TransformedRows:
        if not isinstance(answer, Rows):
            raise TypeError(f"it answered {type(answer).__name__}, not Rows")
        names = [column.name for column in self.columns]
        if list(answer.rows.schema.names) != names:
            raise ValueError(f"its rows have the columns {answer.rows.schema.names}, not {names}")
        columns = [_texts(name, answer.rows.column(name)) for name in names]
        made = len(answer.rows)
        of = np.arange(made) if answer.of is None else np.asarray(answer.of, dtype=np.int64)
        if answer.of is None and made != count:
            raise ValueError(f"{made} rows for {count}, and it is not said what they were made of")
        if len(of) != made or (made and (of[0] < 0 or of[-1] >= count or (np.diff(of) < 0).any())):
            raise ValueError("`of` does not name for each of its rows, in their order, the row that it was made of")
        return TransformedRows(row_lists(columns, made), of)


def load_plugin(named: str, layout: Layout) -> PluginTransform:
    """The plugin of that name, for a table as a slave would see it. Raises ConfigError SLC-161 as `fit_plugin`."""
    hint = f"install it where the jobs run, as an entry point of {GROUP} or as module:attribute"
    return fit_plugin(f"plugin {named}", layout, lambda given: extensions.call_hook(GROUP, named, given), hint)


def fit_plugin(called: str, layout: Layout, make: Callable[[Layout], object], hint: str) -> PluginTransform:
    """Make a plugin for a table in the slave's view, and check it; arguments and errors as in `usable`."""
    # Columns that the master's database generates are ordinary ones here.
    given = replace(layout, columns=tuple(replace(column, generated=False) for column in layout.columns))

    def build() -> PluginTransform:
        plugin = make(given)
        if not isinstance(plugin, Plugin):
            raise extensions.UnusableExtension("what it makes lacks `columns`, `key` or `rows`")
        columns = tuple(plugin.columns)
        names = [column.name for column in columns]
        if not columns or len(set(names)) < len(names) or not set(plugin.key) <= set(names):
            raise extensions.UnusableExtension("its columns are none, or two of one name, or its key is not among them")
        key = tuple(names.index(name) for name in plugin.key)
        return PluginTransform(plugin, called, given, replace(given, columns=columns, key=key))

    return usable(called, layout.name, build, hint)


def usable(called: str, table: TableName, make: Callable[[], _T], hint: str) -> _T:
    """Make a plugin or a veto by code of others.

    Args:
        called: its name in messages.
        hint: a remedy besides correcting the code.

    Raises:
        ConfigError: SLC-161, it cannot be used.
    """
    try:
        return make()
    except Exception as error:
        why = error if isinstance(error, extensions.UnusableExtension) else f"{type(error).__name__}: {error}"
        fact = f"the {called} cannot be used for {table}: {why}"
        raise ConfigError(161, fact, f"fix it, or {hint}; nothing was changed") from error


def call_extension(called: str, table: TableName, count: int, call: Callable[[], _T]) -> _T:
    """Call code of others for `count` rows. Raises SluiceError SLC-162 if it fails, or does not end."""
    try:
        return extensions.call_in_time(call)
    except TransientError:
        raise
    except Exception as error:
        raise SluiceError(
            162,
            f"the {called} failed on {count} rows of {table}: {type(error).__name__}: {error}",
            "the slave waits in front of them and nothing is lost; fix it, or take it out of the configuration "
            "and trigger initial_update for the slave, then unpause",
        ) from error


def _texts(name: str, column: pa.Array | pa.ChunkedArray) -> pa.StringArray:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type) or pa.types.is_null(column.type)):
        raise TypeError(
            f"the column {name} is of the Arrow type {column.type}: values are texts, as the database prints them"
        )
    texts = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return texts.cast(pa.string())
