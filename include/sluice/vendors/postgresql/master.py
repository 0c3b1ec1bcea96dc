"""A PostgreSQL master as it is read: its catalog, its sequences, and its rows in a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from sluice.model.foreign_code import ForeignCode
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.position import Position
from sluice.model.sequence import SequenceValue
from sluice.model.watched import Watch
from sluice.vendors.postgresql import planned_code, sequences
from sluice.vendors.postgresql.capture import event_triggers, registry
from sluice.vendors.postgresql.catalog import definition, relations
from sluice.vendors.postgresql.catalog.definition import PostgresTable
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.read.compare import shape
from sluice.vendors.postgresql.read.snapshot import PostgresSnapshot
from sluice.vendors.postgresql.session import Connection, connect, exported
from sluice.vendors.postgresql.source_session import SourceSession
from sluice.vendors.protocol.load import At


class PostgresMaster:
    """See `sluice.vendors.protocol.master.MasterDatabase`."""

    def __init__(self, session: SourceSession) -> None:
        self._session = session
        self.info = session.info
        self.parts = session.parts
        self.trusted = session.trusted
        self._beside: Connection | None = None

    def eligible(self, schemas: Collection[str]) -> list[TableName]:
        """The tables of these schemas that wildcards may take."""
        with translated("looking for tables that wildcards take"):
            found = event_triggers.eligible(self._session.open(), schemas)
            code = planned_code.found(self._session.open(), found, self.trusted)
            return [name for name in found if name not in {one.table for one in code if one.is_key}]

    def dumpable(self, watched: Mapping[TableName, Watch]) -> list[PostgresTable]:
        """See that tables, which are there, can be watched and read; their definitions."""
        with translated("looking at the watched tables"):
            registry.wanted(self._session.open(), self._session.resources, self.parts, watched)
            planned_code.expect_none(self._session.open(), list(watched), self.trusted)
            return definition.readable(self._session.open(), list(watched))

    def foreign_code(self) -> list[ForeignCode]:
        """The tables of the registry whose queries run code of others when they are planned."""
        with translated("looking whose code would run"):
            known = registry.registered(self._session.open(), self.parts) if self._session.known() else {}
            return planned_code.found(self._session.open(), list(known), self.trusted)

    def columns(self, tables: Sequence[TableName]) -> dict[TableName, list[Column]]:
        """The columns of these tables, none for what is no table of the source."""
        with translated("looking at the watched tables"):
            return {name: relations.columns(self._session.open(), name) for name in tables}

    def sequences(self) -> list[SequenceValue]:
        """How far the sequences of watched tables have come by now."""
        with translated("reading the sequences"):
            if self._beside is None or self._beside.closed:
                self._beside = connect(self.info, "sequences", autocommit=True)
            return sequences.read(self._beside, self.parts)

    @contextmanager
    def exported_snapshot(self) -> Iterator[tuple[str, str]]:
        """Hold a snapshot open for others to read in: (id to import, text to compare with)."""
        with translated("exporting a snapshot"), connect(self.info, "snapshot", autocommit=True) as session:
            session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield exported(session)

    def dump_snapshot(
        self,
        stages: Sequence[Sequence[TableName]],
        log_end: Callable[[], Position],
        at: At | None = None,
        yields_after_s: float | None = None,
    ) -> PostgresSnapshot:
        """The snapshot of a dump; taken when its block begins."""
        return PostgresSnapshot(
            self.info,
            self._session.resources,
            self.parts,
            stages,
            at or (lambda: (log_end(), None)),
            yields_after_s,
            self.trusted,
            self._session.standby,
        )

    def shape(self, snapshot_id: str, name: TableName) -> Layout | None:
        """The columns of a table and its primary key, as an exported snapshot shows them; None if it is not watched
        there.
        """
        return shape(self.info, self.parts, snapshot_id, name)

    def close(self) -> None:
        """End the sessions."""
        if self._beside is not None:
            self._beside.close()
        self._beside = None
        self._session.close()
