"""Capture of a master by its binary log: nothing is installed but one row, and no statement of a user runs longer."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from sluice.errors import ConfigError
from sluice.model.layout import Layout
from sluice.model.names import Resources, TableName
from sluice.model.statement import Statement, TransactionOutcome, TransactionRef
from sluice.model.unwatched import Unwatched, UnwatchedReason
from sluice.model.watched import Watch, WatchSettings, spelled_alike
from sluice.vendors.mariadb.capture.binlog import events, retention, state
from sluice.vendors.mariadb.capture.binlog.reader import LogPlace, read
from sluice.vendors.mariadb.capture.binlog.server import end_of_log, expect_applied, expect_telling, server
from sluice.vendors.mariadb.capture.binlog.state import Published
from sluice.vendors.mariadb.capture.binlog.sweep import BinlogSweep, stream_of
from sluice.vendors.mariadb.capture.binlog.watched import Watched, written
from sluice.vendors.mariadb.catalog.master_tables import PLAIN, described, eligible, expect_capturable, kind_of
from sluice.vendors.mariadb.errors import translated
from sluice.vendors.mariadb.grants import for_source
from sluice.vendors.mariadb.session import Connection, changed, composed, transaction
from sluice.vendors.mariadb.source_session import SourceSession
from sluice.vendors.protocol.absent_features import NoSuccessors
from sluice.vendors.protocol.capabilities import Capabilities
from sluice.vendors.protocol.capture import Installed
from sluice.vendors.protocol.sweep import Purge


class BinlogCapture(NoSuccessors):
    """See `sluice.vendors.protocol.capture.Capture`."""

    def __init__(self, session: SourceSession) -> None:
        self._session = session
        self._resources: Resources = session.resources
        self._parts = state.parts_of(session.resources)
        # Up to here there is nothing of interest in the log.
        self._looked: LogPlace | None = None

    def capabilities(self) -> Capabilities:
        """The capabilities of this source. Raises ConfigError SLC-400, its log does not tell all that is needed."""
        with translated("asking for capabilities"):
            session = self._session.open()
            expect_telling(session)
            row = state.found(session, self._parts)
        # Before the first `bootstrap` the configuration decides, which is not known here.
        carries = row is None or Watched(row.wanted, self._resources).carries
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
        """Write down what is watched, and begin to read where the log is now if there is no place yet.

        Raises:
            ConfigError: SLC-400, the log does not tell all that is needed.
            SluiceError: SLC-477, a table cannot be captured.
        """
        with translated("installing"):
            session = self._session.open()
            expect_telling(session)
            if wanted.drained_into:
                raise ConfigError(
                    438,
                    "a drain with `block_loop` writes into the server of this source, and its binary log does not "
                    "tell whose changes are whose",
                    "nothing was changed; take `block_loop` out of that replication",
                )
            present = [name for name in self._present(session, watched) if watched[name].actions != "none"]
            for name in watched:
                expect_capturable(session, name)
            if state.found(session, self._parts) is None:
                self._begin(session, wanted)
            with transaction(session):
                # A publisher may be at work: only what it has written by then counts.
                changed(session, composed("capture/lock_state", **self._parts))
                row = state.known(session, self._parts)
                before, known = Watched(row.wanted, self._resources), set(row.published.layouts)
                added = [name for name in present if not (before.actions(name) and name in known)]
                # What the columns of a table were is known from before its first row.
                published = self._with(session, row.published, added)
                changed(session, composed("capture/move", **self._parts), published.values)
                text = written(wanted.entries, carries=wanted.detection)
                changed(session, composed("capture/record_wanted", **self._parts), {"wanted": text})
        now = Watched(text, self._resources)
        removed = [name for name in known if before.actions(name) and not now.actions(name)]
        # No slave has foreign keys that it was not given by hand: the order is that of the configuration.
        order = sorted(present, key=lambda name: (watched[name].sequence < 0, watched[name].sequence, name))
        stages = tuple((name,) for name in order)
        return Installed(tuple(added), tuple(removed), stages, (), tuple(self.unwatched(wanted.named_tables)))

    def _begin(self, session: Connection, wanted: WatchSettings) -> None:
        values = {
            "incarnation": str(uuid.uuid4()),
            "server": server(session),
            "place": str(end_of_log(session)),
            "wanted": written(wanted.entries, carries=wanted.detection),
            "layouts": "{}",
        }
        state.make(session, self._resources, values)

    def _with(self, session: Connection, published: Published, names: Iterable[TableName]) -> Published:
        layouts, since = dict(published.layouts), dict(published.since)
        for name in names:
            # What the log has up to here is in the catalog.
            here = end_of_log(session)
            if found := described(session, name):
                layouts[name] = found.layout(time.time_ns())
                since[name] = here
        altered = tuple(name for name in published.altered if name not in since)
        return replace(published, layouts=layouts, altered=altered, since=since)

    def upgrade(self, wanted: WatchSettings) -> None:
        """There is no older version."""

    def claim(self, store: str, *, by_force: bool = False) -> None:
        """Let the source be captured for one control store. Raises StrangeSource SLC-299, it is for another one."""
        with translated("claiming the source"):
            session = self._session.open()
            row = state.found(session, self._parts)
            if row and state.claimed(row, store, by_force=by_force):
                changed(session, composed("capture/claim", **self._parts), {"store": store})

    def unreadable(self) -> list[TableName]:
        """None: the log says itself what the columns of its rows are."""
        return []

    def poll_ddl(self) -> None:
        """Definitions are in the log."""

    def silenced(self) -> list[TableName]:
        """None: nobody can keep the log from being written but by a right of the server's administrators."""
        return []

    def locked(self) -> list[str]:
        """None: no look needs a lock."""
        return []

    def take_up(self) -> None:
        """There is no registry: the configuration says what is watched."""

    def has_outdated_events(self) -> bool:
        """Nothing of that kind is made."""
        return False

    def is_installed(self) -> bool:
        """Whether there is a place that the log is read from."""
        with translated("looking for the place in the log"):
            return state.found(self._session.open(), self._parts) is not None

    def remarks(self, tables: Mapping[TableName, Watch]) -> list[str]:
        """A remark on the time for which the log is kept. A table that is not captured is refused."""
        with translated("asking how long the binary log is kept"):
            return retention.remarks(self._session.open())

    def without_old(self, tables: Mapping[TableName, Watch]) -> list[Layout]:
        """None: the log has every old row."""
        return []

    def grants(self, tables: Sequence[TableName], *, schemas: Collection[str] = (), activity: bool = False) -> str:
        """The script that gives our account what it needs."""
        read = {*schemas, *(name.schema for name in tables)}
        return for_source(self._session.info, self._resources, read, activity=activity)

    def remove(self, before: Callable[[], None]) -> list[str]:
        """Drop our table; the log is the server's own."""
        with translated("removing"):
            session = self._session.open()
            if state.found(session, self._parts) is None:
                return []
            before()
            return [state.drop(session, self._resources)]

    def present(self, tables: Sequence[TableName]) -> dict[TableName, TableName]:
        """Those of these tables that exist."""
        with translated("looking at the watched tables"):
            return {name: name for name in self._present(self._session.open(), tables)}

    def unwatched(self, tables: Sequence[TableName]) -> list[Unwatched]:
        """Those of these tables that do not exist, are no plain tables, or that no bootstrap has written down."""
        with translated("looking at the watched tables"):
            return list(self._find_unwatched(self._session.open(), tables))

    def _find_unwatched(self, session: Connection, tables: Collection[TableName]) -> Iterator[Unwatched]:
        row = state.found(session, self._parts)
        recorded = Watched(row.wanted, self._resources) if row else None
        there = set(eligible(session, {name.schema for name in tables}))
        for name in sorted(tables):
            if name in there:
                if recorded and not recorded.takes(name):
                    yield Unwatched(name, UnwatchedReason.CONFIGURED_SINCE)
            elif kind_of(session, name) in (None, PLAIN):
                yield Unwatched(name, UnwatchedReason.MISSING, tuple(spelled_alike(name, there)))
            else:
                yield Unwatched(name, UnwatchedReason.OTHER_KIND)

    def take_over(self, epoch: int) -> None:
        """Raise the fence to `epoch`."""
        with translated("taking over the source"):
            state.take_over(self._session.open(), self._parts, epoch)

    def queued(self) -> bool:
        """Whether the log has something of interest behind what is published."""
        with translated("looking at the binary log"):
            session = self._session.open()
            expect_applied(session)
            row, end = state.known(session, self._parts), end_of_log(session)
            if not row.published.place.may_lead_to(end):
                # It is another log: the sweep says so.
                return True
            begin = max(row.published.place, self._looked or row.published.place)
            if begin >= end:
                return False
            if begin.file != end.file or row.seen_from(server(session)).incarnation != row.incarnation:
                return True
            watched = Watched(row.wanted, self._resources)
            # Up to that end, which it is not sent at once: what is passed over here is not looked at again.
            log = read(self._session.info, begin, end)
            if any(self._is_of_interest(one.event, watched) for one in log):
                return True
            self._looked = end
            return False

    def _is_of_interest(self, found: events.Event, watched: Watched) -> bool:
        if found.kind == events.TABLE_MAP:
            _, name = events.mapped(found.data)
            return name == state.records_of(self._resources) or watched.actions(name) is not None
        if found.kind == events.QUERY:
            return events.query(found.data).raw.split()[:1] not in ([b"BEGIN"], [b"COMMIT"], [b"SAVEPOINT"])
        return found.kind not in events.IGNORED | events.ROWS | events.GTIDS | {events.XID, events.FORMAT}

    def count_queued(self, most: int) -> int:
        """About how many changes are behind what is published."""
        with translated("counting what is in the binary log"):
            session = self._session.open()
            row = state.known(session, self._parts)
            stream = stream_of(session, self._resources, row, end_of_log(session), most)
            return sum(len(batch) for batch in stream.batches(read(self._session.info, row.published.place)))

    @contextmanager
    def sweep(self, epoch: int, max_changes: int | None, until: str | None = None) -> Iterator[BinlogSweep]:
        """Read the log, up to where it is now; what is not purged is given again."""
        with translated("reading the binary log"):
            sweep = BinlogSweep(self._session.info, self._session.open(), self._resources, epoch)
            sweep.begin(max_changes, until)
            yield sweep
            sweep.settle()

    def backlog(self) -> str | None:
        """The log is read from its place."""
        return None

    def go_on_with(self, backlog: str) -> None:
        """The log is read from its place."""

    def kept_log(self) -> None:
        """The server keeps its log for a time of its own, and for nobody."""

    def reclaim(self) -> None:
        """The server purges its log by itself."""

    def forget_layouts(self) -> None:
        """They are few."""

    def heal(self, epoch: int, purge: Purge, changes: Iterable[Mapping[str, Sequence[object]]]) -> bool:
        """Record what a publisher that died between listing and recording published; not if the log has other
        transactions by now.
        """
        listed = {int(str(one)) for some in changes for one in some["transactions"]}
        with translated("recording what is in the change log"):
            session = self._session.open()
            row = state.known(session, self._parts)
            end = end_of_log(session)
            stream = stream_of(session, self._resources, row, end)
            stream.ends_with(max(listed))
            for _ in stream.batches(read(self._session.info, row.published.place, end)):
                pass
            if set(stream.transactions) != listed:
                return False
            ends = (row.published, state.as_published(stream))
            more = {"segment": purge.segment, "sha256": purge.sha256}
            state.record_end(session, self._parts, epoch, "capture/record", ends, more)
        return True

    def accept(self, epoch: int, segment: int, sha256: str) -> str:
        """Take this source as the one whose change log ends with `segment`, and read its log from now on."""
        incarnation = str(uuid.uuid4())
        with translated("accepting the source"):
            session = self._session.open()
            row = state.known(session, self._parts)
            place = end_of_log(session)
            known = Watched(row.wanted, self._resources)
            names = [name for name in row.published.layouts if known.actions(name)]
            published = self._with(session, Published(place), names)
            values = {"incarnation": incarnation, "server": server(session), "segment": segment, "sha256": sha256}
            state.record(session, self._parts, epoch, "capture/accept", lambda: {**values, **published.values})
        return incarnation

    def understands(self, text: str) -> None:
        """Whether a statement is portable, as far as its text tells."""
        # A parser takes long to import, and hardly a publisher needs it.
        from sluice.vendors.portable.parser import portable

        portable(text, "")

    def issue(
        self,
        statement: Statement,
        commits: Callable[[Statement, TransactionRef], None],
        *,
        varying: bool,
        portable: bool = False,
    ) -> None:
        """Execute a portable statement, with a record of it in the same transaction."""
        from sluice.vendors.mariadb.statements import master

        master.issue(self._session.info, self._resources, statement, commits)

    def fate(self, traced: TransactionRef, *, end: bool = False) -> TransactionOutcome:
        """The fate of the transaction of a statement."""
        from sluice.vendors.mariadb.statements import master

        return master.fate(self._session.info, self._resources, traced, end=end)

    def close(self) -> None:
        """End the session."""
        self._session.close()

    def _present(self, session: Connection, tables: Iterable[TableName]) -> list[TableName]:
        there = set(eligible(session, {name.schema for name in tables}))
        return [name for name in tables if name in there]
