"""Removes changes of tables that a slave's configuration excludes; an ALTER into such a table becomes a DROP."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.arrow_rows import filter_rows
from sluice.changelog.schema import NO_LAYOUT
from sluice.drain.parsed_ddl import ParsedDdl
from sluice.model.action import Action
from sluice.model.names import TableName


def without_excluded_tables(
    changes: pa.Table, numbers: Collection[int], gives: Callable[[TableName], bool], ddl: ParsedDdl
) -> pa.Table:
    """The changes without these layouts. An ALTER that gave a table of the slave an excluded name becomes a DROP.

    Columns as in `CHANGES`.

    Args:
        gives: whether the slave is given a table.
    """
    if not numbers:
        return changes
    wanted = pa.array(sorted(numbers), pa.int64())
    altered = pc.and_(pc.is_in(changes["layout"], value_set=wanted), pc.equal(changes["action"], Action.ALTER))
    for index in np.flatnonzero(altered.to_numpy()).tolist():
        if drop := _as_drop(changes["new"][index].as_py()[0], gives, ddl):
            (row,) = changes.slice(index, 1).to_pylist()
            row |= {"action": Action.DROP, "layout": NO_LAYOUT, "new": [drop]}
            changed = pa.Table.from_pylist([row], changes.schema)
            changes = pa.concat_tables([changes.slice(0, index), changed, changes.slice(index + 1)])
    return without_layouts(changes, numbers)


def without_layouts(changes: pa.Table, numbers: Collection[int]) -> pa.Table:
    """The changes without those under these layouts."""
    if not numbers:
        return changes
    of_them = pc.is_in(changes["layout"], value_set=pa.array(sorted(numbers), pa.int64()))
    return filter_rows(changes, pc.invert(of_them))


def _as_drop(text: str, gives: Callable[[TableName], bool], ddl: ParsedDdl) -> str:
    """The body of the DROP that an ALTER becomes for a slave that had the table; empty if it had not."""
    change = ddl.change(text)
    if change is None or change.before is None or not gives(change.before.name):
        return ""
    return json.dumps({name: value for name, value in json.loads(text).items() if name != "after"})
