"""A GaussDB master as it is read: its catalog, and its rows in a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

import psycopg

from sluice.model.foreign_code import ForeignCode
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.position import Position
from sluice.model.sequence import SequenceValue
from sluice.model.watched import Watch
from sluice.vendors.gaussdb.capture import registry
from sluice.vendors.gaussdb.catalog.tables import described, tables
from sluice.vendors.gaussdb.read.snapshot import GaussSnapshot, exported, read_as_of
from sluice.vendors.gaussdb.session import composed, connect
from sluice.vendors.gaussdb.source_session import SourceSession
from sluice.vendors.postgresql.catalog.definition import PostgresTable
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.protocol.load import At


class GaussMaster:
    """See `sluice.vendors.protocol.master.MasterDatabase`."""

    def __init__(self, session: SourceSession) -> None:
        self._session = session

    def eligible(self, schemas: Collection[str]) -> list[TableName]:
        """The tables of these schemas that wildcards may take."""
        with translated("looking for tables that wildcards take"):
            found = tables(self._session.open(), schemas)
            ours = {
                TableName(self._session.resources.schema, self._session.resources.name(one)) for one in registry.NAMES
            }
            return [name for name, (_, logged) in found.items() if logged and name not in ours]

    def dumpable(self, watched: Mapping[TableName, Watch]) -> list[PostgresTable]:
        """See that tables, which are there, can be read; their definitions."""
        with translated("looking at the watched tables"):
            found = described(self._session.open(), list(watched))
            relations = {one.relation: name for name, one in found.items()}
            hidden = (
                self._session.open().execute(composed("read/unreadable"), {"relations": list(relations)}).fetchone()
            )
            if hidden:
                raise psycopg.errors.InsufficientPrivilege(f"permission denied for table {relations[hidden[0]]}")
            return [found[name].definition for name in watched if name in found]

    def foreign_code(self) -> list[ForeignCode]:
        """Not looked for: see `include/docs/gaussdb.md`."""
        return []

    def columns(self, names: Sequence[TableName]) -> dict[TableName, Sequence[Column]]:
        """The columns of these tables, none for what is no table of the source."""
        with translated("looking at the watched tables"):
            found = described(self._session.open(), names)
            return {name: found[name].layout.columns if name in found else () for name in names}

    def sequences(self) -> list[SequenceValue]:
        """None: sequences of these servers are not carried."""
        return []

    @contextmanager
    def exported_snapshot(self) -> Iterator[tuple[str, str]]:
        """Hold a snapshot open for others to read in: (id to import, text to compare with)."""
        with translated("exporting a snapshot"), closing(connect(self._session.info, "snapshot")) as session:
            session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield exported(session)

    def dump_snapshot(
        self,
        stages: Sequence[Sequence[TableName]],
        log_end: Callable[[], Position],
        at: At | None = None,
        yields_after_s: float | None = None,
    ) -> GaussSnapshot:
        """The snapshot of a dump; taken when its block begins. Nothing is given way to: locks are those of readers."""
        return GaussSnapshot(self._session.info, self._session.parts, stages, at or (lambda: (log_end(), None)))

    def shape(self, snapshot_id: str, name: TableName) -> Layout | None:
        """The columns of a table and its primary key, as an exported snapshot shows them; None if it is not watched
        there.
        """
        with translated("reading the catalog"), closing(connect(self._session.info, "check")) as session:
            session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            read_as_of(session, snapshot_id)
            if name not in registry.registered(session, self._session.parts):
                return None
            found = described(session, [name]).get(name)
            return found.layout if found else None

    def close(self) -> None:
        """End the session."""
        self._session.close()
