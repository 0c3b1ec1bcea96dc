"""Moves an ALTER that was found late, by a look at the catalog, to before the first row that has its columns."""

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
    for index, first in due.items():
        order[index] = first - 0.5
        for values in given.values():
            values[index] = values[first]
    for name, values in given.items():
        changes = changes.set_column(changes.schema.get_field_index(name), name, pa.array(values))
    return changes.take(pa.array(np.argsort(order, kind="stable")))


def _due(changes: pa.Table, layouts: Mapping[int, Layout], ddl: ParsedDdl) -> dict[int, int]:
    """Indices of late ALTERs, and for each the index of the row that it has to precede."""
    numbers = changes["layout"].to_numpy()
    due: dict[int, int] = {}
    since: dict[TableName, int] = {}
    for index in np.flatnonzero(are_commands(changes["action"]).to_numpy()).tolist():
        if numbers[index] == NO_LAYOUT:
            continue
        layout = layouts[int(numbers[index])]
        first = since.get(layout.name, 0)
        since[layout.name] = index
        altered = changes["action"][index].as_py() == Action.ALTER
        if altered and _other_columns(ddl.change(changes["new"][index].as_py()[0])):
            between = numbers[first:index]
            known = (layouts.get(number) for number in np.unique(between).tolist())
            new = [old.id for old in known if old and (old.name, old.columns) == (layout.name, layout.columns)]
            if len(early := np.flatnonzero(np.isin(between, new))):
                due[index] = first + int(early[0])
    return due


def _other_columns(change: TableChange | None) -> bool:
    if change is None:
        return False
    before, after = (
        side and [(column.name, column.type) for column in side.columns] for side in (change.before, change.after)
    )
    return before != after
