"""Reading the slot as a sweep: what a snapshot shows, in the order of the commits, and what is published of it (R2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.errors import FencedError, SluiceError
from sluice.model.layout import Layout
from sluice.model.names import Resources, TableName
from sluice.model.position import Snapshot
from sluice.vendors.gaussdb.capture import registry
from sluice.vendors.gaussdb.capture.settings import CaptureSettings
from sluice.vendors.gaussdb.capture.slot import server_slot
from sluice.vendors.gaussdb.capture.slot.images import altered
from sluice.vendors.gaussdb.capture.slot.server_slot import Recorded
from sluice.vendors.gaussdb.capture.slot.slot_readers import ByFunction, ByProtocol, Reading, arguments
from sluice.vendors.gaussdb.capture.slot.stream import Known, Stream
from sluice.vendors.gaussdb.catalog.tables import described
from sluice.vendors.gaussdb.session import composed
from sluice.vendors.postgresql.session import Connection
from sluice.vendors.postgresql.visibility import read_snapshot
from sluice.vendors.protocol.sweep import Purge, SourceState


class SlotSweep:
    """See `sluice.vendors.protocol.sweep.Sweep`.

    The log has commits in another order than they become visible in. One that the snapshot does not show waits. Those
    behind it that are shown cannot have seen it, and go ahead.
    """

    def __init__(
        self,
        connection: Connection,
        beside: Connection,
        info: ConnectionInfo,
        resources: Resources,
        parts: Mapping[str, sql.Composable],
        settings: CaptureSettings,
        epoch: int,
    ) -> None:
        self._connection = connection
        self._beside = beside
        self._info = info
        self._resources = resources
        self._parts = parts
        self._settings = settings
        self._epoch = epoch
        self._most: int | None = None
        self._stream: Stream | None = None
        self._reading: Reading | None = None
        self.more = False

    def begin(self, max_changes: int | None, until: str | None) -> None:
        """Take the snapshot, and read in it the fence and what the stream is read by.

        Raises:
            FencedError: the lease is lost.
            StrangeSource: SLC-404, see `server_slot.catch_up`; a watched table was altered.
        """
        known = registry.state(self._connection, self._parts).recorded
        server_slot.catch_up(self._connection, known, self._settings)
        self._most, self._is_all = max_changes, until is None
        self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        state = registry.state(self._connection, self._parts)
        if state.epoch != self._epoch:
            raise FencedError(
                50,
                f"another publisher took over (epoch {state.epoch}, ours {self._epoch})",
                "nothing is lost; this run ends and the other goes on",
            )
        assert state.recorded is not None
        self.state: SourceState = state.source
        self._recorded: Recorded = state.recorded
        (text,) = self._connection.execute(composed("capture/log/snapshot")).fetchone() or ("",)
        self.snapshot = Snapshot(text)
        # What the snapshot shows was committed, perhaps without waiting for the disk; the slot gives what is on it.
        _flush(self._beside, self._parts)
        tables = registry.registered(self._connection, self._parts)
        self._expect_unaltered(tables)
        self._known = Known(
            {name: one.table for name, one in tables.items()},
            {name: one.actions for name, one in tables.items()},
            registry.emptied(self._resources),
            read_snapshot(Snapshot(until or text)).sees,
        )

    def _expect_unaltered(self, tables: Mapping[TableName, registry.Registered]) -> None:
        now = described(self._connection, [one.table.name for one in tables.values()])
        for one in tables.values():
            name = one.table.name
            if name not in now:
                raise altered(f"the watched table {name} is not there any more")
            if not now[name].is_as(one.table):
                raise altered(f"the watched table {name} was altered, or made anew")
            if not now[name].logged:
                raise altered(f"the watched table {name} is unlogged by now")
        self._restored = registry.restored(self._connection, self._parts, list(tables.values()))
        for one in self._restored:
            name = one.table.name
            if one.stored and one.stored.is_rewritten(tables[name].stored):
                raise altered(
                    f"the rows of the watched table {name} were written anew by DDL, or emptied without the trigger"
                )

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The changes in order, `SWEPT` columns. Raises what `Stream.batches` does."""
        most = self._most
        while True:
            self.close()
            reading = self._reading = self._begun(most)
            stream = self._stream = Stream(self._known, self._recorded.place, reading.decoder)
            yield from stream.batches(reading.statements())
            self.more = reading.more
            if stream.taken or most is None or not self.more or stream.end != self._recorded.place:
                return
            # Nothing but transactions that the snapshot does not show, or that are published: look further.
            most *= 2

    def _begun(self, most: int | None) -> Reading:
        watched = [*self._known.tables, registry.emptied(self._resources)]
        if self._settings.by_protocol:
            options = self._settings.watching(watched)
            return ByProtocol(self._info, self._connection, self._recorded, options, most)
        return ByFunction(self._connection, self._recorded, arguments(self._settings, watched), most)

    def close(self) -> None:
        """End the reading."""
        if self._reading is not None:
            self._reading.close()
        self._reading = None

    def layouts(self) -> Mapping[int, Layout]:
        """The layouts that the batches given so far were written under."""
        return self._stream.used if self._stream else {}

    def make_durable(self) -> None:
        """Nothing is to be done: the slot gives what is on the disk, and `begin` saw to it that all of this is."""

    def purge(self, purge: Purge, changes: int) -> None:
        """Record the segment and how far the log is published, in one commit; then let the server forget it."""
        stream = self._stream
        if stream is None or stream.taken != changes:
            raise SluiceError(
                405,
                f"segment {purge.segment} holds {changes} changes, and the slot gave {stream.taken if stream else 0}; "
                "nothing was recorded as published",
                "a defect: report it. Trigger the DAG bootstrap with rebase, then initial_update for all slaves",
            )
        self._record(stream, SourceState(self.state.incarnation, purge.segment, purge.sha256))

    def settle(self) -> None:
        """Where nothing was to be published: let the server forget what it had to say."""
        stream = self._stream
        if stream and not stream.taken and (self._restored or stream.end != self._recorded.place):
            self._record(stream, self.state)

    def _record(self, stream: Stream, source: SourceState) -> None:
        self._connection.execute("SET LOCAL synchronous_commit = on")
        registry.record(self._connection, self._parts, stream.end, source, self._epoch)
        for one in self._restored:
            registry.describe(self._connection, self._parts, one)
        if self._is_all and not self.more:
            # The log has these rows; and there may be a mark of somebody who waits for this.
            self._connection.execute(composed("capture/registry/forget_emptied", **self._parts))
        self._connection.execute("COMMIT")
        if self._reading:
            self._reading.forget(stream.end.lsn)

    def deletion(self, column: str, number: object) -> str:
        """What an administrator can do about a change that nobody may publish: nothing is deleted from a log."""
        return "trigger the DAG bootstrap with rebase, then initial_update for all slaves of this source"


def _flush(beside: Connection, parts: Mapping[str, sql.Composable]) -> None:
    """Flush the log of all sessions, by a commit that waits for the disk.

    It has to write something, and no function that all of these servers have does that alone. Nobody ever sees the row.
    The list of the decoding does not name its table.
    """
    with beside.transaction():
        beside.execute("SET LOCAL synchronous_commit = on")
        beside.execute(composed("capture/log/write", **parts))
        beside.execute(composed("capture/log/unwrite", **parts))
