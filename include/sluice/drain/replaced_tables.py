"""Finds tables of a slave that were emptied, rewritten or replaced beside its drain. Nothing else shows the lost rows.

Each step of a drain records the storage of the tables (on PostgreSQL their file numbers) as it leaves them. The next
one compares them when it begins, and when it ends, unless it has emptied or altered tables itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sluice.context import Context
from sluice.log import event
from sluice.model.names import Pair, TableName
from sluice.store import known_differences, table_files
from sluice.vendors.protocol.slave import SlaveDatabase


class ReplacedTables:
    """The look of one drain at the tables that its slave is given.

    A database that other drains write to, or that is a master itself, is left alone: what is emptied there may be the
    work of one of them, or of an application.
    """

    def __init__(self, context: Context, pair: Pair, slave: SlaveDatabase, tables: Sequence[TableName]) -> None:
        here = context.database_id(context.config.slave(pair.slave).connection)
        used = [context.config.slave(replication.slave).connection for replication in context.config.replications]
        used += [source.connection for source in context.config.sources.values()]
        is_alone = [context.database_id(name) for name in used].count(here) == 1
        self._store = context.store
        self._pair = pair
        self._slave = slave
        self._tables = tables if is_alone else ()
        self._was: Mapping[str, str] = {}

    def look(self, ordinal: int) -> None:
        """Find tables with other files than the last drain left, if the slave stands where that drain left it."""
        if was := table_files.read(self._store, self._pair, ordinal) if self._tables else {}:
            self._was = was
            files = self._files()
            if self._doubt(ordinal, files):
                table_files.record(self._store, self._pair, ordinal, files)
                self._was = files

    def record(self, ordinal: int, remade: Collection[TableName] | None) -> None:
        """Record the files as this drain leaves them.

        Args:
            remade: tables that the drain itself has emptied since the look; None if it may have emptied or altered any.
                Other files of other tables are the work of somebody else.
        """
        if not self._tables:
            return
        files = self._files()
        if remade is not None:
            self._doubt(ordinal, files, remade)
        table_files.record(self._store, self._pair, ordinal, None if files == self._was else files)

    def _doubt(self, ordinal: int, files: Mapping[str, str], remade: Collection[TableName] = ()) -> bool:
        """Mark the tables that have other files than before; whether there are any."""
        given = {str(name) for name in self._tables if self._slave.mapper.table(name) not in remade}
        replaced = [name for name, file in self._was.items() if name in given and files.get(name) != file]
        if replaced:
            event("tables replaced", slave=self._pair.slave, tables=",".join(replaced))
            known_differences.doubt(self._store, self._pair, ordinal, replaced)
        return bool(replaced)

    def _files(self) -> dict[str, str]:
        return {str(name): file for name, file in self._slave.table_files(self._tables).items()}
