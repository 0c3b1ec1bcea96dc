"""An ALTER that was found late, where DDL is found by polling: it comes before rows that have its columns already."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from sluice.changelog.schema import NO_LAYOUT, are_commands
from sluice.drain.parsed_ddl import ParsedDdl
from sluice.model.action import Action
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.table_definition import TableChange


def with_alters_in_time(changes: pa.Table, layouts: Mapping[int, Layout], ddl: ParsedDdl) -> pa.Table:
    """The changes with each ALTER of columns before the first row, since the table's last command, that has them (R7).

    It takes the ordinal and the key of that row. Columns as in `CHANGES`.
    """
    due = _due(changes, layouts, ddl)
    if not due:
        return changes
    order = np.arange(len(changes), dtype=float)
    given = {name: changes[name].to_numpy().copy() for name in ("ordinal", "repl_key")}
    for place, first in due.items():
        order[place] = first - 0.5
        for values in given.values():
            values[place] = values[first]
    for name, values in given.items():
        changes = changes.set_column(changes.schema.get_field_index(name), name, pa.array(values))
    return changes.take(pa.array(np.argsort(order, kind="stable")))


def _due(changes: pa.Table, layouts: Mapping[int, Layout], ddl: ParsedDdl) -> dict[int, int]:
    """For ALTERs that are late: their places, and those of the rows that they come before."""
    numbers = changes["layout"].to_numpy()
    due: dict[int, int] = {}
    since: dict[TableName, int] = {}
    for place in np.flatnonzero(are_commands(changes["action"]).to_numpy()).tolist():
        if numbers[place] == NO_LAYOUT:
            continue
        layout = layouts[int(numbers[place])]
        first = since.get(layout.name, 0)
        since[layout.name] = place
        altered = changes["action"][place].as_py() == Action.ALTER
        if altered and _other_columns(ddl.of(changes["new"][place].as_py()[0])):
            between = numbers[first:place]
            known = (layouts.get(number) for number in np.unique(between).tolist())
            new = [one.id for one in known if one and (one.name, one.columns) == (layout.name, layout.columns)]
            if len(early := np.flatnonzero(np.isin(between, new))):
                due[place] = first + int(early[0])
    return due


def _other_columns(change: TableChange | None) -> bool:
    if change is None:
        return False
    before, after = (side and [(one.name, one.type) for one in side.columns] for side in (change.before, change.after))
    return before != after
