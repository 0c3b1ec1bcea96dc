"""A batch as runs that are applied one after the other: within a run each table has one layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.net import Net, net
from sluice.model.layout import Layout
from sluice.model.names import TableName


def runs(changes: pa.Table, layouts: Mapping[int, Layout]) -> Iterator[list[tuple[Net, pa.Table]]]:
    """For each run, the net effect on each table, and the changes that its places point into.

    A table that was altered between two changes begins a new run; partitions count as the table they belong to.
    """
    changes = changes.filter(pc.not_equal(changes["action"], "C"))
    numbers = changes["layout"].to_numpy()
    begin = 0
    for cut in [*_cuts(numbers, layouts), len(numbers)]:
        if cut > begin:
            yield _run(changes.slice(begin, cut - begin), numbers[begin:cut], layouts)
        begin = cut


def _cuts(numbers: np.ndarray[tuple[int], np.dtype[np.int64]], layouts: Mapping[int, Layout]) -> list[int]:
    distinct = np.unique(numbers)
    tables = [layouts[int(number)].name for number in distinct]
    if len(set(tables)) == len(tables):
        return []
    current: dict[TableName, tuple[object, ...]] = {}
    cuts = []
    for place, number in enumerate(numbers.tolist()):
        layout = layouts[number]
        shape = (layout.columns, layout.key, layout.deferrable)
        if current.setdefault(layout.name, shape) != shape:
            cuts.append(place)
            current = {layout.name: shape}
    return cuts


def _run(
    changes: pa.Table, numbers: np.ndarray[tuple[int], np.dtype[np.int64]], layouts: Mapping[int, Layout]
) -> list[tuple[Net, pa.Table]]:
    by_table: dict[TableName, list[int]] = {}
    for number in np.unique(numbers).tolist():
        by_table.setdefault(layouts[number].name, []).append(number)
    parts = []
    for same in by_table.values():
        own = changes.take(pa.array(np.flatnonzero(np.isin(numbers, same))))
        parts.append((net(layouts[same[0]], own), own))
    return parts
