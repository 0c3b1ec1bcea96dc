"""Row images as PostgreSQL writes them (`record::text`), read a column at a time by Arrow.

An image is ``(5,"a, b",)``: fields parted by commas, in double quotes where needed, quotes and backslashes doubled
inside, nothing at all for NULL. Source: PostgreSQL manual, "Composite Type Input and Output Syntax".
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

ROWS = pa.list_(pa.string())
# Arrow skips one at the beginning of what it reads; without ours, one that begins the first value would be lost.
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def fields(images: pa.Array, width: int) -> pa.ListArray:
    """Split images into lists of `width` texts; a NULL image becomes a NULL list.

    Raises:
        ValueError: an image does not have `width` fields, so it was written under another layout.
    """
    present = images.is_valid()
    written = images.drop_null()
    if not len(written):
        return pa.nulls(len(images), ROWS)
    rows = len(written)
    columns = _columns(written, width)
    if any(len(column) != rows for column in columns):
        raise ValueError(f"{rows} images do not split into rows of {width} fields")
    cells = pa.concat_arrays(columns)
    by_row = np.arange(rows * width).reshape(width, rows).T.ravel()
    offsets = np.arange(0, rows * width + 1, width, dtype=np.int32)
    lists = pa.ListArray.from_arrays(offsets, cells.take(pa.array(by_row)))
    if rows == len(images):
        return lists
    places = np.cumsum(present.to_numpy(zero_copy_only=False)) - 1
    return lists.take(pa.array(places, mask=~present.to_numpy(zero_copy_only=False)))


def _columns(images: pa.Array, width: int) -> list[pa.Array]:
    bodies = pc.binary_slice(images.cast(pa.binary()), 1, -1)
    whole = pa.ListArray.from_arrays([0, len(bodies)], bodies)
    text = b"".join([_BYTE_ORDER_MARK, pc.binary_join(whole, b"\n")[0].as_buffer(), b"\n"])
    names = [str(number) for number in range(width)]
    try:
        table = csv.read_csv(
            pa.py_buffer(text),
            read_options=csv.ReadOptions(column_names=names, block_size=len(text) + 1, use_threads=False),
            parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        raise ValueError(str(error)) from None
    return [pc.replace_substring(column.combine_chunks(), r"\\", "\\") for column in table.columns]
