"""Rows of Arrow's arrays and tables. A value may have hundreds of megabytes, so nothing is copied that need not be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Rows = TypeVar("Rows", pa.Array, pa.Table)


def take_rows(rows: Rows, places: NDArray[np.int64]) -> Rows:
    """The rows at these places; where they follow each other, a view of them."""
    if not len(places) or np.array_equal(places, np.arange(places[0], places[0] + len(places))):
        return rows.slice(places[0] if len(places) else 0, len(places))
    return rows.take(pa.array(places))


def filter_rows(rows: Rows, which: pa.Array) -> Rows:
    """The rows for which that is true."""
    return rows if pc.all(which, min_count=0).as_py() else rows.filter(which)


def concat(arrays: list[pa.Array]) -> pa.Array:
    """One array of several."""
    filled = [array for array in arrays if len(array)] or arrays[:1]
    return filled[0] if len(filled) == 1 else pa.concat_arrays(filled)


def row_lists(columns: Sequence[pa.StringArray], count: int) -> pa.ListArray:
    """`count` rows as lists of texts, from their columns."""
    width = len(columns)
    places = (np.arange(count)[:, None] + np.arange(width) * count).ravel()
    values = pa.concat_arrays([column.cast(pa.string()) for column in columns]).take(pa.array(places))
    return pa.ListArray.from_arrays(pa.array(np.arange(count + 1) * width, pa.int32()), values)
