"""Reading the log as a sweep: from what is published to what is there now, and what is published of it (R2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from sluice.connections import ConnectionInfo
from sluice.errors import FencedError
from sluice.model.layout import Layout
from sluice.model.names import Resources
from sluice.model.position import Snapshot
from sluice.vendors.mariadb.capture.binlog import state
from sluice.vendors.mariadb.capture.binlog.layouts import Layouts, another_log, unreadable
from sluice.vendors.mariadb.capture.binlog.reader import LogPlace, read
from sluice.vendors.mariadb.capture.binlog.server import end_of_log, expect_applied, server
from sluice.vendors.mariadb.capture.binlog.state import BinlogState, as_published
from sluice.vendors.mariadb.capture.binlog.stream import Stream
from sluice.vendors.mariadb.capture.binlog.watched import Watched
from sluice.vendors.mariadb.catalog.master_tables import described, expect_capturable, kind_of
from sluice.vendors.mariadb.charsets import Charsets
from sluice.vendors.mariadb.session import Connection
from sluice.vendors.protocol.sweep import Purge, SourceState

# What an idle source may have in its log that is of no use to us, before it is written down that it was read.
_IDLE_BYTES = 16 * 1024 * 1024


def stream_of(
    session: Connection, resources: Resources, row: BinlogState, until: LogPlace, most: int | None = None
) -> Stream:
    """A stream that begins where a source is published."""
    published = row.published
    watched = Watched(row.wanted, resources)
    layouts = Layouts(
        published.layouts,
        published.altered,
        lambda: Charsets(session),
        lambda name: described(session, name),
        lambda name: kind_of(session, name),
        lambda name: expect_capturable(session, name),
        carried=watched.carries,
    )
    stream = Stream(published.place, published.born, layouts, watched.actions, until, most, lambda: end_of_log(session))
    stream.since.update(published.since)
    stream.prepared.update(published.prepared)
    stream.records = state.records_of(resources)
    stream.server = session.server
    return stream


class BinlogSweep:
    """See `sluice.vendors.protocol.sweep.Sweep`. A snapshot is a place of the log: it shows what is in front of it."""

    snapshot: Snapshot
    state: SourceState

    def __init__(self, info: ConnectionInfo, session: Connection, resources: Resources, epoch: int) -> None:
        self._info = info
        self._session = session
        self._parts = state.parts_of(resources)
        self._resources = resources
        self._epoch = epoch
        self.more = False

    def begin(self, max_changes: int | None, until: str | None) -> None:
        """Look how far the log is, and what is published.

        Raises:
            FencedError: SLC-050, the lease is lost.
            StrangeSource: SLC-404, the log ends in front of what is published.
            ConfigError: SLC-400, changes are not in the log.
        """
        self._row = state.known(self._session, self._parts)
        if self._row.epoch != self._epoch:
            raise FencedError(50, f"another publisher took over (epoch {self._row.epoch}, ours {self._epoch})")
        expect_applied(self._session)
        here = end_of_log(self._session)
        end = LogPlace.parsed(until) if until else here
        self.state = self._row.seen_from(server(self._session))
        if self.state.incarnation == self._row.incarnation and not self._row.published.place.may_lead_to(here):
            raise another_log(here.name, self._row.published.place)
        self.snapshot = Snapshot(str(end))
        self._stream = stream_of(self._session, self._resources, self._row, end, max_changes)
        self._until = end

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The changes in order, `SWEPT` columns; for what is raised see `Stream`."""
        if self._row.published.place < self._until:
            yield from self._stream.batches(read(self._info, self._row.published.place, self._until))
        self.more = self._stream.more

    def layouts(self) -> Mapping[int, Layout]:
        """The layouts that the batches given so far were written under."""
        return self._stream.used

    def make_durable(self) -> None:
        """Nothing is to be done: with `sync_binlog = 1` the server sends what is on the disk."""

    def purge(self, purge: Purge, changes: int) -> None:
        """Record the segment, and how far the log is published, in one commit."""
        if self._stream.taken != changes:
            raise unreadable(
                str(self._stream.end),
                f"segment {purge.segment} holds {changes} changes, and it gave {self._stream.taken}",
            )
        end = as_published(self._stream)
        more = {"segment": purge.segment, "sha256": purge.sha256}
        ends = (self._row.published, end)
        state.record_end(self._session, self._parts, self._epoch, "capture/record", ends, more)

    def settle(self) -> None:
        """Where nothing was to be published: write down that it was read, once that is worth a commit."""
        stream, begin = self._stream, self._row.published.place
        is_far = stream.end.file != begin.file or stream.end.offset - begin.offset > _IDLE_BYTES
        if not stream.taken and (is_far or stream.layouts.altered != list(self._row.published.altered)):
            ends = (self._row.published, as_published(stream))
            state.record_end(self._session, self._parts, self._epoch, "capture/move", ends, {})

    def deletion(self, column: str, number: object) -> str:
        """What an administrator can do about a change that nobody may publish: nothing is deleted from a log."""
        return "trigger the DAG bootstrap with rebase, then initial_update for all slaves of this source"
