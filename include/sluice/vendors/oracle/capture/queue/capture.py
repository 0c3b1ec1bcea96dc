"""Capture of an Oracle master by triggers, which fill a queue."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from sluice.apply.table_order import loading_order
from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.statement import Statement, TransactionOutcome, TransactionRef
from sluice.model.unwatched import Unwatched, UnwatchedReason
from sluice.model.watched import Watch, WatchSettings, spelled_alike
from sluice.vendors.oracle import grants
from sluice.vendors.oracle.capture import install, registry, uninstall
from sluice.vendors.oracle.capture.noted_definitions import record_noted
from sluice.vendors.oracle.capture.queue import sweep
from sluice.vendors.oracle.capture.queue.sweep import OracleSweep
from sluice.vendors.oracle.capture.registry import Registered
from sluice.vendors.oracle.capture.rights import expect_one_edition, expect_rights
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.capture.watched_tables import WatchedTables, is_as_wanted
from sluice.vendors.oracle.catalog.recorded import layout_of
from sluice.vendors.oracle.catalog.tables import described, eligible, expect_seen_whole, moves_rows
from sluice.vendors.oracle.errors import altered_meanwhile, translated
from sluice.vendors.oracle.names import composed
from sluice.vendors.oracle.refusals import expect_no_loop
from sluice.vendors.oracle.session import changed, execute, longest_name
from sluice.vendors.oracle.source_session import SourceSession
from sluice.vendors.protocol.absent_features import NoSuccessors
from sluice.vendors.protocol.capabilities import Capabilities
from sluice.vendors.protocol.capture import Installed
from sluice.vendors.protocol.sweep import Purge

# The catalog is compared once in so many seconds, and whenever a definition was noted.
_POLL_S = 60.0
# So often tables are looked at, one time after the other, while somebody alters them.
_LOOKS = 5


class QueueCapture(NoSuccessors):
    """See `sluice.vendors.protocol.capture.Capture`."""

    def __init__(self, session: SourceSession) -> None:
        self._session = session
        self._resources = session.resources
        self._parts = session.parts
        # The notes of definitions that were compared with the catalog.
        self._polled: frozenset[int] = frozenset()
        self._next_poll = self._next_segments = float("-inf")
        self._rewritten: frozenset[int] = frozenset()
        # Tables of which was told that they are LOST, so that they are so no more once they are installed again.
        self._told: frozenset[TableName] = frozenset()

    def capabilities(self) -> Capabilities:
        """The capabilities of this source: triggers note its DDL, unless the configuration has it not carried."""
        with translated("asking for capabilities"):
            session = self._session.open()
            install.expect_own(self._resources, str(session.username))
            carries = registry.carries_ddl(session, self._parts)
        return Capabilities(event_triggers=carries, sends_ddl=carries)

    def install(
        self,
        watched: Mapping[TableName, Watch],
        wanted: WatchSettings,
        *,
        recreate: bool = False,
        unreadable: Collection[TableName] = (),
        notice: Callable[[str], None] | None = None,
    ) -> Installed:
        """Install or reconcile everything. DDL commits here, so each step may be made again."""
        expect_no_loop(wanted.drained_into)
        with translated("installing the DbResources"):
            session = self._session.open()
            triggers = [one.trigger for one in watched.values() if one.trigger]
            self._resources.expect_short(longest_name(session.version), triggers)
            expect_rights(session)
            install.install(session, self._resources)
            expect_one_edition(session, self._resources)
            watching = self._watching()
            registry.write_wanted(session, self._parts, wanted)
            record_noted(session, self._parts, self._resources.schema)
            known = registry.registered(session, self._parts)
            silent = set(watching.silenced(known, watching.rewritten()))
            there = {name: table for name in watched if (table := described(session, name))}
            # Refused before anything of them is recorded.
            for table in there.values():
                layout_of(table)
                expect_seen_whole(session, table.name)
            watching.watch_definitions({one.schema for one in wanted.entries})
            # Before others are made: a trigger goes with its table, and is the one of its next name.
            removed = watching.let_go(known, there)
            for name, table in there.items():
                before, settings = known.get(name), watched[name]
                as_wanted = before is not None and is_as_wanted(before, table, settings, self._resources)
                if recreate or name in silent or not as_wanted:
                    told = name in self._told
                    watching.watch(table, settings, before, found_lost=told, lost=name in silent and not told)
            watching.drop_restored()
            watching.keep_segments()
            changed(session, composed("capture/registry/set_version", **self._parts), {"version": registry.VERSION})
            session.commit()
            left = self._unwatched(wanted.named_tables, there)
        self._told, self._next_segments = frozenset(), float("-inf")
        added = tuple(name for name in there if name not in known)
        # The order of the rows is that of the configuration: no slave gets a foreign key from here.
        stages = loading_order({name: watched[name].sequence for name in there}, {})
        return Installed(added, tuple(removed), stages, (), tuple(left))

    def upgrade(self, wanted: WatchSettings) -> None:
        """What an older version lacks is made by `install`."""

    def claim(self, store: str, *, by_force: bool = False) -> None:
        """Let the source be captured for one control store. Raises StrangeSource SLC-299, it is for another one."""
        with translated("claiming the source"):
            registry.claim(self._session.open(), self._parts, store, by_force=by_force)

    def unreadable(self) -> list[TableName]:
        """None: each image names its columns."""
        return []

    def poll_ddl(self) -> None:
        """Compare the watched tables with the catalog: when a definition was noted, and once a minute.

        Raises:
            AlteredMeanwhile: SLC-095, somebody altered them all the time.
        """
        with translated("looking for tables that changed"):
            self._poll(always=False)

    def _poll(self, *, always: bool) -> None:
        noted = self._noted()
        if not (always or noted - self._polled or time.monotonic() >= self._next_poll):
            return
        session, watching = self._session.open(), self._watching()
        drops: set[TableName] = set()
        for _ in range(_LOOKS):
            record_noted(session, self._parts, self._resources.schema)
            known = registry.registered(session, self._parts)
            there, unclear = self._found(known, watching)
            drops |= watching.note_drops({name: known[name] for name in there if name not in drops}, there)
            # A command in between would be in one of the two looks alone.
            if (since := self._noted()) == noted:
                break
            noted = since
        else:
            raise altered_meanwhile(f"watched tables were altered in each of {_LOOKS} looks at them")
        watching.let_go({name: one for name, one in known.items() if name not in unclear}, there)
        for name, table in there.items():
            if table != (one := known[name]).recorded.table or not one.is_up_to_date:
                try:
                    watching.watch(table, watching.settings(one), one)
                except SluiceError as error:
                    self._not_as_it_is(name, error)
        # Of a watched table it says that changes are not known.
        watching.drop_restored(spared=known)
        watching.keep_segments()
        self._next_segments = float("-inf")
        self._polled = noted
        self._next_poll = time.monotonic() + _POLL_S

    def _found(
        self, known: Mapping[TableName, Registered], watching: WatchedTables
    ) -> tuple[dict[TableName, CapturedTable], set[TableName]]:
        """The watched tables that are there, and those of which that is not clear."""
        there, unclear = dict[TableName, CapturedTable](), set[TableName]()
        for name in known:
            try:
                if table := described(self._session.open(), name):
                    there[name] = table
            except SluiceError as error:
                # It can be watched no more: the server writes its rows past triggers by now.
                unclear.add(name)
                self._not_as_it_is(name, error)
                watching.lose(known[name])
        return there, unclear

    def _not_as_it_is(self, name: TableName, error: SluiceError) -> None:
        """Let the older trigger go on with the columns that it knows; the next look tries again."""
        event("not watched as it is now", source=self._resources.schema, table=name, why=error.fact)

    def _noted(self) -> frozenset[int]:
        rows = execute(self._session.open(), composed("capture/queue/noted", **self._parts))
        return frozenset(int(key) for (key,) in rows)

    def silenced(self) -> list[TableName]:
        """Watched tables of which changes are not known: see `WatchedTables.silenced`, which is logged."""
        with translated("looking at the triggers"):
            watching = self._watching()
            # The publisher asks every few seconds, and this part of the answer is dear to the server.
            if time.monotonic() >= self._next_segments:
                self._rewritten = watching.rewritten()
                self._next_segments = time.monotonic() + _POLL_S
            found = watching.silenced(self._known(), self._rewritten)
        for name, why in found.items():
            event("changes are not known", source=self._resources.schema, table=name, why=why)
        self._told = frozenset(found)
        return list(found)

    def locked(self) -> list[str]:
        """None: no look needs a lock."""
        return []

    def take_up(self) -> None:
        """Tables that somebody registered by hand are not looked for: the configuration says what is watched."""

    def has_outdated_events(self) -> bool:
        """Nobody makes triggers for us but we."""
        return False

    def is_installed(self) -> bool:
        """Whether the DbResources are there, in the version that this code works with."""
        with translated("looking for the DbResources"):
            found = registry.state(self._session.open(), self._parts)
        return found is not None and found.version == registry.VERSION

    def remarks(self, tables: Mapping[TableName, Watch]) -> list[str]:
        """Remarks on tables with a LONG, which is read later than written, and on those that can be flashed back."""
        with translated("looking at the watched tables"):
            found = [(name, described(self._session.open(), name)) for name in tables]
            movable = [name for name in tables if moves_rows(self._session.open(), name)]
        late = [
            f"{name}: the column {', '.join(table.longs)} is read when a change is published, not when it happens"
            for name, table in found
            if table and table.longs
        ]
        return late + [
            f"{name}: row movement is enabled, so FLASHBACK TABLE can change its rows, and no trigger sees that; "
            "ALTER TABLE ... DISABLE ROW MOVEMENT forbids it"
            for name in movable
        ]

    def without_old(self, tables: Mapping[TableName, Watch]) -> list[Layout]:
        """Those of these tables whose updates say nothing of what a row was if its key stayed."""
        chosen = [name for name, watch in tables.items() if watch.old_images == "key"]
        with translated("looking at the watched tables"):
            found = [described(self._session.open(), name) for name in chosen]
        return [layout_of(table) for table in found if table]

    def grants(self, tables: Sequence[TableName], *, schemas: Collection[str] = (), activity: bool = False) -> str:
        """The script that a DBA runs for our user."""
        return grants.script(self._session.info.login, tables)

    def remove(self, before: Callable[[], None]) -> list[str]:
        """Drop every DbResource of this prefix, one after the other: DDL commits here."""
        with translated("removing the DbResources"):
            return uninstall.remove(self._session.open(), self._resources, self._parts, before)

    def present(self, tables: Sequence[TableName]) -> dict[TableName, TableName]:
        """Those of these tables that exist."""
        with translated("looking for the watched tables"):
            there = set(eligible(self._session.open(), {name.schema for name in tables}))
        return {name: name for name in tables if name in there}

    def unwatched(self, tables: Sequence[TableName]) -> list[Unwatched]:
        """Those of these tables that are not watched, and why."""
        with translated("looking for tables that are not watched"):
            return self._unwatched(tables, self._known())

    def _unwatched(self, tables: Iterable[TableName], watched: Collection[TableName]) -> list[Unwatched]:
        left = sorted(name for name in tables if name not in watched)
        there = set(eligible(self._session.open(), {name.schema for name in left}))
        return [
            Unwatched(name, UnwatchedReason.CONFIGURED_SINCE)
            if name in there
            else Unwatched(name, UnwatchedReason.MISSING, tuple(spelled_alike(name, there)))
            for name in left
        ]

    def take_over(self, epoch: int) -> None:
        """Raise the fence to `epoch` (R6)."""
        with translated("taking the publisher's place"):
            registry.take_over(self._session.open(), self._parts, epoch)

    def queued(self) -> bool:
        """Whether ITEMS holds anything."""
        with translated("looking at ITEMS"):
            return bool(execute(self._session.open(), composed("capture/queue/any", **self._parts)))

    def count_queued(self, most: int) -> int:
        """How many changes ITEMS holds, counted up to so many."""
        with translated("counting ITEMS"):
            ((count,),) = execute(self._session.open(), composed("capture/queue/count", **self._parts), {"most": most})
        return int(count)

    def kept_log(self) -> None:
        """Triggers need nothing of the server's log."""

    @contextmanager
    def sweep(self, epoch: int, max_changes: int | None, until: str | None = None) -> Iterator[OracleSweep]:
        """Read ITEMS as of one change number; what is not purged is given again."""
        with translated("sweeping ITEMS"):
            if self._noted() - self._polled:
                self._poll(always=True)
            found = OracleSweep(self._session.open(), self._parts, epoch, self._polled)
            found.begin(max_changes, until)
            yield found
            found.settle()

    def backlog(self) -> str | None:
        """A slice is looked for anew each time."""
        return None

    def go_on_with(self, backlog: str) -> None:
        """A slice is looked for anew each time."""

    def reclaim(self) -> None:
        """The server uses the room of deleted rows again by itself."""

    def forget_layouts(self) -> None:
        """Forget the columns of tables that are watched no more, once nothing of them is queued; and old lines of those
        that are debugged.
        """
        with translated("looking for tables that are gone"):
            session = self._session.open()
            for name in ("capture/registry/forget_layouts", "capture/registry/trim_debug"):
                changed(session, composed(name, **self._parts))
            session.commit()

    def heal(self, epoch: int, purge: Purge, changes: Iterable[Mapping[str, Sequence[object]]]) -> bool:
        """Purge again, by key, what a publisher that died between listing and purging left behind (R2)."""
        with translated("purging again what is in the log"):
            return sweep.heal(self._session.open(), self._parts, epoch, purge, changes)

    def accept(self, epoch: int, segment: int, sha256: str) -> str:
        """Take this source as the one whose log ends with `segment`; its incarnation."""
        with translated("accepting the source"):
            return sweep.accept(self._session.open(), self._parts, epoch, segment, sha256)

    def understands(self, text: str) -> None:
        """Whether a statement is portable, as far as its text tells."""
        # A parser takes long to import, and hardly a publisher needs it.
        from sluice.vendors.oracle.statements import master

        master.understood(text)

    def issue(
        self,
        statement: Statement,
        commits: Callable[[Statement, TransactionRef], None],
        *,
        varying: bool,
        portable: bool = False,
    ) -> None:
        """Execute a portable statement, in a transaction that puts it into ITEMS."""
        from sluice.vendors.oracle.statements import master

        master.issue(self._session.info, self._resources, self._parts, statement, commits)

    def fate(self, traced: TransactionRef, *, end: bool = False) -> TransactionOutcome:
        """The fate of the transaction of a statement."""
        from sluice.vendors.oracle.statements import master

        return master.fate(self._session.info, self._parts, traced)

    def close(self) -> None:
        """End the session."""
        self._session.close()

    def _watching(self) -> WatchedTables:
        return WatchedTables(self._session.open(), self._resources, self._parts)

    def _known(self) -> dict[TableName, Registered]:
        return registry.registered(self._session.open(), self._parts)
