"""Capture of a GaussDB by its log: a slot that the server decodes, and a trigger of each table that tells when it is
emptied.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus

from sluice.errors import AGAIN, FencedError, SluiceError, StrangeSource, TransientError
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.unwatched import Unwatched
from sluice.model.watched import Watch, WatchSettings
from sluice.vendors.gaussdb.capture import float_columns, grants, install, registry
from sluice.vendors.gaussdb.capture.settings import CaptureSettings
from sluice.vendors.gaussdb.capture.slot import server_slot
from sluice.vendors.gaussdb.capture.slot.slot_readers import arguments
from sluice.vendors.gaussdb.capture.slot.sweep import SlotSweep
from sluice.vendors.gaussdb.catalog.tables import described, tables
from sluice.vendors.gaussdb.session import composed, connect
from sluice.vendors.gaussdb.source_session import SourceSession
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import Connection
from sluice.vendors.protocol.absent_features import NoStatements, NoSuccessors
from sluice.vendors.protocol.capabilities import Capabilities
from sluice.vendors.protocol.capture import Installed
from sluice.vendors.protocol.sweep import Purge

# Statements of the slot that a look counts. So many of an idle source are let go, even if none is a change: not fewer,
# since what we record is a transaction of the log itself.
_LOOKED_AT = 1_000


class SlotCapture(NoStatements, NoSuccessors):
    """See `sluice.vendors.protocol.capture.Capture`."""

    def __init__(self, session: SourceSession, settings: CaptureSettings) -> None:
        self._session = session
        self._settings = settings
        self._resources = session.resources
        self._parts = session.parts
        self._counted: int | None = None

    def capabilities(self) -> Capabilities:
        """The capabilities of this source. Raises ConfigError SLC-400, its log cannot be read."""
        with translated("asking for capabilities"):
            if not self.is_installed():
                server_slot.expect_possible(self._session.open(), self._settings)
        return Capabilities(sends_ddl=False)

    def install(
        self,
        watched: Mapping[TableName, Watch],
        wanted: WatchSettings,
        *,
        recreate: bool = False,
        unreadable: Collection[TableName] = (),
        notice: Callable[[str], None] | None = None,
    ) -> Installed:
        """Install or reconcile everything in one transaction; then make the slot, if there was none yet."""
        with translated("installing the DbResources"):
            session = self._session.open()
            if not self.is_installed():
                server_slot.expect_possible(session, self._settings)
            return install.install(session, self._resources, self._parts, self._settings, watched, wanted)

    def upgrade(self, wanted: WatchSettings) -> None:
        """There is no older version."""

    def claim(self, store: str, *, by_force: bool = False) -> None:
        """Let the source be captured for this control store alone, as soon as there is anything that captures it."""
        with translated("looking for whom the source is captured"):
            session = self._session.open()
            if not registry.is_there(session, self._parts):
                return
            holder = registry.state(session, self._parts).store
            if holder == store:
                return
            ours = holder is None or by_force
            if ours:
                values = {"store": store, "holder": holder}
                ours = session.execute(composed("capture/registry/claim", **self._parts), values).rowcount == 1
        if not ours:
            raise StrangeSource(
                299,
                f"the source is captured for another control store, as {self._resources.schema}."
                f"{self._resources.name('state')} in {self._session.info.database} has it",
                "nothing was changed. If both are to have it, choose another `prefix` for this one. If the other one "
                "is gone for good, trigger the DAG bootstrap with rebase, then initial_update for all slaves",
            )

    def unreadable(self) -> list[TableName]:
        """None: bootstrap with `rebase` takes tables that were altered as they are."""
        return []

    def poll_ddl(self) -> None:
        """A sweep compares the watched tables with what is recorded of them."""

    def silenced(self) -> list[TableName]:
        """Watched tables whose log lacks whole old rows, or does not tell when they are emptied."""
        with translated("looking at the watched tables"):
            session = self._session.open()
            return registry.silenced(session, self._parts, list(registry.registered(session, self._parts).values()))

    def locked(self) -> list[str]:
        """The catalog is read without locks."""
        return []

    def take_up(self) -> None:
        """The registry is written by bootstrap alone."""

    def has_outdated_events(self) -> bool:
        """There are none."""
        return False

    def is_installed(self) -> bool:
        """Whether the DbResources are there, and a slot was made."""
        with translated("looking for the DbResources"):
            session = self._session.open()
            if not registry.is_there(session, self._parts):
                return False
            return registry.state(session, self._parts).recorded is not None

    def remarks(self, tables: Mapping[TableName, Watch]) -> list[str]:
        """Remarks on these tables before they are replicated. Raises ConfigError SLC-477, one may lose digits."""
        with translated("looking at the watched tables"):
            rounded = float_columns.expect_allowed(self._session.open(), self._settings, tables)
        return [
            *(
                [f"the last digits of {float_columns.spelled(rounded)} may be others than the master's"]
                if rounded
                else []
            ),
            "changes are read from the server's log by a slot; while no publisher runs, the server keeps its log",
            "a watched table that is altered makes the slaves INCONSISTENT (SLC-404)",
        ]

    def without_old(self, tables: Mapping[TableName, Watch]) -> list[Layout]:
        """None: the log has every old row."""
        return []

    def grants(self, tables: Sequence[TableName], *, schemas: Collection[str] = (), activity: bool = False) -> str:
        """The script that gives our role what capturing these tables needs."""
        with translated("writing the script"):
            session = self._session.open()
            return grants.script(session, self._session.info.login, self._resources, tables)

    def remove(self, before: Callable[[], None]) -> list[str]:
        """Drop every DbResource of this prefix, in one transaction, and then the slot."""
        with translated("removing the DbResources"):
            return install.remove(self._session.open(), self._resources, self._parts, self._settings, before)

    def present(self, tables: Sequence[TableName]) -> dict[TableName, TableName]:
        """Those of these tables that exist, by themselves."""
        with translated("looking for the watched tables"):
            return {name: name for name in described(self._session.open(), tables)}

    def unwatched(self, names: Sequence[TableName]) -> list[Unwatched]:
        """Those of these tables that are not watched, and why."""
        with translated("looking for tables that are not watched"):
            session = self._session.open()
            known = registry.registered(session, self._parts) if registry.is_there(session, self._parts) else {}
            return install.unwatched(names, known, tables(session, {name.schema for name in names}))

    def take_over(self, epoch: int) -> None:
        """Raise the fence (R6)."""
        with translated("taking the publisher's place"):
            values = {"epoch": epoch}
            session = self._session.open()
            if session.execute(composed("capture/registry/take_over", **self._parts), values).rowcount != 1:
                raise FencedError(50, f"a publisher with an epoch above {epoch} is at work")

    def queued(self) -> bool:
        """Whether a change waits in the slot, or much of the log that has none of the watched tables."""
        with translated("looking what waits in the slot"):
            session = self._session.open()
            try:
                known = server_slot.catch_up(session, registry.state(session, self._parts).recorded, self._settings)
                self._counted, statements = self._waiting(session, known.slot)
            except psycopg.errors.ObjectInUse:
                # Somebody reads it at this moment, so there is something.
                return True
        return self._counted > 0 or statements >= _LOOKED_AT

    def count_queued(self, most: int) -> int:
        """How many changes waited in the slot at the last look, counted up to about a thousand: it cannot be read while
        a sweep reads it.
        """
        if self._counted is None:
            with translated("counting what waits in the slot"):
                session = self._session.open()
                known = registry.state(session, self._parts).recorded
                try:
                    self._counted = self._waiting(session, known.slot)[0] if known else 0
                except psycopg.errors.ObjectInUse:
                    return 0
        return min(self._counted, most)

    def _waiting(self, session: Connection, slot: str) -> tuple[int, int]:
        """How many changes and how many statements wait, counted up to about so many."""
        watched = [*registry.registered(session, self._parts), registry.emptied(self._resources)]
        waiting = composed(
            "capture/log/waiting",
            slot=sql.Literal(slot),
            most=sql.Literal(_LOOKED_AT),
            options=arguments(self._settings, watched),
        )
        changes, statements = session.execute(waiting).fetchone() or (0, 0)
        return int(changes), int(statements)

    @contextmanager
    def sweep(self, epoch: int, max_changes: int | None, until: str | None = None) -> Iterator[SlotSweep]:
        """Read the slot, up to what a snapshot shows; what is not purged is given again."""
        # Opened before the snapshot is taken: if it lives still, no crash of the server took what that shows.
        with translated("reading the slot"), closing(connect(self._session.info, "flush")) as beside:
            session = self._session.open()
            sweep = SlotSweep(session, beside, self._session.info, self._resources, self._parts, self._settings, epoch)
            try:
                sweep.begin(max_changes, until)
                yield sweep
                if _is_open(session):
                    sweep.settle()
            except BaseException as error:
                # Perhaps in the middle of its COPY, where a ROLLBACK would wait for the rest of it for ever.
                with suppress(SluiceError, psycopg.Error):
                    sweep.close()
                self.close()
                if isinstance(error, psycopg.errors.ObjectInUse):
                    raise TransientError(
                        450,
                        f"the slot of the decoded log is read by somebody else: {str(error).strip()}",
                        f"nothing of it was taken, {AGAIN}; look in pg_replication_slots who reads it",
                    ) from error
                raise
            if _is_open(session):
                session.execute("ROLLBACK")
            sweep.close()

    def kept_log(self) -> None:
        """It is not asked: the functions that say how far the log is are called otherwise in each of these servers."""

    def backlog(self) -> str | None:
        """The slot knows by itself where it stands."""
        return None

    def go_on_with(self, backlog: str) -> None:
        """The slot knows by itself where it stands."""

    def reclaim(self) -> None:
        """There is nothing to be done."""

    def forget_layouts(self) -> None:
        """There is nothing to be done."""

    def heal(self, epoch: int, purge: Purge, changes: Iterable[Mapping[str, Sequence[object]]]) -> bool:
        """Record what a publisher that died between listing and recording published; not if the slot has it no more."""
        listed = {int(str(one)) for some in changes for one in some["transactions"]}
        with translated("recording what is in the log"):
            session = self._session.open()
            known = registry.state(session, self._parts)
            recorded = server_slot.catch_up(session, known.recorded, self._settings)
            watched = registry.registered(session, self._parts)
            options = arguments(self._settings, [*watched, registry.emptied(self._resources)])
            found = composed("capture/log/waiting_xids", slot=sql.Literal(recorded.slot), options=options)
            if not listed <= {int(xid) for (xid,) in session.execute(found)}:
                return False
            with session.transaction():
                place = replace(recorded.place, ahead=recorded.place.ahead | listed)
                source = replace(known.source, segment=purge.segment, sha256=purge.sha256)
                registry.record(session, self._parts, place, source, epoch)
        return True

    def accept(self, epoch: int, segment: int, sha256: str) -> str:
        """Take this source as the one whose log ends with `segment`, with its tables and a slot that is made now."""
        with translated("making the slot anew"):
            session = self._session.open()
            install.renew(session, self._resources, self._parts, self._settings)
            incarnation = str(uuid.uuid4())
            values = {"incarnation": incarnation, "segment": segment, "sha256": sha256, "epoch": epoch}
            if session.execute(composed("capture/registry/accept", **self._parts), values).rowcount != 1:
                raise FencedError(50, f"another publisher took over while epoch {epoch} accepted the source")
        return incarnation

    def no_statements(self) -> SluiceError:
        """See `NoStatements`: SLC-101."""
        return SluiceError(
            101,
            "the source is captured by its log, which does not tell a statement's own rows from others",
            "nothing was executed; execute it on each node",
        )

    def close(self) -> None:
        """End the session."""
        self._session.close()


def _is_open(session: Connection) -> bool:
    return session.info.transaction_status != TransactionStatus.IDLE
