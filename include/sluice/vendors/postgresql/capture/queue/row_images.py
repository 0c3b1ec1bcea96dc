"""Row images as PostgreSQL writes them (`record::text`), read a column at a time by Arrow.

An image is ``(5,"a, b",)``: fields parted by commas, in double quotes where needed, quotes and backslashes doubled
inside, nothing at all for NULL. Source: PostgreSQL manual, "Composite Type Input and Output Syntax".
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from sluice.arrow_rows import concat, take_rows

ROWS = pa.list_(pa.string())
_DELIMITER, _END = b",\n"


def fields(images: pa.Array, width: int) -> pa.ListArray:
    """Split images into lists of `width` texts; a NULL image becomes a NULL list.

    Raises:
        ValueError: an image does not have `width` fields, so it was written under another layout.
    """
    rows = len(images) - images.null_count
    if not rows:
        return pa.nulls(len(images), ROWS)
    columns = _columns(images if rows == len(images) else images.drop_null(), width)
    if any(len(column) != rows for column in columns):
        raise ValueError(f"{rows} images do not split into rows of {width} fields")
    cells = concat(columns)
    del columns
    by_row = np.arange(rows * width).reshape(width, rows).T.ravel()
    lists = pa.ListArray.from_arrays(np.arange(0, rows * width + 1, width, dtype=np.int32), take_rows(cells, by_row))
    if rows == len(images):
        return lists
    present = images.is_valid().to_numpy(zero_copy_only=False)
    return lists.take(pa.array(np.cumsum(present) - 1, mask=~present))


def _columns(images: pa.Array, width: int) -> list[pa.Array]:
    text = _as_csv(images)
    names = [str(number) for number in range(width)]
    try:
        table = csv.read_csv(
            pa.py_buffer(text),
            read_options=csv.ReadOptions(column_names=["", *names], block_size=len(text) + 1, use_threads=False),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=names,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        raise ValueError(str(error)) from None
    del text
    columns = [table[name].combine_chunks() for name in names]
    del table
    for place, column in enumerate(columns):
        if _has_backslash(column):
            columns[place] = pc.replace_substring(column, r"\\", "\\")
        del column
    return columns


def _has_backslash(column: pa.Array) -> bool:
    *_, data = column.buffers()
    return data is not None and re.search(rb"\\", data) is not None


def _as_csv(images: pa.Array) -> NDArray[np.uint8]:
    """Their text, copied once: the parentheses around each become an empty first field, and the end of a line.

    That field also keeps Arrow from skipping a byte order mark that begins the first value.
    """
    _, offsets, data = images.buffers()
    ends = np.frombuffer(offsets, np.int32)[images.offset : images.offset + len(images) + 1]
    if np.diff(ends).min() < len("()"):
        raise ValueError("an image has no parentheses")
    text = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]].copy()
    text[ends[:-1] - ends[0]] = _DELIMITER
    text[ends[1:] - ends[0] - 1] = _END
    return text
