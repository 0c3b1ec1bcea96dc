"""Capture by a queue: DbResources and triggers on the master, and the publisher's side of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from psycopg import sql
from psycopg.pq import TransactionStatus

from sluice.errors import AlteredMeanwhile, FencedError, StrangeSource
from sluice.model.kept_log import KeptLog
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.statement import Statement, TransactionOutcome, TransactionRef
from sluice.model.unwatched import Unwatched
from sluice.model.watched import Watch, WatchSettings
from sluice.vendors.postgresql import encoding, grants, migrations, ownership
from sluice.vendors.postgresql.capture import (
    change_over,
    ddl_polling,
    event_triggers,
    install,
    needed_calls,
    uninstall,
    unwatched,
    warnings,
)
from sluice.vendors.postgresql.capture.change_over import CaptureState, Phase
from sluice.vendors.postgresql.capture.queue import triggers
from sluice.vendors.postgresql.capture.queue.backlog import Backlog
from sluice.vendors.postgresql.capture.queue.sweep import PostgresSweep, purged_by_name, reclaim, record_purge
from sluice.vendors.postgresql.capture.server_state import server_state
from sluice.vendors.postgresql.catalog.change_stamp import CatalogStamp
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.fence import raised
from sluice.vendors.postgresql.session import PURGE, Connection, composed, connect, refuse_read_only
from sluice.vendors.postgresql.source_session import SourceSession
from sluice.vendors.postgresql.statements import transaction_fate
from sluice.vendors.protocol.capabilities import Capabilities
from sluice.vendors.protocol.capture import Installed
from sluice.vendors.protocol.sweep import Purge, SourceState, Sweep


class QueueCapture:
    """See `sluice.vendors.protocol.capture.Capture`."""

    # Whether rows are read from the server's log.
    _by_log = False

    def __init__(self, session: SourceSession) -> None:
        self._session = session
        self.info = session.info
        self.resources = session.resources
        self.parts = session.parts
        self._is_newest = False
        self._polls: bool | None = None
        self._pinned = True
        self._newcomers = ddl_polling.NewTables()
        self._unrecorded = ddl_polling.MissedDdl()
        self._backlog: Backlog | None = None
        self._polled, self._firing = CatalogStamp("polled"), CatalogStamp("firing")
        self._waited = ddl_polling.Waited()
        self._recorded = CatalogStamp("recorded", self._polled)

    def capabilities(self) -> Capabilities:
        """The capabilities of this source and of our role on it.

        Raises:
            ConfigError: SLC-262, the server refuses what is needed; SLC-406, it is captured in another way.
        """
        with translated("asking for capabilities"), connect(self.info, "check", autocommit=True) as connection:
            refuse_read_only(connection)
            encoding.expect_known(connection)
            if not self.resources.is_home:
                connection.execute("SELECT quote_ident(%s)::regnamespace", [self.resources.schema])
            seen = event_triggers.sees_ddl(connection, self.resources, self.parts)
            fires = event_triggers.are_on(connection)
            needed_calls.expect_allowed(self.info, by_log=self._by_log)
        self._expect_way()
        return Capabilities(event_triggers=seen, events_fire=fires, transactional_ddl=True)

    def install(
        self,
        watched: Mapping[TableName, Watch],
        wanted: WatchSettings,
        *,
        recreate: bool = False,
        unreadable: Collection[TableName] = (),
        notice: Callable[[str], None] | None = None,
    ) -> Installed:
        """Install or reconcile everything in one transaction. Idempotent."""
        with self._installing(notice) as connection:
            return install.install(
                connection, self.resources, watched, wanted, recreate=recreate, unreadable=unreadable
            )

    @contextmanager
    def _installing(self, notice: Callable[[str], None] | None) -> Iterator[Connection]:
        with translated("installing the DbResources"), connect(self.info, "bootstrap") as connection:
            encoding.expect_known(connection)
            needed_calls.expect_allowed(self.info, by_log=self._by_log)
            if notice:
                connection.add_notice_handler(lambda said: notice(f"{said.severity}: {said.message_primary}"))
            yield connection

    def upgrade(self, wanted: WatchSettings) -> None:
        """Bring DbResources of an older version up to this one, in one transaction."""
        with translated("upgrading the DbResources"), connect(self.info, "bootstrap") as connection:
            install.upgrade(connection, self.resources, wanted)

    def claim(self, store: str, *, by_force: bool = False) -> None:
        """Let the source be captured for this control store alone, as soon as there is anything that captures it."""
        with translated("looking for whom the source is captured"):
            session = self._session.open()
            version = migrations.version(session, self.resources, self.parts)
            if version is None:
                return
            (holder,) = session.execute(composed("capture/registry/claimed", **self.parts)).fetchone() or (None,)
            ours = holder == store
            if version == migrations.newest() and not ours and (holder is None or by_force):
                claim, values = (
                    composed("capture/registry/claim", **self.parts),
                    {"store": store, "holder": holder},
                )
                ours = session.execute(claim, values).rowcount == 1
        if not (ours or holder is None or by_force):
            raise StrangeSource(
                299,
                f"the source is captured for another control store, as {self.resources.schema}."
                f"{self.resources.name('state')} in {self.info.database} has it",
                "nothing was changed. If both are to have it, choose another `prefix` for this one. If the other one "
                "is gone for good, trigger the DAG bootstrap with rebase, then initial_update for all slaves",
            )

    def _capture_state(self) -> CaptureState | None:
        """How the source is captured; None where nothing of this version is installed."""
        with translated("looking how the source is captured"):
            session = self._session.open()
            if not self._is_newest:
                self._is_newest = migrations.version(session, self.resources, self.parts) == migrations.newest()
            return change_over.recorded_state(session, self.parts) if self._is_newest else None

    def _expect_way(self) -> None:
        """See that this is how the source is captured. Raises ConfigError SLC-406."""
        if (found := self._capture_state()) and found.by_log is not self._by_log:
            raise change_over.other_way(CaptureState(self._by_log).name, found)

    def _expect_as(self, expected: CaptureState) -> None:
        """See in the snapshot of a sweep that the source is captured as it was before, or it would take what another
        publishes.

        Raises:
            ConfigError: SLC-406, it has changed over.
            TransientError: SLC-095, it has done so more than once.
        """
        found = change_over.recorded_state(self._session.open(), self.parts)
        if found and found.by_log is not expected.by_log:
            raise change_over.other_way(expected.name, found)
        if found and found.phase not in (expected.phase, Phase.OVER):
            raise change_over.changed_meanwhile()

    def unreadable(self) -> list[TableName]:
        """Find watched tables whose columns changed without a record."""
        with translated("comparing the catalog with the recorded columns"):
            return self._recorded.find_unrecorded(self._session.open(), self.parts)

    def poll_ddl(self) -> None:
        """Send what changed as commands, and watch tables that are wanted; where DDL is seen, once a minute."""
        with translated("looking for tables that changed"):
            if self._polls is None:
                self._polls = not event_triggers.sees_ddl(self._session.open(), self.resources, self.parts)
                self._pinned = not self._polls or ddl_polling.pin(self._session.open(), self.parts)
            if self._polls and self._pinned:
                ddl_polling.poll(self._session.open(), self.parts, self._polled, self._waited.report)
            elif not self._polls:
                self._unrecorded.look(self._session.open(), self.parts)
            self._newcomers.watch(self._session.open(), self.parts, always=self._polls)

    def silenced(self) -> list[TableName]:
        """Watched tables whose triggers were dropped or disabled by somebody, so that changes are not known."""
        with translated("looking at the triggers"):
            ddl_polling.see_again(self._session.open(), self.resources, self.parts)
            self._polls = None
            return triggers.silenced(self._session.open(), self.parts, self._firing)

    def locked(self) -> list[str]:
        """See `sluice.vendors.protocol.capture.Capture`."""
        with translated("looking at locks"):
            if event_triggers.sees_ddl(self._session.open(), self.resources, self.parts):
                return []
            return [str(one) for one in ddl_polling.locked(self._session.open(), self.parts)]

    def take_up(self) -> None:
        """Watch tables that somebody added to the registry; those that cannot be now are tried again later."""
        self._expect_way()
        with translated("watching tables that were added to the registry"):
            ddl_polling.take_up(self._session.open(), self.parts)

    def has_outdated_events(self) -> bool:
        """Whether event triggers that somebody made for the role are not those of this version."""
        with translated("looking at the event triggers"):
            return event_triggers.is_outdated(self._session.open(), self.resources, self.parts)

    def is_installed(self) -> bool:
        """Whether the DbResources of this prefix are there, in the version that this code works with."""
        with translated("looking for the DbResources"):
            return migrations.version(self._session.open(), self.resources, self.parts) == migrations.newest()

    def remarks(self, tables: Mapping[TableName, Watch]) -> list[str]:
        """Remarks on these tables before they are replicated, in sentences."""
        with translated("looking at the watched tables"):
            found = warnings.warnings(self._session.open(), self.resources, self.parts, tables)
        state = self._capture_state()
        return [*found, state.remark] if state and state.remark else found

    def without_old(self, tables: Mapping[TableName, Watch]) -> list[Layout]:
        """Those of these tables whose updates say nothing of what a row was if its key stayed."""
        with translated("looking at the watched tables"):
            return warnings.without_old(self._session.open(), self.resources, self.parts, tables)

    def grants(self, tables: Sequence[TableName], *, schemas: Collection[str] = (), activity: bool = False) -> str:
        """The script that gives our role what capturing these tables needs, and what seeing activity does."""
        with translated("writing the script"):
            session = self._session.open()
            events = event_triggers.for_another(session, self.resources, self.parts, self.info.login)
            rights = grants.role(self.info.login, [self.resources.schema], tables)
            lacking = "without that, `max_active` is refused (SLC-236)"
            more = [grants.optional(lacking, "activity", role=self.info.login)] if activity else []
            return grants.script([rights, *more, *self._rights(), *events], session)

    def _rights(self) -> list[sql.Composed]:
        """The statements that give our role more than triggers need."""
        return []

    def remove(self, before: Callable[[], None]) -> list[str]:
        """Drop every DbResource of this prefix, in one transaction; what was dropped."""
        return self._remove(before)

    def _remove(self, before: Callable[[], None], more: sql.Composed | None = None) -> list[str]:
        with translated("removing the DbResources"), connect(self.info, "cleanup") as connection:
            return uninstall.remove(connection, self.resources, before, more)

    def present(self, tables: Sequence[TableName]) -> dict[TableName, TableName]:
        """Those of these tables that exist, by what they are called today, each with the name that it is meant by."""
        known = self._session.known()
        with translated("looking for the watched tables"):
            return unwatched.present(self._session.open(), known, tables)

    def unwatched(self, tables: Sequence[TableName]) -> list[Unwatched]:
        """Find unwatched tables: of these, and of the tables that the registry or a recorded wildcard takes."""
        known = self._session.known()
        with translated("looking for tables that are not watched"):
            return unwatched.among(self._session.open(), known, tables)

    def take_over(self, epoch: int) -> None:
        """Raise the fence (R6), ending a publisher that hangs in its transaction."""
        self._expect_way()
        with translated("taking the publisher's place"):
            take_over, holder = (composed(f"capture/queue/{name}", **self.parts) for name in ("take_over", "holder"))
            if raised(self._session.open(), take_over, holder, {"epoch": epoch}) is None:
                raise FencedError(50, f"a publisher with an epoch above {epoch} is at work")

    def state(self) -> SourceState | None:
        """The record of the publisher, and the server; None where nothing is installed."""
        with translated("looking which server this is"):
            return server_state(self._session.open(), self.parts) if self.is_installed() else None

    def begin_behind(self, last_key: int) -> None:
        """Let an installation that is still to be made draw no REPL_KEY up to this one."""
        with self._installing(None) as connection:
            install.begin_behind(connection, self.resources, last_key)

    def set_events_aside(self) -> list[str]:
        """Drop the event triggers that the role may drop; the names of others."""
        with translated("dropping the event triggers"):
            return event_triggers.deafen(self._session.open(), self.resources)

    def queued(self) -> bool:
        """Whether ITEMS holds anything, or should: the one cheap query of an idle sweep."""
        with translated("looking at ITEMS"):
            return self._unrecorded.queued(self._session.open(), self.parts)

    def count_queued(self, most: int) -> int:
        """How many changes ITEMS holds, counted up to so many: it has no index, and may be long."""
        with translated("counting ITEMS"):
            counting = composed("capture/queue/count_queued", **self.parts)
            (found,) = self._session.open().execute(counting, {"most": most}).fetchone() or (0,)
            return int(found)

    def kept_log(self) -> KeptLog | None:
        """None: triggers need nothing of it."""
        return None

    @contextmanager
    def sweep(self, epoch: int, max_changes: int | None, until: str | None = None) -> Iterator[Sweep]:
        """Read ITEMS in one snapshot, up to what an older one shows; whatever is not purged is rolled back."""
        with translated("sweeping ITEMS"), transaction_fate.beside(self.info) as beside:
            session = self._session.open()
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

    def backlog(self) -> str | None:
        """The rest of a queue that was too long for one sweep, as far as the last one left it."""
        return self._backlog.to_text() if self._backlog else None

    def go_on_with(self, backlog: str) -> None:
        """Sweep on where another session left a queue; it is looked over again if it lies in another file by now."""
        self._backlog = Backlog.from_text(backlog)

    def reclaim(self) -> None:
        """Let ITEMS use the room of purged changes again."""
        with translated("vacuuming ITEMS"):
            reclaim(self._session.open(), self.parts)

    def forget_layouts(self) -> None:
        """Forget the columns of relations that are gone, and old lines of the debug table. Not within a sweep."""
        names = ("capture/ddl/forget_layouts", "capture/registry/trim_debug", "capture/registry/forget_functions")
        with translated("looking for relations that are gone"):
            for name in names:
                self._session.open().execute(composed(name, **self.parts))

    def understands(self, text: str) -> None:
        """Whether a statement is one that may be issued; asked before it is kept anywhere."""
        from sluice.vendors.postgresql.statements import parser

        parser.parsed(text)

    def heal(self, epoch: int, purge: Purge, changes: Iterable[Mapping[str, Sequence[object]]]) -> bool:
        """Purge again, by name, what a publisher that died between listing and purging left behind."""
        # What was looked over before names transactions that go now: no slice of it would ever be published.
        self._backlog = None
        with translated("purging again what is in the log"):
            session = self._session.open()
            return purged_by_name(session, self.parts, purge, epoch, changes)

    def accept(self, epoch: int, segment: int, sha256: str) -> str:
        """Take this source as the one whose log ends with `segment`; its incarnation, to be recorded there."""
        with translated("accepting the source"):
            session = self._session.open()
            with session.transaction():
                record_purge(session, self.parts, Purge(segment, sha256), epoch)
                session.execute(PURGE)
                session.execute(composed("capture/queue/purge_foreign", **self.parts))
                row = session.execute(composed("capture/queue/fence", **self.parts)).fetchone()
        assert row is not None
        return str(row[0])

    def issue(
        self,
        statement: Statement,
        commits: Callable[[Statement, TransactionRef], None],
        *,
        varying: bool,
        portable: bool = False,
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

            execution.issue(session, self.parts, statement, last, varying=varying, portable=portable)

    def fate(self, traced: TransactionRef, *, end: bool = False) -> TransactionOutcome:
        """The fate of the transaction of a statement."""
        with translated("asking what became of a statement"):
            return transaction_fate.fate(self.info, self.parts, traced, end=end)

    def close(self) -> None:
        """End the session."""
        self._session.close()
        self._backlog = None
