"""An Oracle master as it is read: its catalog, and its rows as of a change number."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from sluice.model.foreign_code import ForeignCode
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.position import Position
from sluice.model.sequence import SequenceValue
from sluice.model.watched import Watch
from sluice.vendors.oracle.capture.queue.sweep import snapshot_as_of
from sluice.vendors.oracle.catalog import tables as catalog
from sluice.vendors.oracle.catalog.recorded import layout_of
from sluice.vendors.oracle.errors import translated
from sluice.vendors.oracle.read.snapshot import OracleSnapshot, place_now
from sluice.vendors.oracle.source_session import SourceSession
from sluice.vendors.protocol.load import At
from sluice.vendors.protocol.plain_table import PlainTable


class OracleMaster:
    """See `sluice.vendors.protocol.master.MasterDatabase`."""

    def __init__(self, session: SourceSession) -> None:
        self._session = session

    def eligible(self, schemas: Collection[str]) -> list[TableName]:
        """The tables of these schemas that wildcards may take."""
        with translated("looking for tables that wildcards take"):
            found = catalog.eligible(self._session.open(), schemas)
        return [one for one in found if not self._session.resources.has(one)]

    def dumpable(self, watched: Mapping[TableName, Watch]) -> list[PlainTable]:
        """See that tables, which are there, can be captured and read; their definitions."""
        with translated("looking at the watched tables"):
            found = [PlainTable(layout_of(catalog.table(self._session.open(), name))) for name in watched]
            for name in watched:
                catalog.expect_seen_whole(self._session.open(), name)
        return found

    def foreign_code(self) -> list[ForeignCode]:
        """None: virtual columns, which may call functions, are not read."""
        return []

    def columns(self, tables: Sequence[TableName]) -> dict[TableName, list[Column]]:
        """The columns of these tables, none for what is no table of the source."""
        with translated("looking at the watched tables"):
            found = {name: catalog.described(self._session.open(), name) for name in tables}
        return {name: list(layout_of(table).columns) if table else [] for name, table in found.items()}

    def sequences(self) -> list[SequenceValue]:
        """None: no sequence of Oracle belongs to a table."""
        return []

    @contextmanager
    def exported_snapshot(self) -> Iterator[tuple[str, str]]:
        """A change number, as of which others read; nothing is held open for it."""
        with translated("taking a snapshot"):
            place = place_now(self._session)
            snapshot = snapshot_as_of(self._session.open(), self._session.parts, place.scn)
        yield str(place), snapshot.text

    def dump_snapshot(
        self,
        stages: Sequence[Sequence[TableName]],
        log_end: Callable[[], Position],
        at: At | None = None,
        yields_after_s: float | None = None,
    ) -> OracleSnapshot:
        """The snapshot of a dump; taken when its block begins. Nobody waits for it, so it never yields."""
        return OracleSnapshot(self._session, stages, at or (lambda: (log_end(), None)))

    def shape(self, snapshot_id: str, name: TableName) -> Layout | None:
        """The columns of a table and its primary key; who reads its rows is told if it was altered since."""
        with translated("reading the catalog"):
            found = catalog.described(self._session.open(), name)
        return layout_of(found) if found else None

    def close(self) -> None:
        """End the session."""
        self._session.close()
