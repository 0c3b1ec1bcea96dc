"""A PostgreSQL master: its DbResources, and the publisher's side of its queue."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import psycopg
from psycopg.pq import TransactionStatus

from sluice.connections import ConnectionInfo
from sluice.errors import FencedError, SluiceError
from sluice.model.names import Resources, TableName
from sluice.model.position import Position
from sluice.vendors.postgresql import capturing, catalog
from sluice.vendors.postgresql.comparing import shape
from sluice.vendors.postgresql.session import Connection, composed, connect, translated
from sluice.vendors.postgresql.snapshot import DumpSnapshot
from sluice.vendors.postgresql.sweeping import PostgresSweep, record_purge
from sluice.vendors.protocol import Capabilities, Installed, Purge, Watch


class PostgresSource:
    """See `sluice.vendors.protocol.SourceDatabase`."""

    def __init__(self, info: ConnectionInfo, schema: str, prefix: str) -> None:
        self.info = info
        self.resources = Resources(schema, prefix.lower())
        self.parts = capturing.parts_of(self.resources)
        self._session: Connection | None = None

    def capabilities(self) -> Capabilities:
        """What this source and our role on it can do."""
        with translated("asking for capabilities"), connect(self.info, "check", autocommit=True) as connection:
            (superuser,) = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()  # type: ignore[misc]
        return Capabilities(event_triggers=superuser, transactional_ddl=True, silent_triggers=superuser)

    def install(
        self, watched: Mapping[TableName, Watch], *, recreate: bool = False, unreadable: Collection[TableName] = ()
    ) -> Installed:
        """Install or reconcile everything in one transaction. Idempotent."""
        with translated("installing the DbResources"), connect(self.info, "bootstrap") as connection:
            return capturing.install(connection, self.resources, watched, recreate=recreate, unreadable=unreadable)

    def unreadable(self) -> list[TableName]:
        """Watched tables whose columns changed and nobody recorded it."""
        if not self.is_installed():
            return []
        with translated("comparing the catalog with the recorded columns"):
            return [TableName(*row) for row in self._publisher().execute(composed("publish/misread", **self.parts))]

    def is_installed(self) -> bool:
        """Whether the DbResources of this prefix are there."""
        with translated("looking for the DbResources"):
            name = f'"{self.resources.schema}"."{self.resources.name("state")}"'
            row = self._publisher().execute("SELECT to_regclass(%s) IS NOT NULL", [name]).fetchone()
        return bool(row and row[0])

    def missing(self, tables: Sequence[TableName]) -> list[TableName]:
        """Which of these are no tables of the source."""
        with translated("looking for the watched tables"):
            return [name for name in tables if not catalog.columns(self._publisher(), name)]

    def take_over(self, epoch: int) -> None:
        """Raise the fence; a publisher that hangs in its transaction is ended by its recorded process id (R6)."""
        with translated("taking the publisher's place"):
            session = self._publisher()
            session.execute("SET lock_timeout = '2s'")
            try:
                row = self._raise_fence(session, epoch)
            except psycopg.errors.LockNotAvailable:
                for (pid,) in session.execute(composed("publish/holder", **self.parts)).fetchall():
                    session.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
                row = self._raise_fence(session, epoch)
            if row is None:
                raise FencedError(50, f"a publisher with an epoch above {epoch} is at work", "nothing is lost")
            session.execute("SET lock_timeout = 0")

    def queued(self) -> bool:
        """Whether ITEMS holds anything: the one cheap query of an idle sweep."""
        with translated("looking at ITEMS"):
            row = self._publisher().execute(composed("publish/any", **self.parts)).fetchone()
        return bool(row and row[0])

    @contextmanager
    def sweep(self, epoch: int, max_changes: int | None, snapshot_id: str | None = None) -> Iterator[PostgresSweep]:
        """Read ITEMS in one snapshot, ours or an exported one; whatever is not purged is rolled back."""
        session = self._publisher()
        sweep = PostgresSweep(session, self.info, self.parts, epoch)
        with translated("sweeping ITEMS"):
            try:
                sweep.begin(max_changes, snapshot_id)
                yield sweep
            except BaseException:
                # Perhaps in the middle of its COPY, where a ROLLBACK would wait for the rest of it for ever.
                self.close()
                raise
            if session.info.transaction_status != TransactionStatus.IDLE:
                session.execute("ROLLBACK")

    def heal(self, epoch: int, purge: Purge, keys: Sequence[int]) -> int:
        """Purge again, by name, what a publisher that died between listing and purging left behind."""
        with translated("purging again what is in the log"):
            session = self._publisher()
            with session.transaction():
                session.execute("SET LOCAL synchronous_commit = on")
                gone = session.execute(composed("publish/purge_keys", **self.parts), {"keys": list(keys)}).rowcount
                record_purge(session, self.parts, purge, epoch)
        return gone

    def accept(self, epoch: int, segment: int, sha256: str) -> str:
        """Take this source as the one whose log ends with `segment`; its incarnation, to be recorded there."""
        with translated("accepting the source"):
            session = self._publisher()
            with session.transaction():
                record_purge(session, self.parts, Purge(segment, sha256), epoch)
                row = session.execute(composed("publish/fence", **self.parts)).fetchone()
        assert row is not None
        return str(row[0])

    @contextmanager
    def exported_snapshot(self) -> Iterator[tuple[str, str]]:
        """Hold a snapshot open for others to read in: (id to import, text to compare with)."""
        with translated("exporting a snapshot"), connect(self.info, "snapshot", autocommit=True) as session:
            session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            row = session.execute("SELECT pg_export_snapshot(), pg_current_snapshot()::text").fetchone()
            if row is None:
                raise SluiceError(39, "the source exported no snapshot")
            yield str(row[0]), str(row[1])

    def dump_snapshot(self, tables: Sequence[TableName], log_end: Callable[[], Position]) -> DumpSnapshot:
        """The snapshot of a dump; taken when its block begins."""
        return DumpSnapshot(self.info, tables, log_end)

    def shape(self, snapshot_id: str, name: TableName) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns of a table and those of its primary key, as an exported snapshot shows them."""
        return shape(self.info, snapshot_id, name)

    def close(self) -> None:
        """End the publisher's session."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _publisher(self) -> Connection:
        if self._session is None or self._session.closed:
            self._session = connect(self.info, "publish", autocommit=True)
            self._session.execute("SET work_mem = '64MB'")
        return self._session

    def _raise_fence(self, session: Connection, epoch: int) -> object:
        return session.execute(composed("publish/take_over", **self.parts), {"epoch": epoch}).fetchone()
