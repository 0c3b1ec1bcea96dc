"""Events of the binary log, where a server leaves out how far they are, or columns of rows."""

from __future__ import annotations

from collections.abc import Iterator
from struct import pack
from zlib import crc32

import pytest

from sluice.connections import ConnectionInfo
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.vendors.mariadb.capture.binlog import events, reader
from sluice.vendors.mariadb.capture.binlog.layouts import Described
from sluice.vendors.mariadb.capture.binlog.reader import LogPlace

ANNOTATE, HEARTBEAT = 160, 27


class Session:
    """One that sends packets, and then the end of the log."""

    def __init__(self, packets: list[bytes]) -> None:
        self._packets: Iterator[bytes] = iter([*packets, b"\xfe\0\0"])

    def _execute_command(self, *_: object) -> None:
        pass

    def close(self) -> None:
        pass

    def packet(self, *_: object) -> bytes:
        return next(self._packets)


def packet(kind: int, end: int, data: bytes = b"12345678") -> bytes:
    whole = pack("<IBIIIH", 7, kind, 1, 19 + len(data) + 4, end, 0) + data
    return b"\0" + whole + pack("<I", crc32(whole))


SIZE = len(packet(events.XID, 0)) - 1
# Since 11.4 MariaDB sends no ends within a transaction.
SENT = [
    packet(events.FORMAT, 0, b"12345678\1"),
    packet(events.GTID, 1000 + SIZE),
    packet(ANNOTATE, 0),
    packet(HEARTBEAT, 0),
    packet(events.TABLE_MAP, 0),
    packet(30, 0),
    packet(events.XID, 1000 + 5 * SIZE),
]


@pytest.mark.parametrize("legacy", [False, True], ids=["without ends", "with ends"])
def test_events_have_the_places_that_they_have_in_their_file(monkeypatch, legacy):
    sent = list(SENT)
    if legacy:
        ends = {2: 2, 4: 3, 5: 4}
        sent = [packet(one[5], 1000 + ends[at] * SIZE) if at in ends else one for at, one in enumerate(SENT)]
    session = Session(sent)
    monkeypatch.setattr(reader, "connect_to_master", lambda *_: session)
    monkeypatch.setattr(reader, "execute", lambda *_: [])
    monkeypatch.setattr(reader, "_packet", session.packet)
    read = reader.read(ConnectionInfo("mysql", "h", 3306, "d", "l", "p"), LogPlace.of("binlog.000007", 1000))
    assert [(one.event.kind, (one.event.end - 1000) / SIZE) for one in read if one.event.end] == [
        (events.GTID, 1),
        (ANNOTATE, 2),
        (events.TABLE_MAP, 3),
        (30, 4),
        (events.XID, 5),
    ]


@pytest.mark.parametrize(
    ("masks", "reads"),
    [((0b1111, 0b1111), 4), ((0b0111, 0b0111), 3), ((0b1111, 0b0111), 0), ((0b0110, 0b0110), 0)],
    ids=["all", "all that somebody sees", "others in the new ones", "not all that somebody sees"],
)
def test_rows_may_lack_what_no_catalog_has_and_nothing_else(masks, reads):
    layout = Layout(1, TableName("d", "t"), ())
    described = Described(layout, [lambda data, at: ("", at)] * 4, hidden=(3,))
    update = (7).to_bytes(6, "little") + bytes(2) + pack("<HB", 2, 4) + bytes(masks)
    found = described.of_rows(events.rows(31, update))
    assert (len(found.reads) if found else 0) == reads
    wider = pack("<6xHHB", 0, 2, 5) + b"\xff\xff"
    assert described.of_rows(events.rows(31, wider)) is None
