"""Applies an ALTER of the master to a table in files, by its definitions before and after.

Columns are told by the numbers that the master gave them. Where a value that a row has from here on is neither in the
files nor in the command, the ALTER is not carried out (R7).
"""

from __future__ import annotations

from dataclasses import replace

from sluice.apply.mapping.definition_view import slave_layout
from sluice.config.mapper import Mapper
from sluice.model.names import TableName
from sluice.model.table_definition import DefinedTable
from sluice.vendors.parquet.ddl.schema_change import Alteration, Moment
from sluice.vendors.parquet.types import keeps, refuse_ours, schema_of
from sluice.vendors.parquet.versions import Table
from sluice.vendors.parquet.write.data_files import TableFiles
from sluice.vendors.parquet.write.mode import WriteMode
from sluice.vendors.parquet.write.rows_mode import not_followed, unlike
from sluice.vendors.protocol.ddl_errors import more_to_be_seen


class Alter:
    """An ALTER, as a slave sees it.

    Attributes:
        called: its table's name there before it.
        table: and from there on.
    """

    def __init__(self, before: DefinedTable, after: DefinedTable, mapper: Mapper) -> None:
        self._before, self._after = before, after
        self._mapper = mapper
        self._was, self._becomes = (slave_layout(side, mapper)[1] for side in (before, after))
        self.called: TableName = mapper.table(before.name)
        self.table: TableName = mapper.table(after.name)

    def carried_out(self, known: Table, kind: WriteMode, files: TableFiles, moment: Moment) -> Table:
        """The table from here on, given the moment at which this happened.

        Raises:
            SluiceError: SLC-153, its rows would have values that nobody knows, or it has the columns of another time;
                SLC-145, its new name lets more of it be seen; SLC-432.
        """
        after = replace(known, columns=tuple(one.column for one in self._becomes))
        refuse_ours(after.name, after.columns)
        has_rows = bool(files.listed) and not self._after.rewritten
        if has_rows and not self._mapper.same_rows(self._before.name, self._after.name):
            raise more_to_be_seen(self._after.name, ["rows that it did not get"])
        was = schema_of(one.column for one in self._was if not one.column.generated)
        ours, becomes = schema_of(known.kept), schema_of(after.kept)
        if ours != was:
            if ours != becomes:
                raise unlike(known, after.kept)
            return after
        if self._after.rewritten:
            kind.forget(files)
        names, filled, unknown = self._sources()
        if unknown and has_rows:
            if self._before.name != self._after.name:
                raise more_to_be_seen(self._after.name, unknown)
            raise not_followed(known.name, f"nobody knows from here on what its rows have in {', '.join(unknown)}")
        if was == becomes and names == {one.name: one.name for one in after.kept}:
            return after
        alteration = Alteration(moment, after.kept, names, filled)
        kind.alter(alteration, files)
        return replace(after, altered=(*known.altered, alteration))

    def _sources(self) -> tuple[dict[str, str], dict[str, str], list[str]]:
        """The origin of each column's values: old columns, values of the command, and columns without an origin."""
        numbered = {one.origin.number: one.column for one in self._was if one.origin and not one.column.generated}
        own = {one.column.name: one.column for one in self._was if not one.origin and self._made_alike()}
        had = {one.number for one in self._before.columns}
        names, filled, unknown = dict[str, str](), dict[str, str](), list[str]()
        for column, origin in ((one.column, one.origin) for one in self._becomes if not one.column.generated):
            was = numbered.get(origin.number) if origin else own.get(column.name)
            if was:
                names[column.name] = was.name
                if not keeps(was.type, column.type):
                    unknown.append(f"{column.name}, {was.type} -> {column.type}")
            elif not origin or origin.number in had:
                unknown.append(column.name)
            elif origin.filled is not None:
                filled[column.name] = origin.filled
        return names, filled, unknown

    def _made_alike(self) -> bool:
        """Whether columns that have no values of the master's are made in the same way under both names."""
        before, after = (self._mapper.entry(side.name) for side in (self._before, self._after))
        return (before.mask, before.compute) == (after.mask, after.compute)


def table_of(defined: DefinedTable, mapper: Mapper) -> Table:
    """A table of the master, as a slave keeps it that has nothing of it. Raises SluiceError SLC-432."""
    columns = tuple(one.column for one in slave_layout(defined, mapper)[1])
    name = mapper.table(defined.name)
    refuse_ours(name, columns)
    return Table(name, columns)
