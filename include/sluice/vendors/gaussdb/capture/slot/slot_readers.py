"""The two ways of reading a slot: by a SQL function, or over the replication protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Protocol

from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.model.names import TableName
from sluice.vendors.gaussdb.capture.protocol.replication import ReplicationStream
from sluice.vendors.gaussdb.capture.settings import CaptureSettings
from sluice.vendors.gaussdb.capture.slot import lsn, server_slot
from sluice.vendors.gaussdb.capture.slot.binary import BinaryDecoder
from sluice.vendors.gaussdb.capture.slot.either import EitherDecoder
from sluice.vendors.gaussdb.capture.slot.json_text import JsonDecoder
from sluice.vendors.gaussdb.capture.slot.options import DecodingOptions
from sluice.vendors.gaussdb.capture.slot.records import Records
from sluice.vendors.gaussdb.capture.slot.server_slot import Recorded
from sluice.vendors.gaussdb.capture.slot.stream import Decoder
from sluice.vendors.gaussdb.capture.slot.text import TextDecoder
from sluice.vendors.gaussdb.session import composed
from sluice.vendors.postgresql.read.copy_out import CopyOut
from sluice.vendors.postgresql.session import Connection

_BUFFER_BYTES = 256 * 1024
# Of a COPY in binary form: what comes before the first row; the number of columns, -1 at the end; a length.
_HEADER, _COLUMNS, _LENGTH = 19, Struct(">h"), Struct(">i")


class Reading(Protocol):
    """One reading of a slot from where it stands.

    Attributes:
        decoder: of what it gives.
        more: whether the bound left something; known at the end.
    """

    decoder: Decoder
    more: bool

    def statements(self) -> Iterator[tuple[int, bytes]]:
        """The messages, each with its place: whole transactions."""

    def forget(self, place: int) -> None:
        """Let the server forget what is published, and recorded as that."""

    def close(self) -> None:
        """End it; others can read the slot then."""


class ByFunction:
    """Reads by `pg_logical_slot_peek_changes`, in the session of the sweep."""

    def __init__(self, connection: Connection, slot: Recorded, options: sql.Composed, most: int | None) -> None:
        self.decoder: Decoder = EitherDecoder()
        self.more = False
        self._connection = connection
        self._slot = slot
        self._options = options
        self._most = most

    def statements(self) -> Iterator[tuple[int, bytes]]:
        """See `Reading`."""
        most = sql.Literal(self._most)
        query = composed("capture/log/peek", slot=sql.Literal(self._slot.slot), most=most, options=self._options)
        copy = CopyOut(self._connection, query, _BUFFER_BYTES)
        yield from _rows(iter(copy))
        self.more = self._most is not None and copy.rows >= self._most

    def forget(self, place: int) -> None:
        """See `Reading`."""
        server_slot.advance(self._connection, self._slot.slot, place)

    def close(self) -> None:
        """See `Reading`."""


class ByProtocol:
    """Reads over the replication protocol, on a connection of its own."""

    def __init__(
        self, info: ConnectionInfo, beside: Connection, slot: Recorded, options: DecodingOptions, most: int | None
    ) -> None:
        self.decoder: Decoder = decoder_of(options)
        self.more = False
        self._beside = beside
        self._slot = slot
        self._most = most
        self._is_batched = options.is_batched
        self._stream = ReplicationStream(info, options, slot.slot, slot.place.lsn)

    def statements(self) -> Iterator[tuple[int, bytes]]:
        """See `Reading`."""
        records: Records = self.decoder.records
        count = 0
        for place, message in self._stream.messages(lambda: not records.in_transaction):
            before = len(records)
            yield place, message
            count += max(len(records) - before, 1)
            # Batches seldom end with a transaction. What came of one that is open comes again.
            if self._most is not None and count >= self._most and (self._is_batched or not records.in_transaction):
                self.more = True
                return

    def forget(self, place: int) -> None:
        """See `Reading`."""
        self._stream.flushed(place)

    def close(self) -> None:
        """See `Reading`."""
        self._stream.close()
        server_slot.await_free(self._beside, self._slot.slot)


def decoder_of(options: DecodingOptions) -> Decoder:
    """The decoder of what comes over the protocol."""
    if not options.is_parallel:
        return EitherDecoder()
    if options.format == "b":
        # Its batches say themselves that they are some.
        return BinaryDecoder()
    return (TextDecoder if options.format == "t" else JsonDecoder)(batched=options.is_batched)


def arguments(settings: CaptureSettings, watched: Iterable[TableName]) -> sql.Composed:
    """The options of a SQL function that reads the slot, behind its other arguments."""
    options = settings.watching(watched).by_functions
    return sql.SQL("").join(sql.SQL(", {}").format(sql.Literal(part)) for part in options.arguments())


def _rows(buffers: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
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
            place = lsn.number(buffer[begin : begin + size].decode())
            begin += size
            (size,) = _LENGTH.unpack_from(buffer, begin)
            begin += _LENGTH.size
            yield place, buffer[begin : begin + size]
            at = begin + size
        at = 0
