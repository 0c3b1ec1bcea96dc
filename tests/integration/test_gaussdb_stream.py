"""Reading a slot over the replication protocol: a player sends to the real client what a GaussDB would."""

from __future__ import annotations

import random
import struct
from contextlib import suppress

import pytest
from support import decoding
from support.decoding import Cell, Change, Transaction
from support.player import Alive, Cut, Data, Pause, Raw, Refusal, playing

from sluice.config.logical_decoding import Decoding
from sluice.errors import SluiceError, TransientError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.vendors.gaussdb.capture.protocol import replication
from sluice.vendors.gaussdb.capture.protocol.replication import ReplicationStream
from sluice.vendors.gaussdb.capture.settings import CaptureSettings
from sluice.vendors.gaussdb.capture.slot.server_slot import Recorded
from sluice.vendors.gaussdb.capture.slot.slot_readers import ByProtocol
from sluice.vendors.gaussdb.capture.slot.stream import Known, Place, Stream
from sluice.vendors.gaussdb.catalog.tables import Described

TABLE = TableName("public", "t")
LAYOUT = Layout(7, TABLE, (Column("id", "integer", True), Column("v", "character varying(9)")), (0,))
KNOWN = Known(
    {TABLE: Described(1, LAYOUT, ("integer", "character varying"), (1, 2))},
    {TABLE: "IUD"},
    TableName("repl", "repl_queue"),
    lambda xid: True,
)
WAYS = [(format, batched) for format in "tjb" for batched in (False, True)]
every_way = pytest.mark.parametrize(("format", "batched"), WAYS)
# Each format once, one of them in batches.
each_format = pytest.mark.parametrize(("format", "batched"), [("t", False), ("j", True), ("b", True)])


def image(key, value):
    return (Cell("id", "integer", str(key)), Cell("v", "character varying", value))


def sample(count=40):
    """Transactions of one to three changes, and what they say."""
    given, said = [], []
    for number in range(count):
        place = 1000 * (number + 1)
        old, new = image(number, f"é '{number}"), image(number, None)
        changes = [
            Change("public", "t", "INSERT", old, None),
            Change("public", "t", "UPDATE", new, old),
            Change("public", "t", "DELETE", None, new),
        ][: 1 + number % 3]
        given.append(Transaction(50 + number, number, place, place + 100, tuple(changes)))
        rows = [("I", [str(number), f"é '{number}"], None), ("U", [str(number), None], [str(number), f"é '{number}"])]
        rows += [("D", None, [str(number), None])]
        said += [(place + 100, str(50 + number), *row) for row in rows[: 1 + number % 3]]
    return given, said


GIVEN, SAID = sample()
END, START = GIVEN[-1].end_lsn, Place(0)


def frames(format, batched, given=GIVEN):
    """The messages of a stream, each where it stands."""
    sent = decoding.statements(format, given)
    if batched:
        return [Data(END, one) for one in decoding.messages(format, sent, True, 400)]
    return [Data(place, one) for one, (_, place) in zip(decoding.messages(format, sent, False), sent, strict=True)]


def settings(format, batched=False, **more):
    given = {"parallel-decode-num": 4, "decode-style": format, "sending-batch": int(batched), **more}
    return CaptureSettings.of("log", Decoding(read_by="protocol", options=given))


def read(info, options, most=None, place=START):
    """The changes that the product makes of a stream; whether it left some; and where it ended."""
    reading = ByProtocol(info, None, Recorded("shop", place), options.watching([TABLE]), most)
    try:
        stream = Stream(KNOWN, place, reading.decoder)
        rows = [row for batch in stream.batches(reading.statements()) for row in batch.to_pylist()]
        reading.forget(stream.end.lsn)
    finally:
        reading._stream.close()
    assert {row["layout"] for row in rows} <= {7}
    names = ("last", "trans_key", "action", "new", "old")
    return [tuple(row[name] for name in names) for row in rows], reading.more, stream.end


