"""A batch as steps that follow each other: runs, within which each table has one layout, and commands between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.net import Run, Step, net
from sluice.changelog.schema import are_commands
from sluice.model.action import Action, Command
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.taking import kept, taken


def steps(changes: pa.Table, layouts: Mapping[int, Layout]) -> Iterator[Step]:
    """For each run, the net effect on each table, and the changes that its places point into; commands as they come.

    A table that was altered between two changes begins a new run; partitions count as the table they belong to.
    """
    changes = kept(changes, pc.not_equal(changes["action"], Action.COMMIT))
    numbers = changes["layout"].to_numpy()
    commands = np.flatnonzero(are_commands(changes["action"]).to_numpy())
    begin = 0
    for place in [*commands.tolist(), len(numbers)]:
        for low, high in pairwise([begin, *(begin + cut for cut in _cuts(numbers[begin:place], layouts)), place]):
            if high > low:
                yield _run(changes.slice(low, high - low), numbers[low:high], layouts)
        if place < len(numbers):
            yield _command(changes.slice(place, 1), layouts)
        begin = place + 1


def _command(change: pa.Table, layouts: Mapping[int, Layout]) -> Command:
    (row,) = change.to_pylist()
    (text,) = row["new"]
    return Command(Action(row["action"]), layouts.get(row["layout"]), text, row["ordinal"], row["repl_key"])


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


def _run(changes: pa.Table, numbers: np.ndarray[tuple[int], np.dtype[np.int64]], layouts: Mapping[int, Layout]) -> Run:
    by_table: dict[TableName, list[int]] = {}
    for number in np.unique(numbers).tolist():
        by_table.setdefault(layouts[number].name, []).append(number)
    parts = []
    for same in by_table.values():
        own = taken(changes, np.flatnonzero(np.isin(numbers, same)))
        parts.append((net(layouts[same[0]], own), own))
    return parts
