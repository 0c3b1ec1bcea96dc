"""The slave's view of a table that a command of the master defines."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.apply.mapping.table_view import view
from sluice.config.mapper import Mapper
from sluice.model.layout import Column, Layout
from sluice.model.table_definition import DefinedColumn, DefinedTable


@dataclass(frozen=True)
class SeenColumn:
    """A column of the slave, and the master's of which it has the values, if there is one."""

    column: Column
    origin: DefinedColumn | None


def slave_layout(table: DefinedTable, mapper: Mapper) -> tuple[Layout, list[SeenColumn]]:
    """The slave's layout of a defined table, and its columns with their origins. Raises what `view` raises."""
    columns = tuple(
        Column(column.name, column.type, column.not_null, column.generated is not None) for column in table.columns
    )
    names = [column.name for column in table.columns]
    layout = view(mapper, Layout(0, table.name, columns, tuple(names.index(name) for name in table.key))).layout
    named = {mapper.column(table.name, column.name): column for column in table.columns}
    return layout, [SeenColumn(column, named.get(column.name)) for column in layout.columns]
