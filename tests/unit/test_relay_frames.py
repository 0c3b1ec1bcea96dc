"""The relay's frames and queues as values: whatever is encoded is decoded, and a queue keeps within its limits."""

from __future__ import annotations

import asyncio
import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.model.names import TableName
from sluice.relay.frames import (
    REPLY_BYTES,
    REQUEST_BYTES,
    VERSION,
    MalformedFrame,
    Reply,
    ReplyHeader,
    Request,
    RequestHeader,
)
from sluice.relay.log_reader import LogSlice, PackedEvent, cursor_at
from sluice.relay.payloads import ColumnImage, Discard, EventKind, Filter, Login, LoginReply, RelayEvent
from sluice.relay.queue import ClientQueue
from sluice.relay.secret_hash import auth_keys, fnv1a
from sluice.relay.value_bytes import as_bytes

NUMBERS = st.integers(0, 2**32 - 1)
WORDS = st.integers(0, 2**16 - 1)
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
KINDS = st.integers(0, 31).map(EventKind)
VALUES = TEXTS | st.binary(max_size=20).map(lambda raw: raw.decode(errors="surrogateescape"))
COLUMNS = st.lists(st.builds(ColumnImage, TEXTS, VALUES, VALUES), max_size=3).map(tuple)
PEOPLE, STOCK = TableName("public", "people"), TableName("public", "stock")


def test_a_secret_has_the_keys_of_both_forms():
    assert set(auth_keys("Freedelity")) == {0x700E76749A3B5CE8, 0x0BF246A9C6D9567F}


def test_a_key_may_lack_its_highest_bit_as_that_of_php_does():
    whole = fnv1a(b"open sesame")
    assert whole >> 63
    assert {whole, whole - 2**63} < set(auth_keys("open sesame"))


@pytest.mark.parametrize(
    ("column", "value", "sent"),
    [
        ("bytea", "\\xdead00", b"\xde\xad\x00"),
        ("bytea", "\\x", b""),
        ("text", "\\xdead", rb"\xdead"),
        ("timestamp without time zone", "2024-02-29 23:59:59.5", b"2024-02-29 23:59:59.5"),
        ("timestamp(0) with time zone", "2024-02-29 23:59:59+00", b"2024-02-29 23:59:59"),
        ("timestamp with time zone", "0044-03-15 00:00:00+00 BC", b"0044-03-15 00:00:00 BC"),
        ("timestamp with time zone", "infinity", b"infinity"),
        ("bytea", None, b"NULL"),
    ],
)
def test_values_are_sent_as_those_of_a_mysql(column, value, sent):
    assert as_bytes(column, value) == sent


def test_a_filter_of_other_kinds_is_one_more_and_an_event_comes_once():
    found = queue(Filter("public", "stock", EventKind.DELETE), Filter("public", "stock", EventKind.INSERT, limit=1))
    found.add_filter(Filter("public", "stock", EventKind.INSERT | EventKind.UPDATE), {})
    found.add_filter(Filter("public", "stock", EventKind.INSERT, limit=2), {})
    assert [(one.kinds, one.limit) for one in found.filters.values()] == [(4, 0), (1, 2), (3, 0)]
    asyncio.run(found.take("shop", LogSlice(cursor_at(1), cursor_at(2), tuple(map(event, range(1, 4))))))
    assert polled(found) == [1, 2]
    found.add_filter(Filter("public", "stock", EventKind(0)), {})
    assert not found.filters


def test_a_request_is_laid_out_as_the_protocol_says():
    payload = b"\xff" * 3
    total = 4 + 9 + 3 + VERSION + 7 + 8 + 3 * 255
    assert Request(4, payload, 7, 8, 9).encode() == (
        struct.pack("<HHIIIIIII", 4, 9, 3, 0x00010020, 7, 8, total, 0, 0) + payload
    )
    assert (REQUEST_BYTES, REPLY_BYTES) == (32, 9)


@given(st.builds(Request, WORDS, st.binary(max_size=50), NUMBERS, NUMBERS, WORDS, NUMBERS))
def test_a_request_is_decoded_as_it_was_encoded(request):
    frame = request.encode()
    header = RequestHeader.decode(frame[:REQUEST_BYTES])
    assert Request.decode(header, frame[REQUEST_BYTES:]) == request


