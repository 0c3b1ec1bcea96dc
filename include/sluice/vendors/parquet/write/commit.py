"""Applies a batch to the tables of a replication in files: rows, and commands.

All of it is made beside the version that is current, and becomes the next one as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sluice.apply.net.effects import Effect
from sluice.config.mapper import Mapper
from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.action import Command, Existing
from sluice.model.names import TableName
from sluice.model.row_conflict import Tolerated, conflict_counts
from sluice.model.table_definition import DefinedTable, TableChange
from sluice.vendors.parquet.ddl.alter import Alter, table_of
from sluice.vendors.parquet.ddl.schema_change import Moment
from sluice.vendors.parquet.versions import Table
from sluice.vendors.parquet.write.data_files import TableFiles
from sluice.vendors.parquet.write.mode import WriteMode
from sluice.vendors.protocol.ddl_errors import name_taken, there_already

Admit = Callable[[Table, TableName | None], None]


class Commit:
    """The tables as the next version is to have them.

    Args:
        before: as the version has them that is current.
        opened: the files of a table, to be written to.
        admit: looks whether a table can be kept under its columns, beside the rows of one of those of before.
    """

    def __init__(
        self,
        kind: WriteMode,
        mapper: Mapper,
        before: Mapping[TableName, Table],
        opened: Callable[[Table], TableFiles],
        admit: Admit,
    ) -> None:
        self._kind = kind
        self._mapper = mapper
        self._tables = dict(before)
        self._opened = opened
        self._admit = admit
        self._edited: dict[TableName, TableFiles] = {}
        # What those were called that are older than this commit.
        self._called = {name: name for name in before}

    def write(self, effect: Effect) -> Tolerated:
        """Carry out changes of one table. Returns which rows were not as expected.

        Raises:
            SluiceError: SLC-070, it has not this table; SLC-153, it has it with other columns.
        """
        name = effect.layout.name
        known = self._tables.get(name)
        found = self._kind.fitting(known, effect.layout)
        if found is None:
            raise SluiceError(70, f"the slave has no rows of {name}", "make and fill the table by initial_update")
        self._put(known, found)
        return conflict_counts(name, missing=self._kind.apply(effect, self._files(found)))

    def carry_out(self, command: Command, epoch: int) -> None:
        """Do to a table what the master did to it.

        Raises:
            SluiceError: SLC-068, Sluice did not write the command; SLC-141, a table that is to be made has rows
                already; SLC-142, the name is another table's; SLC-145, SLC-153, what its rows have from here on is
                not known; SLC-432, a column is called as one of ours.
        """
        change = _read(command)
        moment = epoch, command.ordinal, command.key
        if change.before and change.after:
            self._alter(Alter(change.before, change.after, self._mapper), moment)
        elif change.after:
            self._create(change.after, command.existing, moment)
        elif change.before:
            self._drop(self._mapper.table(change.before.name), moment)

    def end(self) -> dict[TableName, Table]:
        """All tables, with the files that they have now."""
        for name, files in self._edited.items():
            files.join()
            self._tables[name] = self._tables[name].with_files(files.listed)
        return self._tables

    def discard(self) -> None:
        """Leave nothing behind of it."""
        for files in self._edited.values():
            files.discard()

    def _create(self, defined: DefinedTable, existing: Existing, moment: Moment) -> None:
        if defined.unfilled:
            event("left to an initial update", table=defined.name)
            return
        made = table_of(defined, self._mapper)
        if existing is Existing.RECREATE:
            self._drop(made.name, moment)
        known, found = self._tables.get(made.name), made
        if known and not self._files(known).listed:
            self._drop(made.name, moment)
        elif known:
            if existing is not Existing.OVERWRITE:
                raise there_already(
                    made.name,
                    "set `overwrite_tables: true` (its rows do not count any more) or `recreate_tables: true` (it is "
                    "dropped) for this replication; or make and fill it by initial_update",
                )
            found = self._kind.begun_anew(known, made, self._files(known), moment)
        self._put(self._tables.get(made.name), found)

    def _alter(self, alter: Alter, moment: Moment) -> None:
        known = self._tables.get(alter.called)
        if alter.table != alter.called:
            if alter.table in self._tables:
                raise name_taken(
                    alter.called,
                    alter.table,
                    f"make and fill {alter.table} by initial_update, which leaves this behind; what is there stays "
                    "until that has ended",
                )
            known = known and self._rename(known, alter.table)
        if known:
            self._put(known, alter.carried_out(known, self._kind, self._files(known), moment))

    def _drop(self, name: TableName, moment: Moment) -> None:
        known = self._tables.get(name)
        if known is None:
            return
        files = self._files(known)
        left = self._kind.left(known, moment) if files.listed else None
        if left:
            self._rename(known, left.name)
            return
        files.discard()
        for kept in (self._tables, self._edited, self._called):
            kept.pop(name, None)

    def _rename(self, known: Table, to: TableName) -> Table:
        self._files(known).call(to)
        self._edited[to] = self._edited.pop(known.name)
        if known.name in self._called:
            self._called[to] = self._called.pop(known.name)
        self._tables[to] = self._tables.pop(known.name).called(to)
        return self._tables[to]

    def _put(self, known: Table | None, found: Table) -> None:
        if known is None or found.kept != known.kept:
            self._admit(found, self._called.get(found.name))
        self._tables[found.name] = found

    def _files(self, table: Table) -> TableFiles:
        return self._edited.setdefault(table.name, self._opened(table))


def _read(command: Command) -> TableChange:
    try:
        return command.table_change()
    except ValueError as error:
        raise SluiceError(
            68,
            f"a command of the change log is not one that Sluice wrote: {error}",
            "nothing of the batch was applied; an initial_update leaves the command behind",
        ) from None
