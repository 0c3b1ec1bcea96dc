"""A PostgreSQL master: its DbResources, and the publisher's side of its queue."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from psycopg import sql
from psycopg.pq import TransactionStatus

from sluice.connections import ConnectionInfo
from sluice.errors import AlteredMeanwhile, FencedError, StrangeSource
from sluice.model.foreign_code import ForeignCode
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.position import Position
from sluice.model.sequence import SequenceValue
from sluice.model.statement import Statement, TransactionOutcome, TransactionRef
from sluice.model.unwatched import Unwatched
from sluice.model.watched import Wanted, Watch
from sluice.vendors.postgresql import encoding, grants, migrations, ownership, planned_code, sequences
from sluice.vendors.postgresql.capture import (
    ddl_polling,
    event_triggers,
    install,
    registry,
    uninstall,
    unwatched,
    warnings,
)
from sluice.vendors.postgresql.capture.queue import storage, triggers
from sluice.vendors.postgresql.capture.queue.backlog import Backlog
from sluice.vendors.postgresql.capture.queue.sweep import PostgresSweep, purged_by_name, reclaim, record_purge
from sluice.vendors.postgresql.catalog import definition, relations
from sluice.vendors.postgresql.catalog.change_stamp import CatalogStamp
from sluice.vendors.postgresql.catalog.definition import PostgresTable
from sluice.vendors.postgresql.fence import raised
from sluice.vendors.postgresql.read.compare import shape
from sluice.vendors.postgresql.read.snapshot import PostgresSnapshot
from sluice.vendors.postgresql.session import (
    PURGE,
    Connection,
    composed,
    connect,
    exported,
    refuse_read_only,
    translated,
)
from sluice.vendors.postgresql.statements import transaction_fate
from sluice.vendors.protocol.load import At
from sluice.vendors.protocol.slave import Capabilities, Installed
from sluice.vendors.protocol.sweep import Purge


class PostgresSource:
    """See `sluice.vendors.protocol.slave.SourceDatabase`."""

    def __init__(self, info: ConnectionInfo, schema: str | None, prefix: str, trusted: Collection[str] = ()) -> None:
        self.info = info
        self.trusted = trusted
        self.resources = install.resources(schema, prefix)
        self.parts = install.parts_of(self.resources)
        self._session: Connection | None = None
        self._polls: bool | None = None
        self._pinned = True
        self._newcomers = ddl_polling.NewTables()
        self._unrecorded = ddl_polling.MissedDdl()
        self._beside: Connection | None = None
        self._backlog: Backlog | None = None
        self._polled, self._firing = CatalogStamp(), CatalogStamp()
        self._waited = ddl_polling.Waited()
        self._recorded = CatalogStamp(self._polled)

    def capabilities(self) -> Capabilities:
        """What this source and our role on it can do."""
        with translated("asking for capabilities"), connect(self.info, "check", autocommit=True) as connection:
            refuse_read_only(connection)
            encoding.expect_known(connection)
            if not self.resources.is_home:
                connection.execute("SELECT quote_ident(%s)::regnamespace", [self.resources.schema])
            seen = event_triggers.sees_ddl(connection, self.resources, self.parts)
            superuser = event_triggers.may_watch_ddl(connection)
        return Capabilities(event_triggers=seen, transactional_ddl=True, silent_triggers=superuser)

    def install(
        self,
        watched: Mapping[TableName, Watch],
        wanted: Wanted,
        *,
        recreate: bool = False,
        unreadable: Collection[TableName] = (),
        notice: Callable[[str], None] | None = None,
    ) -> Installed:
        """Install or reconcile everything in one transaction. Idempotent."""
        with translated("installing the DbResources"), connect(self.info, "bootstrap") as connection:
            encoding.expect_known(connection)
            if notice:
                connection.add_notice_handler(lambda said: notice(f"{said.severity}: {said.message_primary}"))
            return install.install(
                connection, self.resources, watched, wanted, recreate=recreate, unreadable=unreadable
            )

    def upgrade(self, wanted: Wanted) -> None:
        """Bring DbResources of an older version up to this one, in one transaction."""
        with translated("upgrading the DbResources"), connect(self.info, "bootstrap") as connection:
            install.upgrade(connection, self.resources, wanted)

    def claim(self, store: str, *, by_force: bool = False) -> None:
        """Let the source be captured for this control store alone, as soon as there is anything that captures it."""
        with translated("looking for whom the source is captured"):
            session = self._publisher()
            version = migrations.version(session, self.resources, self.parts)
            if version is None:
                return
            (holder,) = session.execute(composed("capture/registry/claimed", **self.parts)).fetchone() or (None,)
            ours = holder == store
            if version == migrations.newest() and not ours and (holder is None or by_force):
                claim, values = composed("capture/registry/claim", **self.parts), {"store": store, "holder": holder}
                ours = session.execute(claim, values).rowcount == 1
        if not (ours or holder is None or by_force):
            raise StrangeSource(
                299,
                f"the source is captured for another control store, as {self.resources.schema}."
                f"{self.resources.name('state')} in {self.info.database} has it",
                "nothing was changed. If both are to have it, choose another `prefix` for this one. If the other one "
                "is gone for good, trigger the DAG bootstrap with rebase, then initial_update for all slaves",
            )

    def unreadable(self) -> list[TableName]:
        """Watched tables whose columns changed and nobody recorded it."""
        with translated("comparing the catalog with the recorded columns"):
            return [
                TableName(schema, table)
                for schema, table, _ in self._publisher().execute(composed("capture/ddl/layout_mismatch", **self.parts))
            ]

    def poll_ddl(self) -> None:
        """Send what changed as commands, and watch tables that are wanted; where DDL is seen, once a minute."""
        with translated("looking for tables that changed"):
            if self._polls is None:
                self._polls = not event_triggers.sees_ddl(self._publisher(), self.resources, self.parts)
                self._pinned = not self._polls or ddl_polling.pin(self._publisher(), self.parts)
            if self._polls and self._pinned:
                ddl_polling.poll(self._publisher(), self.parts, self._polled, self._waited.report)
            elif not self._polls:
                self._unrecorded.look(self._publisher(), self.parts)
            self._newcomers.watch(self._publisher(), self.parts, always=self._polls)

    def silenced(self) -> list[TableName]:
        """Watched tables whose triggers were dropped or disabled by somebody, so that changes are not known."""
        with translated("looking at the triggers"):
            ddl_polling.see_again(self._publisher(), self.resources, self.parts)
            self._polls = None
            return triggers.silenced(self._publisher(), self.parts, self._firing)

    def locked(self) -> list[str]:
        """See `sluice.vendors.protocol.slave.SourceDatabase`."""
        with translated("looking at locks"):
            if event_triggers.sees_ddl(self._publisher(), self.resources, self.parts):
                return []
            return [str(one) for one in ddl_polling.locked(self._publisher(), self.parts)]

    def take_up(self) -> None:
        """Watch tables that somebody added to the registry; those that cannot be now are tried again later."""
        with translated("watching tables that were added to the registry"):
            ddl_polling.take_up(self._publisher(), self.parts)

    def has_outdated_events(self) -> bool:
        """Whether event triggers that somebody made for the role are not those of this version."""
        with translated("looking at the event triggers"):
            return event_triggers.is_outdated(self._publisher(), self.resources, self.parts)

    def is_installed(self) -> bool:
        """Whether the DbResources of this prefix are there, in the version that this code works with."""
        with translated("looking for the DbResources"):
            return migrations.version(self._publisher(), self.resources, self.parts) == migrations.newest()

    def remarks(self, tables: Mapping[TableName, Watch]) -> list[str]:
        """What is worth knowing of these tables before they are replicated, in sentences."""
        with translated("looking at the watched tables"):
            return warnings.warnings(self._publisher(), self.resources, self.parts, tables)

    def without_old(self, tables: Mapping[TableName, Watch]) -> list[Layout]:
        """Those of these tables whose updates say nothing of what a row was if its key stayed."""
        with translated("looking at the watched tables"):
            return warnings.without_old(self._publisher(), self.resources, self.parts, tables)

    def grants(self, tables: Sequence[TableName], *, activity: bool = False) -> str:
        """The script that gives our role what capturing these tables needs, and what seeing activity does."""
        with translated("writing the script"):
            session = self._publisher()
            events = event_triggers.for_another(session, self.resources, self.parts, self.info.login)
            rights = grants.role(self.info.login, [self.resources.schema], tables)
            more = [composed("capture/grants/activity", role=self.info.login)] if activity else []
            return grants.script([rights, *more, *events], session)

    def remove(self, before: Callable[[], None]) -> list[str]:
        """Drop every DbResource of this prefix, in one transaction; what was dropped."""
        with translated("removing the DbResources"), connect(self.info, "cleanup") as connection:
            return uninstall.remove(connection, self.resources, before)

    def eligible(self, schemas: Collection[str]) -> list[TableName]:
        """The tables of these schemas that wildcards may take."""
        with translated("looking for tables that wildcards take"):
            found = event_triggers.eligible(self._publisher(), schemas)
            code = planned_code.found(self._publisher(), found, self.trusted)
            return [name for name in found if name not in {one.table for one in code if one.is_key}]

    def present(self, tables: Sequence[TableName]) -> dict[TableName, TableName]:
        """Those of these tables that exist, by what they are called today, each with the name that it is meant by."""
        known = self._known()
        with translated("looking for the watched tables"):
            return unwatched.present(self._publisher(), known, tables)

    def unwatched(self, tables: Sequence[TableName]) -> list[Unwatched]:
        """Those of these tables, and of those that somebody registered by hand, that are not watched, and why."""
        known = self._known()
        with translated("looking for tables that are not watched"):
            return unwatched.among(self._publisher(), known, tables)

    def dumpable(self, watched: Mapping[TableName, Watch]) -> list[PostgresTable]:
        """See that tables, which are there, can be watched and read; their definitions."""
        with translated("looking at the watched tables"):
            registry.wanted(self._publisher(), self.resources, self.parts, watched)
            planned_code.expect_none(self._publisher(), list(watched), self.trusted)
            return definition.readable(self._publisher(), list(watched))

    def foreign_code(self) -> list[ForeignCode]:
        """What of the tables of the registry has code of others run when a query of them is planned."""
        with translated("looking whose code would run"):
            known = registry.registered(self._publisher(), self.parts) if self._known() else {}
            return planned_code.found(self._publisher(), list(known), self.trusted)

    def columns(self, tables: Sequence[TableName]) -> dict[TableName, list[Column]]:
        """The columns of these tables, none for what is no table of the source."""
        with translated("looking at the watched tables"):
            return {name: relations.columns(self._publisher(), name) for name in tables}

    def take_over(self, epoch: int) -> None:
        """Raise the fence (R6), ending a publisher that hangs in its transaction; see that purges will be accepted."""
        with translated("taking the publisher's place"):
            take_over, holder = (composed(f"capture/queue/{name}", **self.parts) for name in ("take_over", "holder"))
            if raised(self._publisher(), take_over, holder, {"epoch": epoch}) is None:
                raise FencedError(50, f"a publisher with an epoch above {epoch} is at work")
            storage.set_replica_identity(self._publisher(), self.resources, self.parts)

    def queued(self) -> bool:
        """Whether ITEMS holds anything, or should: the one cheap query of an idle sweep."""
        with translated("looking at ITEMS"):
            return self._unrecorded.queued(self._publisher(), self.parts)

    @contextmanager
    def sweep(self, epoch: int, max_changes: int | None, until: str | None = None) -> Iterator[PostgresSweep]:
        """Read ITEMS in one snapshot, up to what an older one shows; whatever is not purged is rolled back."""
        session = self._publisher()
        with translated("sweeping ITEMS"), transaction_fate.beside(self.info) as beside:
            sweep = PostgresSweep(session, beside, self.info, self.parts, epoch, self._backlog, self._recorded)
            try:
                sweep.begin(max_changes, until)
                yield sweep
            except BaseException as error:
                if isinstance(error, AlteredMeanwhile):
                    self._unrecorded.hurry()
                # Perhaps in the middle of its COPY, where a ROLLBACK would wait for the rest of it for ever.
                self.close()
                raise
            if session.info.transaction_status != TransactionStatus.IDLE:
                session.execute("ROLLBACK")
            self._backlog = sweep.backlog

    def reclaim(self) -> None:
        """Let ITEMS use the room of purged changes again."""
        with translated("vacuuming ITEMS"):
            reclaim(self._publisher(), self.parts)

    def forget_layouts(self) -> None:
        """Forget the columns of relations that are gone, once nothing of them is queued. Not within a sweep."""
        with translated("looking for relations that are gone"):
            self._publisher().execute(composed("capture/ddl/forget_layouts", **self.parts))

    def understands(self, text: str) -> None:
        """Whether a statement is one that may be issued; asked before it is kept anywhere."""
        from sluice.vendors.postgresql.statements import parser

        parser.parsed(text)

    def heal(self, epoch: int, purge: Purge, changes: Iterable[Mapping[str, Sequence[object]]]) -> bool:
        """Purge again, by name, what a publisher that died between listing and purging left behind."""
        # What was looked over before names transactions that go now: no slice of it would ever be published.
        self._backlog = None
        with translated("purging again what is in the log"):
            session = self._publisher()
            return purged_by_name(session, self.parts, purge, epoch, changes)

    def accept(self, epoch: int, segment: int, sha256: str) -> str:
        """Take this source as the one whose log ends with `segment`; its incarnation, to be recorded there."""
        with translated("accepting the source"):
            session = self._publisher()
            with session.transaction():
                record_purge(session, self.parts, Purge(segment, sha256), epoch)
                session.execute(PURGE)
                session.execute(composed("capture/queue/purge_foreign", **self.parts))
                row = session.execute(composed("capture/queue/fence", **self.parts)).fetchone()
        assert row is not None
        return str(row[0])

    def sequences(self) -> list[SequenceValue]:
        """How far the sequences of watched tables have come by now."""
        with translated("reading the sequences"):
            if self._beside is None or self._beside.closed:
                self._beside = connect(self.info, "sequences", autocommit=True)
            return sequences.read(self._beside, self.parts)

    def issue(
        self, statement: Statement, commits: Callable[[Statement, TransactionRef], None], *, varying: bool
    ) -> None:
        """Execute a statement and record it in ITEMS, in one transaction."""
        # A parser takes long to import, and hardly a publisher needs it.
        from sluice.vendors.postgresql.statements import execution

        with (
            translated("issuing a statement"),
            transaction_fate.beside(self.info) as beside,
            transaction_fate.session(self.info, statement.id) as session,
        ):
            ownership.refuse_strange(session, self.resources)
            incarnation = transaction_fate.incarnation(session, self.parts)

            def last(done: Statement, trans_key: str) -> None:
                transaction_fate.flush(beside)
                commits(done, TransactionRef(statement.id, trans_key, incarnation))

            execution.issue(session, self.parts, statement, last, varying=varying)

    def fate(self, traced: TransactionRef, *, end: bool = False) -> TransactionOutcome:
        """What became of the transaction of a statement."""
        with translated("asking what became of a statement"):
            return transaction_fate.fate(self.info, self.parts, traced, end=end)

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
            self.info, self.parts, stages, at or (lambda: (log_end(), None)), yields_after_s, self.trusted
        )

    def shape(self, snapshot_id: str, name: TableName) -> Layout | None:
        """The columns of a table and its primary key, as an exported snapshot shows them; None if it is not watched
        there."""
        return shape(self.info, self.parts, snapshot_id, name)

    def close(self) -> None:
        """End the sessions."""
        for session in (self._session, self._beside):
            if session is not None:
                session.close()
        self._backlog = self._session = self._beside = None

    def _known(self) -> Mapping[str, sql.Composable] | None:
        """The parts of statements about DbResources, if these are there."""
        return self.parts if self.is_installed() else None

    def _publisher(self) -> Connection:
        if self._session is None or self._session.closed:
            session = connect(self.info, "publish", autocommit=True)
            try:
                ownership.refuse_strange(session, self.resources)
                session.execute("SET work_mem = '64MB'")
            except BaseException:
                session.close()
                raise
            self._session = session
        return self._session