@given(st.builds(Reply, st.integers(0, 255), st.binary(max_size=50)), st.integers(0, 1000), st.integers(1, 255))
def test_a_reply_is_decoded_as_it_was_encoded_and_not_if_a_byte_is_another(reply, place, by):
    frame = reply.encode()
    header = ReplyHeader.decode(frame[:REPLY_BYTES])
    assert Reply.decode(header, frame[REPLY_BYTES:]) == reply
    payload = bytearray(reply.payload or b"\0")
    payload[place % len(payload)] = (payload[place % len(payload)] + by) % 256
    with pytest.raises(MalformedFrame):
        Reply.decode(header, bytes(payload))


@given(
    st.one_of(
        st.builds(Login, st.integers(0, 2**64 - 1), TEXTS),
        st.builds(LoginReply, st.integers(0, 2**64 - 1), NUMBERS, NUMBERS),
        st.builds(Filter, TEXTS, TEXTS, KINDS, st.sampled_from(Discard), NUMBERS),
        st.builds(RelayEvent, KINDS, st.integers(0, 2**64 - 1), TEXTS, TEXTS, COLUMNS, NUMBERS),
    )
)
def test_a_payload_is_decoded_as_it_was_encoded_and_never_if_it_was_cut(payload):
    raw = payload.encode()
    assert type(payload).decode(raw) == payload
    with pytest.raises(MalformedFrame):
        type(payload).decode(raw[:-2])


@given(st.sampled_from([Login, Filter, LoginReply, RelayEvent]), st.binary(max_size=60))
def test_any_bytes_are_a_payload_or_are_refused(kind, raw):
    with suppress(MalformedFrame):
        kind.decode(raw)


def event(position: int, table: TableName = STOCK, size: int = 1) -> PackedEvent:
    return PackedEvent(cursor_at(1, position), EventKind.INSERT, table, b"x" * size, size * ord("x"))


def queue(*filters: Filter, most: int = 1_000_000) -> ClientQueue:
    made = ClientQueue("one", {}, {}, most)
    for one in filters:
        made.add_filter(one, {"shop": cursor_at(1)})
    return made


def polled(found: ClientQueue) -> list[int]:
    return [one.position & 0xFFFF for one in iter(found.poll, None)]


@pytest.mark.parametrize("kept", range(1, 6))
def test_a_queue_that_drops_its_oldest_is_as_long_as_its_limit_however_much_comes(kept):
    found = queue(Filter("public", "stock", discard=Discard.OLDEST, limit=kept))
    asyncio.run(found.take("shop", LogSlice(cursor_at(1), cursor_at(2), tuple(map(event, range(1, 2_001))))))
    assert (found.size, found.discarded, found.largest) == (kept, 2_000 - kept, kept)
    assert len(found._order) < 300
    assert polled(found) == list(range(2_001 - kept, 2_001))


def test_each_filter_of_a_client_has_a_limit_of_its_own():
    found = queue(Filter("public", "stock", limit=1), Filter("public", "people"))
    asyncio.run(
        found.take(
            "shop", LogSlice(cursor_at(1), cursor_at(2), (event(1), event(2, PEOPLE), event(3), event(4, PEOPLE)))
        )
    )
    assert polled(found) == [1, 2, 4]


def test_reading_pauses_when_memory_is_full_and_goes_on_from_there():
    found = queue(Filter("public", "stock"), most=10_000)
    events = tuple(event(number, size=3_000) for number in range(1, 10))
    asyncio.run(found.take("shop", LogSlice(cursor_at(1), cursor_at(2), events)))
    assert (found.size, found.cursors["shop"], found.is_ready) == (4, cursor_at(1, 4), False)
    assert [found.poll() for _ in range(3)] == list(events[:3])
    assert found.is_ready
    asyncio.run(found.take("shop", LogSlice(cursor_at(1, 4), cursor_at(2), events[4:])))
    assert polled(found)[:2] == [4, 5]


def test_the_position_to_begin_again_is_before_what_was_not_confirmed():
    found = queue(Filter("public", "stock"))
    asyncio.run(found.take("shop", LogSlice(cursor_at(1), cursor_at(2), (event(3), event(7)))))
    assert found.position("shop") == cursor_at(1, 2)
    for expected in (cursor_at(1, 2), cursor_at(1, 6), cursor_at(2)):
        found.poll()
        assert found.position("shop") == expected
