"""Capture by the server's log: triggers for DDL and TRUNCATE alone, and rows from a slot.

The queue is a published table as well. So what event triggers and triggers of TRUNCATE write into it comes out of the
slot at its place among the rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from psycopg import sql
from psycopg.errors import ObjectInUse
from psycopg.pq import TransactionStatus

from sluice import shell
from sluice.crash import CrashPoint, crash_if_asked
from sluice.errors import AlteredMeanwhile, ConfigError, SluiceError
from sluice.model.kept_log import KeptLog
from sluice.model.names import TableName
from sluice.model.watched import Watch, WatchSettings
from sluice.vendors.postgresql import grants
from sluice.vendors.postgresql.capture import change_over, event_triggers, install
from sluice.vendors.postgresql.capture.change_over import CaptureState, FirstSweep, Phase
from sluice.vendors.postgresql.capture.log import prerequisites, slot, standbys, told_tables
from sluice.vendors.postgresql.capture.log.stream import places_of
from sluice.vendors.postgresql.capture.log.sweep import LogSweep
from sluice.vendors.postgresql.capture.log.unprinted import expect_printed
from sluice.vendors.postgresql.capture.queue.capture import QueueCapture
from sluice.vendors.postgresql.capture.queue.sweep import record_purge
from sluice.vendors.postgresql.catalog.definition import regclass
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import PURGE, composed
from sluice.vendors.postgresql.source_session import SourceSession
from sluice.vendors.protocol.capabilities import Capabilities
from sluice.vendors.protocol.capture import Installed
from sluice.vendors.protocol.sweep import Purge, Sweep

# What an idle source lets the server keep for nothing, and how often more than that is looked for. By itself the server
# notes every fifteen seconds where decoding can begin, and heeds it at the move of the slot that follows.
_IDLE_BYTES, _IDLE_S = 2 * 1024 * 1024, 15.0
# To count changes is to decode their transactions: at most a twentieth of the time is spent so.
_PAUSES = 20

# The scripts of rights that the log needs, and what is lacking without them.
_RIGHTS = {
    "log": "without REPLICATION the log cannot be read (SLC-400)",
    "publications": "without CREATE on the database no publication can be made (SLC-400)",
    "note_running": "without that, `bootstrap` waits longer",
}


class LogCapture(QueueCapture):
    """See `sluice.vendors.protocol.capture.Capture`."""

    _by_log = True
    _looked = -1
    _counted = 0
    _counts_again = _looks_beside_again = float("-inf")

    def __init__(self, session: SourceSession) -> None:
        super().__init__(session)
        self._beginning = slot.Beginning()
        self._at = session.slot_server

    def capabilities(self) -> Capabilities:
        """The capabilities of this source.

        Raises:
            ConfigError: SLC-400, it cannot be captured by its log; nobody sees its DDL.
        """
        installed, state = self.is_installed(), self._capture_state()
        with translated("asking for capabilities"):
            if not installed or (state and state.slot is None):
                prerequisites.expect_possible(self._at)
            elif installed and state and state.slot and state.by_log:
                slot.expect_here(self._at, state.slot, is_there=slot.exists(self._at.open(), state.slot))
        if installed and not self._sees_ddl():
            raise _unseen()
        if installed and state and state.by_log:
            self._expect_published_whole()
        return super().capabilities()

    def poll_ddl(self) -> None:
        """Where no event trigger sees DDL, nothing is published, and there is nothing to look for."""
        if self._sees_ddl():
            super().poll_ddl()

    def _expect_published_whole(self) -> None:
        with translated("looking at the publications"):
            told_tables.expect_published_whole(self._session.open(), composed("capture/log/captured", **self.parts))

    def _sees_ddl(self) -> bool:
        with translated("looking for event triggers"):
            return event_triggers.sees_ddl(self._session.open(), self.resources, self.parts)

    def _rights(self) -> list[sql.Composed]:
        role = sql.Literal(self.info.login)
        return [grants.optional(lacking, name, role_name=role) for name, lacking in _RIGHTS.items()]

    def install(
        self,
        watched: Mapping[TableName, Watch],
        wanted: WatchSettings,
        *,
        recreate: bool = False,
        unreadable: Collection[TableName] = (),
        notice: Callable[[str], None] | None = None,
    ) -> Installed:
        """Install or reconcile everything in one transaction; then make the slot, if there was none yet.

        Raises:
            ConfigError: SLC-400, it cannot be captured by its log; nobody sees its DDL.
            Unwatchable: SLC-477, a table cannot.
        """
        session, is_new, state = self._session.open(), not self.is_installed(), self._capture_state()
        changes = state is not None and not state.by_log
        if changes and state:
            change_over.expect_over(state)
            if not self._sees_ddl():
                raise _unseen()
        with translated("looking whether the log tells all"):
            if is_new:
                prerequisites.expect_possible(self._at)
        self._expect_told(watched)
        if changes:
            return self._change_over(watched, wanted, unreadable, notice)
        installed = super().install(watched, wanted, recreate=recreate, unreadable=unreadable, notice=notice)
        with translated("making the slot"):
            if (known := slot.recorded(session, self.parts)) is None:
                change_over.make_recorded_slot(self._at, self.resources, self.parts)
            elif not self._at.is_standby:
                standbys.let_copy(session, self.info, known.slot)
        return installed

    def remarks(self, tables: Mapping[TableName, Watch]) -> list[str]:
        """Remarks on these tables, and on standbys of the server, in sentences.

        Raises:
            ConfigError, Unwatchable: SLC-400, SLC-477, one cannot be captured by the log.
        """
        self._expect_told(tables)
        found, state = super().remarks(tables), self._capture_state()
        with translated("looking for standbys"):
            if self._at.is_standby:
                return [*found, *standbys.settings(self._at.open())]
            copies = standbys.remarks(self._session.open(), state.slot) if state and state.slot else ()
            return [*found, *copies]

    def _expect_told(self, tables: Mapping[TableName, Watch]) -> None:
        session = self._session.open()
        with translated("looking whether the log tells all"):
            captured = list(self.present([name for name, one in tables.items() if one.actions != "none"]))
            told_tables.expect_fit(session, captured)
            names = sql.Literal([regclass(name) for name in captured])
            told_tables.expect_published_whole(session, sql.SQL("{}::text[]::regclass[]").format(names))

    def _change_over(
        self,
        watched: Mapping[TableName, Watch],
        wanted: WatchSettings,
        unreadable: Collection[TableName],
        notice: Callable[[str], None] | None,
    ) -> Installed:
        with translated("making the slot"):
            new_slot = change_over.make_slot(self._at, self.resources, self.parts)
        crash_if_asked(CrashPoint.SLOT_MADE)
        try:
            with self._installing(notice) as connection:
                installed = install.install(
                    connection,
                    self.resources,
                    watched,
                    wanted,
                    recreate=False,
                    unreadable=unreadable,
                    new_slot=new_slot,
                )
        except BaseException:
            # What came to pass is asked of the source: a commit may be done, and its answer lost.
            with suppress(SluiceError):
                if (state := self._capture_state()) and state.slot is None:
                    with translated("dropping the slot"):
                        change_over.drop_unused(self._at, self.resources, self.parts)
            raise
        crash_if_asked(CrashPoint.CHANGED_OVER)
        return installed

    def is_installed(self) -> bool:
        """Whether the DbResources are there, and a slot was made, if the source is captured by it."""
        if not super().is_installed():
            return False
        state = self._capture_state()
        return state is not None and (state.slot is not None or not state.by_log)

    def remove(self, before: Callable[[], None]) -> list[str]:
        """Drop every DbResource of this prefix, in one transaction, and then the slot."""
        state = self._capture_state()
        with translated("looking where the slot is"):
            # A standby that is away, or is none any more, is said while its slot is still recorded.
            servers = {id(one): one for one in (self._at.open(), self._session.open())}.values()
            name = slot.name_of(self._at, self.resources)
        removed = self._remove(before, composed("capture/log/remove", **self.parts) if state else None)
        with translated("dropping the slot"):
            # A bootstrap that was killed may have left one that is not recorded.
            names = {name, *([state.slot] if state and state.slot else [])}
            removed += [f"SLOT {name}" for name in sorted(names) for one in servers if slot.drop(one, name)]
        return removed

    def queued(self) -> bool:
        """Whether a transaction waits in the slot, or the server keeps much for nothing.

        Raises:
            ConfigError: SLC-400, a publication that came later makes statements fail.
        """
        if beside := time.monotonic() >= self._looks_beside_again:
            # Neither what others publish nor what they write has to be looked at twice a second.
            self._looks_beside_again = time.monotonic() + _IDLE_S
            self._expect_published_whole()
        with translated("looking at the slot"):
            session = self._session.open()
            if self._unrecorded.is_noted(session, self.parts):
                return True
            known = slot.recorded(session, self.parts)
            if known is None or known.is_behind_queue or slot.expect_whole(self._at, self.parts, known):
                return True
            written, flushed = self._written()
            if written > flushed:
                flushed = self._at.flush()
            if beside and self._keeps_for_nothing(known.slot):
                return True
            if flushed == self._looked:
                return False
            self._at.reach(flushed)
            try:
                waiting = slot.has_waiting(self._at, self.resources, known)
            except ObjectInUse:
                # Somebody of ours looks at this moment: the sweep waits for him.
                return True
            if waiting or flushed - known.place.lsn > _IDLE_BYTES:
                return True
            self._looked = flushed
            return False

    def _keeps_for_nothing(self, name: str) -> bool:
        """Whether the slot is to be moved: others write, and it lies far behind what is published."""
        found = slot.kept(self._at, name)
        return found is not None and found.bytes > _IDLE_BYTES

    def count_queued(self, most: int) -> int:
        """How many changes wait in the slot, counted up to about so many; perhaps as a moment ago."""
        if self._reads_queue():
            return super().count_queued(most)
        began = time.monotonic()
        if began < self._counts_again:
            return self._counted
        with translated("counting what waits in the slot"):
            known = slot.recorded(self._session.open(), self.parts)
            if known is None or slot.expect_whole(self._at, self.parts, known):
                return self._counted
            counting = composed(
                "capture/log/count_waiting",
                slot=sql.Literal(known.slot),
                most=sql.Literal(most),
                publications=slot.publications(self.resources),
            )
            # While a step reads the slot, nobody else can.
            with suppress(ObjectInUse), expect_printed():
                (self._counted,) = self._at.open().execute(counting).fetchone() or (0,)
        self._counts_again = time.monotonic() + _PAUSES * (time.monotonic() - began)
        return self._counted

    def kept_log(self) -> KeptLog | None:
        """What the server keeps of its log for the slot; None if there is none."""
        with translated("looking at the slot"):
            known = slot.recorded(self._session.open(), self.parts)
            return slot.kept(self._at, known.slot) if known else None

    def _written(self) -> tuple[int, int]:
        row = self._session.open().execute(composed("capture/log/written")).fetchone() or (0, 0)
        return int(row[0]), int(row[1])

    @contextmanager
    def sweep(self, epoch: int, max_changes: int | None, until: str | None = None) -> Iterator[Sweep]:
        """Read the slot, up to what a snapshot shows; what is not purged is given again. Before that, read ITEMS, if
        triggers captured the source up to a moment ago.

        Raises:
            ConfigError: SLC-406, the source is captured by triggers.
        """
        self._expect_way()
        with translated("looking what the triggers captured"):
            if self._reads_queue():
                change_over.end_queue(self._session.open(), self.parts)
        state = self._capture_state() or CaptureState(by_log=True)
        if state.phase is not Phase.QUEUE:
            with self.read_slot(epoch, max_changes, until, CaptureState(by_log=True)) as sweep:
                yield sweep
            return
        with super().sweep(epoch, max_changes, state.shown) as first:
            self._expect_as(state)
            yield FirstSweep(first)

    @contextmanager
    def read_slot(
        self, epoch: int, max_changes: int | None, until: str | None, expected: CaptureState
    ) -> Iterator[LogSweep]:
        """Read the slot, of a source that is captured as expected.

        Raises:
            ConfigError: SLC-400, nobody sees DDL, which has a place among the rows.
        """
        if not self._sees_ddl():
            raise _unseen()
        with translated("reading the slot"):
            session = self._session.open()
            sweep = LogSweep(self._at, self.resources, self.parts, epoch, self._recorded)
            try:
                sweep.begin(max_changes, until)
                self._expect_as(expected)
                yield sweep
                if session.info.transaction_status != TransactionStatus.IDLE:
                    sweep.settle()
            except BaseException as error:
                if isinstance(error, AlteredMeanwhile):
                    self._unrecorded.hurry()
                self.close()
                raise
            if session.info.transaction_status != TransactionStatus.IDLE:
                session.execute("ROLLBACK")
            self._beginning.look(self._at, sweep.slot)

    def _reads_queue(self) -> bool:
        """Whether what triggers captured is published first."""
        state = self._capture_state()
        return state is not None and state.by_log and state.phase is Phase.QUEUE

    def forget_layouts(self) -> None:
        """Those of relations that are gone are kept: rows that the slot still has are read by them."""
        with translated("looking for relations that are gone"):
            self._session.open().execute(composed("capture/registry/forget_functions", **self.parts))

    def heal(self, epoch: int, purge: Purge, changes: Iterable[Mapping[str, Sequence[object]]]) -> bool:
        """Record what a publisher that died between listing and recording published; not if it is there no more."""
        if self._reads_queue():
            return super().heal(epoch, purge, changes)
        return self.record_again(epoch, purge, changes)

    def record_again(self, epoch: int, purge: Purge, changes: Iterable[Mapping[str, Sequence[object]]]) -> bool:
        """Record what was published from the slot; not if the slot has it no more, or others with the same ids."""
        places = places_of(changes)
        listed = sorted(places, key=int)
        with translated("recording what is in the log"):
            session = self._session.open()
            self._at.catch_up()
            known = slot.catch_up(self._at, self.parts)
            lower = [str(int(one) % 2**32) for one in listed]
            found = composed(
                "capture/log/found",
                slot=sql.Literal(known.slot),
                publications=slot.publications(self.resources),
                transactions=sql.Literal(lower),
                places=sql.Literal([places[one] for one in listed]),
            )
            with expect_printed():
                has_all = self._at.open().execute(found).fetchone() == (len(lower),)
            if not has_all:
                return False
            with session.transaction():
                record_purge(session, self.parts, purge, epoch)
                session.execute(composed("capture/log/record_listed", **self.parts), {"transactions": listed})
        return True

    def accept(self, epoch: int, segment: int, sha256: str) -> str:
        """Take this source as the one whose log ends with `segment`, and begin with a slot that is made now."""
        incarnation = super().accept(epoch, segment, sha256)
        with translated("making the slot anew"):
            session = self._session.open()
            if (old := slot.recorded(session, self.parts)) and old.slot != slot.name_of(self._at, self.resources):
                # It was made elsewhere; if that is the master, nobody else drops it.
                slot.drop(session, old.slot)
            with session.transaction():
                session.execute(PURGE)
                session.execute(sql.SQL("DELETE FROM {}").format(self.parts["queue"]))
            change_over.make_recorded_slot(self._at, self.resources, self.parts, anew=True)
        return incarnation


def _unseen() -> ConfigError:
    return ConfigError(
        400,
        "no event triggers of this version tell where in the server's log a table was altered",
        "nothing is published until then, and nothing is lost: the slot keeps it. Let who may make event triggers "
        f"run the script of {shell.sluice('grants', 'SOURCE')} in the source's database, once more after bootstrap",
    )