@every_way
def test_a_stream_is_read_whole_whatever_its_form_with_pauses_heartbeats_and_signs_of_life(format, batched):
    part = frames(format, batched)
    tail = b"F" if format == "b" else b"0" if batched else b""
    beat = struct.pack(">cQQq", b"h", 5, 6, 7) + tail
    part[1:1] = [Alive(1), Pause(0.3), Data(2, beat), Alive(2, wants_answer=True)]
    part[-1:-1] = [Data(3, beat), Pause(0.3)]
    with playing(part, END) as (player, info):
        found, more, end = read(info, settings(format, batched, **{"status-interval": 100, "sender-timeout": 5000}))
    assert found == SAID
    assert (more, end) == (False, Place(END))
    # Nothing is confirmed before it is published.
    assert len(player.flushed) >= 5
    assert set(player.flushed[:-1]) == {0}
    assert player.flushed[-1] == END
    command = player.commands[-1]
    assert command.startswith('START_REPLICATION SLOT "shop" LOGICAL 0/0 (')
    assert "\"white-table-list\" 'public.t'" in command
    assert "status-interval" not in command
    assert player.options["replication"] == "database"


@each_format
def test_a_bounded_reading_ends_with_a_transaction_and_the_next_one_goes_on(format, batched):
    with playing(frames(format, batched), END) as (_, info):
        found, more, end = read(info, settings(format, batched), most=30)
        assert more
        assert 0 < len(found) < len(SAID)
        assert found == SAID[: len(found)]
        # A server sends nothing that was confirmed; one that does is not believed.
        rest, more, end = read(info, settings(format, batched), place=end)
    assert found + rest == SAID
    assert end == Place(END)


@pytest.mark.full
@each_format
def test_what_is_cut_anywhere_is_taken_back_to_the_last_whole_transaction_and_tried_again(format, batched):
    part = frames(format, batched)
    dice = random.Random(f"{format}{batched}")
    for _ in range(8):
        at = dice.randrange(len(part))
        whole = len(part[at].message) + 30
        cut = Cut(part[at].lsn, part[at].message, dice.randrange(1, whole))
        with (
            playing([*part[:at], cut], END) as (_, info),
            pytest.raises(TransientError, match=r"SLC-450: .*decoded log"),
        ):
            read(info, settings(format, batched))
    with playing(part, END) as (_, info):
        assert read(info, settings(format, batched))[0] == SAID


@pytest.mark.full
@each_format
def test_messages_that_are_damaged_are_refused_or_say_the_same(format, batched, monkeypatch):
    monkeypatch.setattr(replication, "_SILENCE_S", 0.5)
    part = frames(format, batched)
    dice = random.Random(f"{format}{batched}")
    for _ in range(8):
        at = dice.randrange(len(part))
        message = bytearray(part[at].message)
        begin = dice.randrange(len(message))
        # Lengths that lie, letters that are none, the half of a character.
        message[begin : begin + 4] = dice.randbytes(dice.randrange(5))
        damaged = [*part[:at], Data(part[at].lsn, bytes(message)), *part[at + 1 :]]
        # Any other error than ours, or no end, is a defect.
        with playing(damaged, END) as (_, info), suppress(SluiceError):
            assert len(read(info, settings(format, batched))[0]) <= len(SAID)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (Raw(b"x"), "SLC-420"),
        (Raw(b"w123"), "SLC-420"),
        (Raw(b"k" + bytes(3)), "SLC-420"),
        (Refusal("the standby is gone"), "SLC-450.*the standby is gone"),
    ],
)
def test_frames_that_are_none_and_refusals_are_errors_that_say_so(harm, said):
    with playing([*frames("t", False)[:5], harm], END) as (_, info), pytest.raises(SluiceError, match=said):
        read(info, settings("t"))


def test_a_server_that_says_nothing_any_more_is_left():
    options = settings("b").watching([TABLE])
    with playing([Alive(1)], END, silent=True) as (_, info):
        stream = ReplicationStream(info, options, "shop", 0, silence_s=0.5)
        with pytest.raises(TransientError, match=r"SLC-450.*nothing came for 0.5 s"):
            list(stream.messages(lambda: True))


def test_a_stream_of_nothing_ends_at_once():
    with playing([], 77) as (_, info):
        assert read(info, settings("b")) == ([], False, Place(0))
