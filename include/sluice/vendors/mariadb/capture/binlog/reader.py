"""Reading the binary log over a session of its own, from a place to the end that the log has by then."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace

from pymysql.constants import COMMAND

from sluice.connections import ConnectionInfo
from sluice.errors import AGAIN, SluiceError, StrangeSource, TransientError
from sluice.vendors.mariadb.capture.binlog import events
from sluice.vendors.mariadb.capture.binlog.byte_reader import Malformed
from sluice.vendors.mariadb.capture.binlog.events import Event
from sluice.vendors.mariadb.capture.binlog.retention import SET_HOURS
from sluice.vendors.mariadb.errors import number_of, translated
from sluice.vendors.mariadb.session import Connection, connect_to_master, execute

_END_AT_END = 1
# That we know GTIDs, so that none is sent as a statement.
_CAPABILITY = 4
_OFFSET_BITS = 32
# How long an end that the server told is waited for, and the time between two looks.
_PATIENCE_S, _PAUSE_S = 30.0, 0.05
_EOF = 0xFE
# The number of the error that a log cannot be read.
_UNREADABLE = 1236


@dataclass(frozen=True, order=True)
class LogPlace:
    """A place in the log. A place is behind another one if its file is, or its offset in the same file.

    Attributes:
        file: the number at the end of its name.
    """

    file: int
    offset: int
    name: str = field(default="", compare=False)

    @classmethod
    def of(cls, name: str, offset: int) -> LogPlace:
        """A place by the name of the file. Raises ValueError, it is none of a log."""
        return cls(int(name.rpartition(".")[2]), offset, name)

    @classmethod
    def parsed(cls, text: str) -> LogPlace:
        """The place that `str` wrote. Raises ValueError if it is none."""
        name, _, offset = text.rpartition(":")
        return cls.of(name, int(offset))

    @property
    def number(self) -> int:
        """The same as one number, in the same order."""
        return self.file << _OFFSET_BITS | self.offset

    def may_lead_to(self, end: LogPlace) -> bool:
        """Whether a log that ends there may have this place: a file of the same name, and not behind it."""
        return self <= end and self.name.rpartition(".")[0] == end.name.rpartition(".")[0]

    def __str__(self) -> str:
        return f"{self.name}:{self.offset}"


@dataclass(frozen=True)
class Read:
    """An event, and its file."""

    file: str
    event: Event


def read(info: ConnectionInfo, begin: LogPlace, until: LogPlace | None = None) -> Iterator[Read]:
    """The events from a place on, with what the server says of its file first; at the end of the log it ends.

    Args:
        until: an end that the server has told; it sends events some moments later, when they are on the disk.

    Raises:
        StrangeSource: SLC-404, the log does not have the place any more.
        SluiceError: SLC-405, it has the place, and the server cannot read it.
        TransientError: the session broke off; SLC-083, another reader took its number; SLC-450, the server does not
            send what it has told to be there.
        Malformed: what is sent is no event.
    """
    at, patience = begin, time.monotonic() + _PATIENCE_S
    while True:
        stands = at
        for one in _sent(info, at):
            yield one
            if one.event.end:
                at = LogPlace.of(one.file, one.event.end)
        if until is None or at >= until:
            return
        if at != stands:
            patience = time.monotonic() + _PATIENCE_S
        elif time.monotonic() > patience:
            raise _held_back(at, until)
        time.sleep(_PAUSE_S)


def _sent(info: ConnectionInfo, begin: LogPlace) -> Iterator[Read]:
    """The events that the server has to send now. Behind the last one it ends the session."""
    with closing(connect_to_master(info, "binlog")) as session:
        for name in ("master", "source"):
            execute(session, f"SET @{name}_binlog_checksum = @@GLOBAL.binlog_checksum")
        execute(session, f"SET @mariadb_slave_capability = {_CAPABILITY}")
        # One server knows no two readers of one number: a number that nobody is likely to have.
        number = secrets.randbelow(2**31) | 2**31
        asked = begin.offset.to_bytes(4, "little") + _END_AT_END.to_bytes(2, "little") + number.to_bytes(4, "little")
        session._execute_command(COMMAND.COM_BINLOG_DUMP, asked + begin.name.encode())
        file, summed, ends = begin.name, None, begin.offset
        while True:
            packet = _packet(info, session, begin)
            if packet[:1] != b"\0":
                if packet[:1] == bytes([_EOF]) and len(packet) < 9:
                    return
                raise Malformed(f"the server has sent {packet[:1]!r} in place of an event")
            event = events.event(packet[1:], summed=summed)
            if event.kind == events.FORMAT:
                summed = events.has_sums(event.data)
            if event.kind == events.ROTATE:
                file, _ = events.rotated(event.data)
                continue
            if not event.end and event.kind in events.IN_TRANSACTION:
                # Since 11.4 MariaDB tells only where whole transactions end (binlog_legacy_event_pos).
                event = replace(event, end=ends + len(packet) - 1)
            ends = event.end or ends
            yield Read(file, event)


def _packet(info: ConnectionInfo, session: Connection, begin: LogPlace) -> bytes:
    try:
        with translated("reading the binary log"):
            packet: bytes = session._read_packet().get_all_data()
            return packet
    except SluiceError as error:
        if number_of(error.__cause__) != _UNREADABLE:
            raise
        if "server_id" in str(error.__cause__):
            raise TransientError(
                83, "the server ended our reading of the binary log: another reader came with the same number", AGAIN
            ) from None
        raise _unsent(info, begin, error.__cause__) from None


def _held_back(at: LogPlace, until: LogPlace) -> TransientError:
    return TransientError(
        450,
        f"the master's binary log ends at {until}, and for {_PATIENCE_S:.0f} s it has sent nothing behind {at}",
        "the run tries again by itself; it sends what is on its disk: see whether that is slow or full",
    )


def _unsent(info: ConnectionInfo, place: LogPlace, said: BaseException | None) -> SluiceError:
    """The log does not reach back to what is published; or it does, and cannot be read for another reason."""
    with closing(connect_to_master(info, "binlog")) as session, translated("looking at the files of the binary log"):
        sizes = {name: int(size) for name, size, *_ in execute(session, "SHOW BINARY LOGS")}
    if place.offset <= sizes.get(place.name, -1):
        hint = "see the server's own log, and mend its disk or its settings; nothing is lost while the file is there"
        return SluiceError(405, f"the master's server cannot read its binary log at {place}: {said}", hint)
    return StrangeSource(
        404,
        f"the master's binary log does not have {place} any more, which is to be published next: {said}",
        "its files were purged before they were read, or its log was reset. No slave has wrong rows, and changes are "
        "missing: trigger the DAG bootstrap with rebase, then initial_update for all slaves of this source. Let the "
        "server keep its log for longer than a publisher may be away: binlog_expire_logs_seconds; on RDS and Aurora "
        f"{SET_HOURS}",
    )
