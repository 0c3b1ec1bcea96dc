"""What an ALTER of the master makes of a table in files, told by its definitions of before and after.

Columns are told by the numbers that the master gave them. Where a value that a row has from here on is neither in the
files nor in the command, the ALTER is not carried out (R7).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sluice.apply.mapper import Mapper
from sluice.apply.view import view
from sluice.errors import SluiceError
from sluice.model.action import Command
from sluice.model.ddl import DefinedColumn, DefinedTable, TableChange
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.vendors.parquet.alteration import Alteration
from sluice.vendors.parquet.files import Files
from sluice.vendors.parquet.kinds import Kind
from sluice.vendors.parquet.replica import not_followed, unlike
from sluice.vendors.parquet.types import keeps, schema_of
from sluice.vendors.parquet.versions import Table


@dataclass(frozen=True)
class _Seen:
    """A column of the slave, and the master's of which it has the values, if there is one."""

    column: Column
    origin: DefinedColumn | None


class Alter:
    """An ALTER, as a slave sees it.

    Attributes:
        table: its name there; None if it gets another one.
    """

    def __init__(self, command: Command, mapper: Mapper) -> None:
        """Raises SluiceError SLC-068 if Sluice did not write it."""
        self._key = command.ordinal, command.key
        self._before, self._after = _read(command)
        self._was, self._becomes = (_seen(side, mapper) for side in (self._before, self._after))
        old, new = (mapper.table(side.name) for side in (self._before, self._after))
        self.table: TableName | None = new if old == new else None

    def carried_out(self, known: Table, kind: Kind, files: Files) -> Table:
        """The table from here on.

        Raises:
            SluiceError: SLC-153, its rows would have values that nobody knows, or it has the columns of another time.
        """
        after = replace(known, columns=tuple(one.column for one in self._becomes))
        was = schema_of(one.column for one in self._was if not one.column.generated)
        ours, becomes = schema_of(known.kept), schema_of(after.kept)
        if ours != was:
            if ours != becomes:
                raise unlike(known, after.kept)
            return after
        if self._after.rewritten:
            kind.forget(files)
        names, filled, unknown = self._sources()
        if unknown and files.listed and not self._after.rewritten:
            raise not_followed(known.name, f"nobody knows from here on what its rows have in {', '.join(unknown)}")
        if was == becomes and names == {one.name: one.name for one in after.kept}:
            return after
        alteration = Alteration((files.epoch, *self._key), after.kept, names, filled)
        kind.alter(alteration, files)
        return replace(after, altered=(*known.altered, alteration))

    def _sources(self) -> tuple[dict[str, str], dict[str, str], list[str]]:
        """Where the values of each column come from: another one, or what the command says; those that come from
        nowhere."""
        numbered = {one.origin.number: one.column for one in self._was if one.origin and not one.column.generated}
        own = {one.column.name: one.column for one in self._was if not one.origin}
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


def _read(command: Command) -> tuple[DefinedTable, DefinedTable]:
    try:
        change = TableChange.from_json(command.text)
        if not change.before or not change.after:
            raise ValueError("an ALTER that says one side alone")
    except ValueError as error:
        raise SluiceError(
            68,
            f"a command of the change log is not one that Sluice wrote: {error}",
            "nothing of the batch was applied; an initial_update leaves the command behind",
        ) from None
    return change.before, change.after


def _seen(table: DefinedTable, mapper: Mapper) -> list[_Seen]:
    columns = tuple(Column(one.name, one.type, one.not_null, one.generated is not None) for one in table.columns)
    places = [one.name for one in table.columns]
    layout = Layout(0, table.name, columns, tuple(places.index(name) for name in table.key))
    named = {mapper.column(table.name, one.name): one for one in table.columns}
    return [_Seen(column, named.get(column.name)) for column in view(mapper, layout).layout.columns]
