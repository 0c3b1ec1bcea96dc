"""The Arrow schema of segments. Every capture produces it, and every slave is fed from it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate, chain

import pyarrow as pa
import pyarrow.compute as pc

from sluice.model.action import COMMANDS, Action

ROW = pa.list_(pa.string())
ATTRIBUTES = pa.map_(pa.string(), pa.string())

# A change as a sweep reads it: `last` is the largest key of its transaction, the order of transactions (R1).
SWEPT = pa.schema(
    [
        ("last", pa.int64()),
        ("trans_key", pa.string()),
        ("repl_key", pa.int64()),
        ("layout", pa.int64()),
        ("action", pa.string()),
        ("new", ROW),
        ("old", ROW),
    ]
)

# The layout of a change that belongs to no table.
NO_LAYOUT = 0

# A change in the log: `ordinal` counts the source's published transactions; `new` and `old` are the values of the
# row, as texts in the order of the layout's columns; of a command `new` is its one text.
CHANGES = pa.schema([("ordinal", pa.int64()), *[field for field in SWEPT if field.name != "last"]])

# A change as a file keeps it: with what a transformer says of its row, and of the description of its message.
LOGGED = pa.schema([*CHANGES, ("attributes", ATTRIBUTES), ("description", ATTRIBUTES)])


def are_commands(actions: pa.Array | pa.ChunkedArray) -> pa.BooleanArray:
    """Of changes that have these actions, which ones are commands."""
    return have_actions(actions, COMMANDS)


def have_actions(actions: pa.Array | pa.ChunkedArray, wanted: Collection[Action]) -> pa.BooleanArray:
    """Of changes that have these actions, which ones have one that is wanted."""
    # Not made when a module is imported: the first array that PyArrow makes imports pandas, which takes a second.
    return pc.is_in(actions, value_set=pa.array(sorted(wanted), pa.string()))


def images_of(rows: Sequence[Sequence[str | bytes | None] | None]) -> pa.ListArray:
    """Row images as a column of the type `ROW`."""
    cells = list(chain.from_iterable(row for row in rows if row))
    offsets = pa.array([0, *accumulate(len(row or ()) for row in rows)], pa.int32())
    return pa.ListArray.from_arrays(
        offsets, pa.array(cells, pa.string()), type=ROW, mask=pa.array([row is None for row in rows], pa.bool_())
    )
