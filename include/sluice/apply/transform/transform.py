"""Row transforms: columns computed and masked, rows left out or split into several.

A transform depends on the row alone: not on its action, batch or time. So an initial update, the stream and a
comparison transform a row alike, and the cuts between batches do not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sluice.arrow_rows import row_lists
from sluice.changelog.schema import ROW
from sluice.expressions import Condition
from sluice.model.action import Action
from sluice.model.layout import Column

Places = NDArray[np.int64]
Texts = Callable[[pa.ListArray], pa.StringArray]


@dataclass(frozen=True)
class TransformedRows:
    """Rows of a slave.

    Attributes:
        rows: lists of texts, none of them null.
        of: for each row the index of its original row, ascending.
    """

    rows: pa.ListArray
    of: Places


class RowTransform(Protocol):
    """A function of rows, and the columns of its result."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the rows that it makes."""

    def transform(self, rows: pa.ListArray) -> TransformedRows:
        """Transform rows, none of which is null. Raises SluiceError if one cannot be transformed."""


@dataclass(frozen=True)
class RowFilter:
    """The rows that meet a condition, as they are."""

    columns: tuple[Column, ...]
    condition: Condition

    def transform(self, rows: pa.ListArray) -> TransformedRows:
        met = self.condition.holds(rows)
        return TransformedRows(rows.filter(met), np.flatnonzero(met.to_numpy(zero_copy_only=False)))


@dataclass(frozen=True)
class ColumnTransform:
    """Each row with other values: `texts` has one function for each column."""

    columns: tuple[Column, ...]
    texts: tuple[Texts, ...]

    def transform(self, rows: pa.ListArray) -> TransformedRows:
        return TransformedRows(row_lists([of(rows) for of in self.texts], len(rows)), np.arange(len(rows)))


@dataclass(frozen=True)
class TransformChain:
    """Transforms in sequence."""

    shapes: tuple[RowTransform, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.shapes[-1].columns

    def transform(self, rows: pa.ListArray) -> TransformedRows:
        result = TransformedRows(rows, np.arange(len(rows)))
        for shape in self.shapes:
            more = shape.transform(result.rows)
            result = TransformedRows(more.rows, result.of[more.of])
        return result


def copy_column(index: int) -> Texts:
    """A column's texts as they are."""
    return lambda rows: pc.list_element(rows, index)


def transform_changes(changes: pa.Table, transform: Callable[[pa.ListArray], TransformedRows]) -> pa.Table:
    """Transform changes of rows of one layout. Columns as in `CHANGES`, in and out.

    A change deletes the results of its old row and inserts those of its new one, so a row that begins to meet a
    condition becomes an insert, and one that ceases to becomes a delete. One row that becomes one row stays an update,
    and a TRUNCATE stays what it is. Updates without an old image are allowed for transforms with one result for each
    row, if the key did not change.
    """
    news, olds = changes["new"].combine_chunks(), changes["old"].combine_chunks()
    unknown = pc.and_(pc.equal(changes["action"], Action.UPDATE), changes["old"].is_null()).combine_chunks()
    new, came = _transform(news, transform)
    old, went = _transform(pc.if_else(unknown, news, olds) if unknown.true_count else olds, transform)
    count = len(changes)
    single = (np.bincount(came, minlength=count) == 1) & (np.bincount(went, minlength=count) == 1)
    deleted, inserted = np.flatnonzero(~single[went]), np.flatnonzero(~single[came])
    both = np.flatnonzero(single)
    known = np.where(unknown.to_numpy(zero_copy_only=False)[both], -1, np.flatnonzero(single[went]))
    emptied = np.flatnonzero(pc.equal(changes["action"], Action.TRUNCATE).to_numpy())
    # The changes, and the places of their new and of their old rows.
    parts = [
        (Action.TRUNCATE, emptied, np.full(len(emptied), -1), np.full(len(emptied), -1)),
        (Action.DELETE, went[deleted], np.full(len(deleted), -1), deleted),
        (Action.INSERT, came[inserted], inserted, np.full(len(inserted), -1)),
        (Action.UPDATE, both, np.flatnonzero(single[came]), known),
    ]
    of = np.concatenate([indices for _, indices, _, _ in parts])
    # Stable: of one change what goes comes before what comes, each in the order in which it was made.
    order = np.argsort(of, kind="stable")
    actions = np.repeat([str(action) for action, *_ in parts], [len(indices) for _, indices, _, _ in parts])
    columns = {
        "action": pa.array(actions[order], pa.string()),
        "new": _at(new, np.concatenate([indices for _, _, indices, _ in parts])[order]),
        "old": _at(old, np.concatenate([indices for _, _, _, indices in parts])[order]),
    }
    result = changes.take(pa.array(of[order]))
    for name, column in columns.items():
        index = result.schema.get_field_index(name)
        result = result.set_column(index, changes.schema.field(index), column.cast(changes.schema.field(index).type))
    return result


def _transform(rows: pa.ListArray, transform: Callable[[pa.ListArray], TransformedRows]) -> tuple[pa.ListArray, Places]:
    """The results for the rows that are not null, and for each the index of its change."""
    indices = np.flatnonzero(rows.is_valid().to_numpy(zero_copy_only=False))
    if not len(indices):
        return pa.array([], ROW), indices
    result = transform(rows.take(pa.array(indices)))
    return result.rows, indices[result.of]


def _at(rows: pa.ListArray, indices: Places) -> pa.ListArray:
    """The rows at these indices; -1 gives null."""
    return rows.take(pa.array(indices, mask=indices < 0))
