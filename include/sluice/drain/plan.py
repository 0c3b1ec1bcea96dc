"""A batch as steps that follow each other: runs, within which each table has one layout, and commands between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.net.effects import Netted, Run, Step
from sluice.apply.net.net_effect import Numbers, net
from sluice.arrow_rows import filter_rows, take_rows
from sluice.changelog.schema import are_commands
from sluice.drain.parsed_ddl import ParsedDdl
from sluice.model.action import Action, Command
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName

# What all changes of a table in one run have in common.
Shape = tuple[tuple[Column, ...], tuple[int, ...], bool]


def steps(changes: pa.Table, layouts: Mapping[int, Layout], ddl: ParsedDdl | None = None) -> Iterator[Step]:
    """For each run, the net effect on each table, with the rows that its indices refer to; commands as they come.

    A table that was altered between two changes begins a new run; partitions count as the table they belong to.
    """
    changes = filter_rows(changes, pc.not_equal(changes["action"], Action.COMMIT))
    numbers = changes["layout"].to_numpy()
    commands = np.flatnonzero(are_commands(changes["action"]).to_numpy())
    begin = 0
    for place in [*commands.tolist(), len(numbers)]:
        for low, high in pairwise([begin, *(begin + cut for cut in cuts(numbers[begin:place], layouts, {})), place]):
            if high > low:
                yield _run(changes.slice(low, high - low), numbers[low:high], layouts)
        if place < len(numbers):
            yield _command(changes.slice(place, 1), layouts, ddl or ParsedDdl())
        begin = place + 1


def _command(change: pa.Table, layouts: Mapping[int, Layout], ddl: ParsedDdl) -> Command:
    (row,) = change.to_pylist()
    (text,) = row["new"]
    action = Action(row["action"])
    said = None if action is Action.STATEMENT else ddl.change(text)
    return Command(action, layouts.get(row["layout"]), text, row["ordinal"], row["repl_key"], change=said)


def cuts(numbers: Numbers, layouts: Mapping[int, Layout], shapes: dict[TableName, Shape]) -> list[int]:
    """Cut where the columns or the key of a table change: a new run begins there.

    Args:
        numbers: layouts of changes, in their order.
        shapes: how tables are in the run before these changes; and, when this returns, in the run that they end with.
    """
    shape_of = {number: _shape(layouts[number]) for number in np.unique(numbers).tolist()}
    alike = {(layouts[number].name, shape) for number, shape in shape_of.items()} | set(shapes.items())
    if len({name for name, _ in alike}) == len(alike):
        shapes.update(alike)
        return []
    places = []
    for place, number in enumerate(numbers.tolist()):
        name = layouts[number].name
        if shapes.setdefault(name, shape_of[number]) != shape_of[number]:
            places.append(place)
            shapes.clear()
            shapes[name] = shape_of[number]
    return places


def _shape(layout: Layout) -> Shape:
    return layout.columns, layout.key, layout.deferrable


def by_table(numbers: Numbers, layouts: Mapping[int, Layout]) -> dict[TableName, list[int]]:
    """Of each table its layouts among these; partitions count as the table they belong to."""
    tables: dict[TableName, list[int]] = {}
    for number in np.unique(numbers).tolist():
        tables.setdefault(layouts[number].name, []).append(number)
    return tables


def _run(changes: pa.Table, numbers: Numbers, layouts: Mapping[int, Layout]) -> Run:
    parts = []
    for same in by_table(numbers, layouts).values():
        own = take_rows(changes, np.flatnonzero(np.isin(numbers, same)))
        parts.append(Netted(net(layouts[same[0]], own), own))
    return parts
