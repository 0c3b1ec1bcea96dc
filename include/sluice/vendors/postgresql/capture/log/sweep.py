"""Reading the slot as a sweep: what a snapshot shows, in the order of the commits, and what is published of it (R2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
from psycopg import sql

from sluice.errors import SluiceError
from sluice.model.layout import Column, Layout
from sluice.model.names import Resources, TableName
from sluice.model.position import Snapshot
from sluice.vendors.postgresql.capture.log import pgoutput, slot
from sluice.vendors.postgresql.capture.log.pgoutput import messages
from sluice.vendors.postgresql.capture.log.slot import Recorded
from sluice.vendors.postgresql.capture.log.slot_server import SlotServer
from sluice.vendors.postgresql.capture.log.stream import Known, Stream
from sluice.vendors.postgresql.capture.queue.sweep import PURGING, begun_under, record_purge
from sluice.vendors.postgresql.catalog.change_stamp import CatalogStamp
from sluice.vendors.postgresql.read.copy_out import CopyOut
from sluice.vendors.postgresql.session import Connection, composed
from sluice.vendors.postgresql.visibility import read_snapshot
from sluice.vendors.protocol.sweep import Purge

_BUFFER_BYTES = 256 * 1024


class LogSweep:
    """See `sluice.vendors.protocol.sweep.Sweep`.

    The log has commits in another order than they become visible in. One that the snapshot does not show waits. Those
    behind it that are shown cannot have seen it, and go ahead.

    Args:
        at: where the slot is read.
    """

    def __init__(
        self,
        at: SlotServer,
        resources: Resources,
        parts: Mapping[str, sql.Composable],
        epoch: int,
        unchanged: CatalogStamp,
    ) -> None:
        self._connection = at.master()
        self._at = at
        self._parts = parts
        self._publications = slot.publications(resources)
        self._epoch = epoch
        self._unchanged = unchanged
        self._most: int | None = None
        self._stream: Stream | None = None
        self._moves_to: int | None = None
        self.more = False

    def begin(self, max_changes: int | None, until: str | None) -> None:
        """Take the snapshot, and read in it the fence and what the stream is read by.

        Raises:
            FencedError: the lease is lost.
            StrangeSource: SLC-404, see `slot.catch_up`.
            TransientError: SLC-554, a standby has not come as far as the snapshot.
        """
        execute = self._connection.execute
        self._at.expect_follower(self._epoch)
        slot.catch_up(self._at, self._parts)
        # What the snapshot shows was committed, perhaps without waiting for the disk; the slot gives what is on it.
        self._most = max_changes
        execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        self.state, self.snapshot = begun_under(self._connection, self._parts, self._epoch)
        self._at.catch_up()
        if not self._unchanged.look(self._connection, self._parts):
            if misread := execute(composed("capture/ddl/layout_mismatch", **self._parts)).fetchone():
                schema, table, went = misread
                raise self._unchanged.unrecorded(TableName(schema, table), went=went)
            self._unchanged.is_fine()
        self._known = self._read_known(until)
        recorded = slot.recorded(self._connection, self._parts)
        assert recorded is not None
        self._recorded: Recorded = recorded

    def _read_known(self, until: str | None) -> Known:
        execute = self._connection.execute
        layouts = {
            key: (
                relation,
                Layout(key, TableName(schema, table), tuple(Column(*one) for one in columns), tuple(primary), deferred),
            )
            for key, relation, schema, table, columns, primary, deferred in execute(
                composed("capture/queue/layouts", **self._parts)
            )
        }
        actions: dict[int, str] = dict(execute(composed("capture/log/entries", **self._parts)))
        ours = "SELECT {}::regclass::oid::bigint, {}::regclass::oid::bigint"
        numbers = execute(sql.SQL(ours).format(self._parts["queue_name"], self._parts["layouts_name"])).fetchone()
        queue, recorded = numbers or (0, 0)
        newest = read_snapshot(self.snapshot).high
        return Known(
            queue, recorded, layouts, actions, newest, read_snapshot(Snapshot(until or self.snapshot.text)).sees
        )

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The changes in order, `SWEPT` columns. Raises SluiceError: SLC-405, see `Stream`."""
        most = self._most
        while True:
            stream = self._stream = Stream(self._known, self._recorded.place)
            query = composed(
                "capture/log/peek",
                slot=sql.Literal(self._recorded.slot),
                most=sql.Literal(most),
                publications=self._publications,
                **self._too_long(),
            )
            copy: CopyOut | None = None
            with self._at.reading() as session:

                def read(query: sql.Composed = query, session: Connection = session) -> Iterator[bytes]:
                    nonlocal copy
                    copy = CopyOut(session, query, _BUFFER_BYTES)
                    yield from copy

                yield from stream.batches(messages(slot.patiently(session, self._recorded.slot, read)))
            self.more = most is not None and copy is not None and copy.rows >= most
            if stream.taken or most is None or not self.more or stream.end != self._recorded.place:
                return
            # Nothing but transactions that the snapshot does not show, or that are published: look further.
            most *= 2

    def _too_long(self) -> dict[str, sql.Composable]:
        """How the server tells a change of which a row is too long: a message has two rows, and a few bytes a value."""
        (row_bytes,) = self._connection.execute(composed("capture/log/max_row", **self._parts)).fetchone() or (0,)
        ours = [pgoutput.number(relation) for relation in (self._known.queue, self._known.recorded)]
        changes = [pgoutput.INSERT, pgoutput.UPDATE, pgoutput.DELETE]
        return {
            "longest": sql.Literal(2 * row_bytes + pgoutput.MOST_BESIDE_VALUES),
            "changes": sql.Literal(changes),
            "ours": sql.Literal(ours),
        }

    @property
    def slot(self) -> str:
        """The name of the slot."""
        return self._recorded.slot

    def layouts(self) -> Mapping[int, Layout]:
        """The layouts that the batches given so far were written under."""
        return self._stream.used if self._stream else {}

    def make_durable(self) -> None:
        """Nothing is to be done: the slot gives what is on the disk."""

    def purge(self, purge: Purge, changes: int) -> None:
        """Record the segment and how far the log is published, in one commit; then let the server forget it."""
        stream = self._stream
        self._connection.execute(PURGING)
        record_purge(self._connection, self._parts, purge, self._epoch)
        if stream is None or stream.taken != changes:
            raise SluiceError(
                405,
                f"segment {purge.segment} holds {changes} changes, and the slot gave {stream.taken if stream else 0}; "
                "nothing was recorded as published",
                "a defect: report it. Trigger the DAG bootstrap with rebase, then initial_update for all slaves",
            )
        self._record(stream)

    def settle(self) -> None:
        """Where nothing was to be published: let the server forget what it had to say."""
        stream = self._stream
        if stream and not stream.taken and stream.end != self._recorded.place:
            self._connection.execute(PURGING)
            self._record(stream)

    def _record(self, stream: Stream) -> None:
        end = stream.end
        if stream.keys:
            self._connection.execute(composed("capture/log/purge", **self._parts), {"keys": stream.keys})
        where = {"lsn": end.lsn, "ahead": [str(one) for one in sorted(end.ahead)], "layouts": sorted(end.layouts)}
        self._connection.execute(composed("capture/log/record", **self._parts), where)
        self._connection.execute("COMMIT")
        # A standby may not have that record yet: there the next look moves the slot.
        if not self._at.is_standby:
            slot.advance(self._at, self._recorded.slot, end.lsn)

    def deletion(self, column: str, number: object) -> str:
        """What an administrator can do about a change that nobody may publish: nothing is deleted from a log."""
        return "trigger the DAG bootstrap with rebase, then initial_update for all slaves of this source"
