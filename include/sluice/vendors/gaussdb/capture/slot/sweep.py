"""Reading the slot as a sweep: what a snapshot shows, in the order of the commits, and what is published of it (R2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from struct import Struct

import pyarrow as pa
from psycopg import sql

from sluice.errors import FencedError, SluiceError
from sluice.model.layout import Layout
from sluice.model.names import Resources, TableName
from sluice.model.position import Snapshot
from sluice.vendors.gaussdb.capture import registry
from sluice.vendors.gaussdb.capture.settings import CaptureSettings
from sluice.vendors.gaussdb.capture.slot import server_slot
from sluice.vendors.gaussdb.capture.slot.either import EitherDecoder
from sluice.vendors.gaussdb.capture.slot.images import altered
from sluice.vendors.gaussdb.capture.slot.server_slot import Recorded
from sluice.vendors.gaussdb.capture.slot.stream import Known, Stream
from sluice.vendors.gaussdb.catalog.tables import described
from sluice.vendors.gaussdb.session import composed
from sluice.vendors.postgresql.read.copy_out import CopyOut
from sluice.vendors.postgresql.session import Connection
from sluice.vendors.postgresql.visibility import read_snapshot
from sluice.vendors.protocol.sweep import Purge, SourceState

_BUFFER_BYTES = 256 * 1024
# Of a COPY in binary form: what comes before the first row; the number of columns, -1 at the end; a length.
_HEADER, _COLUMNS, _LENGTH = 19, Struct(">h"), Struct(">i")


class SlotSweep:
    """See `sluice.vendors.protocol.sweep.Sweep`.

    The log has commits in another order than they become visible in. One that the snapshot does not show waits. Those
    behind it that are shown cannot have seen it, and go ahead.
    """

    def __init__(
        self,
        connection: Connection,
        resources: Resources,
        parts: Mapping[str, sql.Composable],
        settings: CaptureSettings,
        epoch: int,
    ) -> None:
        self._connection = connection
        self._resources = resources
        self._parts = parts
        self._settings = settings
        self._epoch = epoch
        self._most: int | None = None
        self._stream: Stream | None = None
        self.more = False

    def begin(self, max_changes: int | None, until: str | None) -> None:
        """Take the snapshot, and read in it the fence and what the stream is read by.

        Raises:
            FencedError: the lease is lost.
            StrangeSource: SLC-457, see `server_slot.catch_up`; SLC-427, a watched table was altered.
        """
        known = registry.state(self._connection, self._parts).recorded
        server_slot.catch_up(self._connection, known, self._settings)
        self._most = max_changes
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

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The changes in order, `SWEPT` columns. Raises what `Stream.batches` does."""
        most = self._most
        while True:
            stream = self._stream = Stream(self._known, self._recorded.place, EitherDecoder())
            query = composed(
                "capture/log/peek",
                slot=sql.Literal(self._recorded.slot),
                most=sql.Literal(most),
                options=arguments(self._settings, self._known.tables, self._resources),
            )
            copy = CopyOut(self._connection, query, _BUFFER_BYTES)
            yield from stream.batches(statements(iter(copy)))
            self.more = most is not None and copy.rows >= most
            if stream.taken or most is None or not self.more or stream.end != self._recorded.place:
                return
            # Nothing but transactions that the snapshot does not show, or that are published: look further.
            most *= 2

    def layouts(self) -> Mapping[int, Layout]:
        """The layouts that the batches given so far were written under."""
        return self._stream.used if self._stream else {}

    def make_durable(self) -> None:
        """Nothing is to be done: the slot gives what is on the disk."""

    def purge(self, purge: Purge, changes: int) -> None:
        """Record the segment and how far the log is published, in one commit; then let the server forget it."""
        stream = self._stream
        if stream is None or stream.taken != changes:
            raise SluiceError(
                458,
                f"segment {purge.segment} holds {changes} changes, and the slot gave {stream.taken if stream else 0}; "
                "nothing was recorded as published",
                "a defect: report it. Trigger the DAG bootstrap with rebase, then initial_update for all slaves",
            )
        self._record(stream, SourceState(self.state.incarnation, purge.segment, purge.sha256))

    def settle(self) -> None:
        """Where nothing was to be published: let the server forget what it had to say."""
        stream = self._stream
        if stream and not stream.taken and stream.end != self._recorded.place:
            self._record(stream, self.state)

    def _record(self, stream: Stream, source: SourceState) -> None:
        self._connection.execute("SET LOCAL synchronous_commit = on")
        registry.record(self._connection, self._parts, stream.end, source, self._epoch)
        # The log has these rows, whoever reads it next.
        self._connection.execute(sql.SQL("DELETE FROM {}").format(self._parts["queue"]))
        self._connection.execute("COMMIT")
        server_slot.advance(self._connection, self._recorded.slot, stream.end.lsn)

    def deletion(self, column: str, number: object) -> str:
        """What an administrator can do about a change that nobody may publish: nothing is deleted from a log."""
        return "trigger the DAG bootstrap with rebase, then initial_update for all slaves of this source"


def arguments(settings: CaptureSettings, watched: Iterable[TableName], resources: Resources) -> sql.Composed:
    """The options of a SQL function that reads the slot, behind its other arguments."""
    options = settings.watching([*watched, registry.emptied(resources)])
    return sql.SQL("").join(sql.SQL(", {}").format(sql.Literal(part)) for part in options.arguments())


def statements(buffers: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """The rows of a COPY in binary form of two texts: the place of each statement, and the statement.

    Source: PostgreSQL manual, "COPY", "Binary Format".
    """
    at = _HEADER
    for buffer in buffers:
        while at + _COLUMNS.size <= len(buffer):
            if _COLUMNS.unpack_from(buffer, at) == (-1,):
                return
            (size,) = _LENGTH.unpack_from(buffer, at + _COLUMNS.size)
            begin = at + _COLUMNS.size + _LENGTH.size
            place = server_slot.number(buffer[begin : begin + size].decode())
            begin += size
            (size,) = _LENGTH.unpack_from(buffer, begin)
            begin += _LENGTH.size
            yield place, buffer[begin : begin + size]
            at = begin + size
        at = 0
