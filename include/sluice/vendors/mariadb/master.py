"""A MariaDB master as it is read: its catalog, and its rows at places of its log."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from sluice.model.foreign_code import ForeignCode
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.position import Position
from sluice.model.sequence import SequenceValue
from sluice.model.watched import Watch
from sluice.vendors.mariadb.capture.binlog.server import end_of_log
from sluice.vendors.mariadb.catalog import master_tables
from sluice.vendors.mariadb.catalog.master_tables import described, expect_capturable
from sluice.vendors.mariadb.errors import translated
from sluice.vendors.mariadb.read.snapshot import MariaSnapshot
from sluice.vendors.mariadb.source_session import SourceSession
from sluice.vendors.protocol.load import At
from sluice.vendors.protocol.plain_table import PlainTable


class MariaMaster:
    """See `sluice.vendors.protocol.master.MasterDatabase`."""

    def __init__(self, session: SourceSession) -> None:
        self._session = session

    def eligible(self, schemas: Collection[str]) -> list[TableName]:
        """The tables of these databases that wildcards may take."""
        resources = self._session.resources
        with translated("looking for tables that wildcards take"):
            found = master_tables.eligible(self._session.open(), schemas)
        return [one for one in found if not (one.schema == resources.schema and one.table.startswith(resources.folded))]

    def dumpable(self, watched: Mapping[TableName, Watch]) -> list[PlainTable]:
        """See that tables, which are there, can be captured and read; their definitions."""
        with translated("looking at the watched tables"):
            session = self._session.open()
            for name in watched:
                expect_capturable(session, name)
            found = [described(session, name) for name in watched]
        return [PlainTable(one.layout()) for one in found if one]

    def foreign_code(self) -> list[ForeignCode]:
        """None: a SELECT runs no code of others here."""
        return []

    def columns(self, tables: Sequence[TableName]) -> dict[TableName, list[Column]]:
        """The columns of these tables, none for what is no table of the source."""
        with translated("looking at the watched tables"):
            found = {name: described(self._session.open(), name) for name in tables}
        return {name: list(one.layout().columns) if one else [] for name, one in found.items()}

    def sequences(self) -> list[SequenceValue]:
        """None: what AUTO_INCREMENT has given out is in the rows."""
        return []

    @contextmanager
    def exported_snapshot(self) -> Iterator[tuple[str, str]]:
        """A place of the log, which others read at; nothing is held open for it."""
        with translated("looking at the binary log"):
            place = str(end_of_log(self._session.open()))
        yield place, place

    def dump_snapshot(
        self,
        stages: Sequence[Sequence[TableName]],
        log_end: Callable[[], Position],
        at: At | None = None,
        yields_after_s: float | None = None,
    ) -> MariaSnapshot:
        """The snapshot of a dump; taken when its block begins. Nobody waits for it, so it never yields."""
        return MariaSnapshot(self._session, stages, at or (lambda: (log_end(), None)))

    def shape(self, snapshot_id: str, name: TableName) -> Layout | None:
        """The columns of a table and its primary key; who reads its rows sees whether it was altered since."""
        with translated("reading the catalog"):
            found = described(self._session.open(), name)
        return found.layout() if found else None

    def close(self) -> None:
        """End the session."""
        self._session.close()
