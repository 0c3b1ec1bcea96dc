"""A block of a sweep: the text of its COPY as an Arrow table, without entries of tables that are not watched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from psycopg import sql
from pyarrow import csv

from sluice.changelog.schema import NO_LAYOUT, have_actions
from sluice.log import event
from sluice.model.action import OF_A_ROW, Action
from sluice.vendors.postgresql.session import Connection, composed

_INTEGERS = ("last", "repl_key", "relid")
_NAMES = ["last", "trans_key", "repl_key", "relid", "action", "new", "old"]


def read(text: bytes) -> pa.Table:
    """The table. Raises ArrowInvalid if there are bytes that are no text."""
    return csv.read_csv(
        pa.py_buffer(text),
        read_options=csv.ReadOptions(column_names=_NAMES, block_size=len(text) + 1, use_threads=False),
        parse_options=csv.ParseOptions(delimiter="\x02", quote_char="\x01", newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types={name: pa.int64() if name in _INTEGERS else pa.string() for name in _NAMES},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def untranslatable(connection: Connection, parts: Mapping[str, sql.Composable]) -> int | None:
    """The key of the first change in ITEMS that is no text, or none that UTF-8 has."""
    low: int | None
    low, high = connection.execute(composed("capture/queue/ends", **parts)).fetchone() or (None, None)
    while low is not None and low < high:
        middle = (low + high) // 2
        try:
            connection.execute(composed("capture/queue/untranslatable", **parts), {"low": low, "high": middle})
            low = middle + 1
        except psycopg.DataError:
            high = middle
    return low


def without_strangers(table: pa.Table, commands: np.ndarray[Any, Any], layouts: np.ndarray[Any, Any]) -> pa.Table:
    """Changes of relations that are not watched, or were not yet, as marks (action C).

    Our trigger functions can be attached to any table by its owner. A table that is watched has recorded columns before
    its first trigger fires, or else `misread` stops the sweep; so who has none is nobody's business, and stops nobody.
    The same for a change of rows without any row.
    """
    empty = pc.and_(table["new"].combine_chunks().is_null(), table["old"].combine_chunks().is_null())
    of_rows = have_actions(table["action"], OF_A_ROW).to_numpy()
    strange = ~commands & ((layouts == NO_LAYOUT) | (of_rows & empty.to_numpy(zero_copy_only=False)))
    if not strange.any():
        return table
    event(
        "changes of tables that are not watched",
        changes=int(strange.sum()),
        relations=",".join(map(str, np.unique(table["relid"].to_numpy()[strange]))),
    )
    actions = pc.if_else(pa.array(strange), pa.scalar(str(Action.COMMIT)), table["action"].combine_chunks())
    return table.set_column(table.schema.get_field_index("action"), "action", actions)
