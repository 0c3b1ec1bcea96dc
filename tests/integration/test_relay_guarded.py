"""Slow, dead and hostile clients of the relay do no harm: it lives, does not grow, and serves the others."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.relaying import (
    ADD_FILTER,
    AUTHENTICATE,
    ERROR,
    INSERT,
    OK,
    PING,
    POLL,
    Client,
    RelayProcess,
    frame,
    keys_of,
    relay_of,
    text,
)
from support.world import SOURCE, World

from sluice.changelog.segment_files import SegmentFiles
from sluice.relay.log_reader import LogReader, cursor_at

pytestmark = pytest.mark.postgres

DDL = "CREATE TABLE texts (id int PRIMARY KEY, content text)"
LIMITS = {"max_clients": 5, "max_filters": 4, "queue_bytes": 65_536, "login_s": 1, "idle_s": 5}
_NUMBERS = count(1)
_ROOM = 24 * 1024 * 1024
# By which a session of any connection may be named.
_KEYS = keys_of("fuzz")
_NAMED = _KEYS[0] & 0xFFFFFFFF, _KEYS[0] >> 32
_LOGIN = frame(AUTHENTICATE, struct.pack("<QII", _KEYS[0], 0, 0) + text("fuzz"))
NAMES = [
    *("fuzz", "slow", "silent", "not a stranger", "comes again", "one more", "forgotten"),
    *(f"limited {number}" for number in range(5)),
    *(f"good {number}" for number in range(1, 50)),
]


@pytest.fixture(scope="module")
def world(server, tmp_path_factory) -> Iterator[World]:
    made = World(server, tmp_path_factory.mktemp("guarded") / "world", DDL, ["public.texts"])
    yield made
    made.close()
    server.drop_databases(made.infos.values())


@pytest.fixture(scope="module")
def relay(world) -> Iterator[RelayProcess]:
    with relay_of(world, NAMES, **LIMITS) as made:
        yield made


@pytest.fixture(autouse=True)
def served(world, relay):
    """Whatever a test did, a good client gets its events afterwards, from the same process."""
    world.master.execute("DELETE FROM texts")
    world.publish()
    yield
    assert relay.process.poll() is None, relay.log.read_text()
    good = logged_in(relay, f"good {next(_NUMBERS)}")
    good.filter("texts", INSERT)
    world.master.execute("INSERT INTO texts VALUES (1000, 'here')")
    world.publish()
    assert [one.columns for one in good.events(1)] == [(("id", "", "1000"), ("content", "", "here"))]
    good.poll()
    good.close()
    assert "Traceback" not in relay.log.read_text()


def logged_in(relay: RelayProcess, name: str) -> Client:
    """A client, as soon as one of those before has gone."""
    for _ in range(600):
        with suppress(AssertionError, ConnectionError):
            return relay.client().log_in(name)
        time.sleep(0.1)
    raise AssertionError(f"{name} was never let in")


def ends(client: Client) -> bool:
    """Whether the relay ends a connection soon."""
    client.socket.settimeout(60)
    try:
        while client.socket.recv(1 << 16):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


COMMANDS = st.sampled_from([PING, AUTHENTICATE, ADD_FILTER, POLL]) | st.integers(0, 0xFFFF)
SIZES = st.integers(0, 40) | st.sampled_from([0, 1, 2**31, 2**32 - 1])
PAYLOADS = st.one_of(
    st.binary(max_size=80),
    st.builds(lambda *of: struct.pack("<QII", *of[:3]) + struct.pack("<I", of[3]) + of[4],
              st.sampled_from(_KEYS), SIZES, SIZES, SIZES, st.binary(max_size=20)),
    st.builds(lambda kinds, discard, limit, name, size, rest: struct.pack("<BBI", kinds, discard, limit)
              + text(name) + struct.pack("<I", size) + rest,
              st.integers(0, 9), st.integers(0, 4), SIZES, st.text(max_size=5), SIZES, st.binary(max_size=20)),
)  # fmt: skip
WHOLE = st.builds(frame, COMMANDS, PAYLOADS, *map(st.just, _NAMED))
NEARLY = st.builds(
    lambda good, place, byte: good[: place % len(good)] + bytes([byte]) + good[place % len(good) + 1 :],
    WHOLE, st.integers(0, 200), st.integers(0, 255),
)  # fmt: skip
CUT = st.builds(lambda good, size: good[: size % len(good)], WHOLE, st.integers(0, 200))


@pytest.mark.full
@pytest.mark.slow
def test_a_thousand_malformed_conversations_neither_end_nor_grow_the_relay(relay):
    sizes = []

    @settings(
        max_examples=1_000,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.booleans(), st.lists(WHOLE | NEARLY | CUT | st.binary(max_size=100), min_size=1, max_size=4))
    def converse(known: bool, frames: list[bytes]) -> None:
        with socket.create_connection(("127.0.0.1", relay.port), timeout=60) as client, suppress(ConnectionError):
            client.sendall((_LOGIN if known else b"") + b"".join(frames))
            client.shutdown(socket.SHUT_WR)
            while client.recv(1 << 16):
                pass
        sizes.append(relay.resident())

    converse()
    assert len(sizes) >= 900
    assert sizes[-1] - sizes[300] < _ROOM


@pytest.mark.full
def test_a_client_that_does_not_read_costs_little_memory_and_is_left(world, relay):
    logged_in(relay, "slow").filter("texts", INSERT)
    world.master.execute("INSERT INTO texts SELECT n, repeat('x', 2000000) FROM generate_series(1, 20) AS n")
    world.publish()
    slow = logged_in(relay, "slow")
    assert slow.events(1)
    before = relay.resident()
    slow.socket.sendall(frame(POLL, b"", slow.client, slow.token) * 1_000)
    time.sleep(1)
    # Others are served meanwhile.
    assert relay.client().ask(PING) == (OK, b"PONG\0")
    assert relay.resident() - before < _ROOM
    # A pause without a request, in which nothing was read, is over.
    time.sleep(LIMITS["idle_s"] + 1)
    assert ends(slow)
    again = logged_in(relay, "slow")
    assert len(again.events(10)) == 10


@pytest.mark.full
@pytest.mark.parametrize("sent", [b"", frame(PING)[:10], frame(AUTHENTICATE, b"x" * 100)[:50]])
def test_a_connection_that_never_authenticates_is_left(relay, sent):
    client = relay.client()
    client.socket.sendall(sent)
    assert ends(client)


@pytest.mark.full
def test_a_client_that_asks_for_nothing_is_left(relay):
    assert ends(logged_in(relay, "silent"))


@pytest.mark.parametrize("name", ["", "comes again"])
def test_who_only_connects_or_comes_again_and_again_keeps_nobody_away(relay, name):
    before = relay.figures()["server"]["connections_refused"]
    idle = [logged_in(relay, name) if name else relay.client() for _ in range(40)]
    known = logged_in(relay, "not a stranger")
    assert known.ask(PING) == (OK, b"PONG\0")
    assert relay.figures()["server"]["connections_refused"] > before, "none of them keeps its place"
    for one in (known, *idle):
        one.close()


def test_who_asks_for_no_figures_keeps_nobody_away_from_them(relay):
    silent = [socket.create_connection(("127.0.0.1", relay.admin_port)) for _ in range(20)]
    assert relay.figures()["server"]["clients_connected"] >= 0
    for one in silent:
        one.close()


@pytest.mark.full
def test_clients_and_filters_are_limited(relay):
    clients = [logged_in(relay, f"limited {number}") for number in range(5)]
    # Whoever asks for something stays.
    assert [one.ask(PING)[0] for one in clients] == [OK] * 5
    result, payload = relay.client().ask(
        AUTHENTICATE, struct.pack("<QII", keys_of("one more")[0], 0, 0) + text("one more")
    )
    assert (result, payload) == (ERROR, b"5 clients are connected already\0")
    for number in range(4):
        clients[0].filter(f"t{number}")
    wish = struct.pack("<BBI", 7, 0, 0) + text("public") + text("t4")
    assert clients[0].ask(ADD_FILTER, wish) == (ERROR, b"a client has 4 filters at most\0")
    for client in clients:
        client.close()


@pytest.mark.full
def test_events_that_the_log_has_no_more_are_reported_once(world, relay):
    client = logged_in(relay, "forgotten")
    client.filter("texts", INSERT)
    client.close()
    time.sleep(1.2)
    world.master.execute("INSERT INTO texts VALUES (1, 'gone')")
    world.publish()
    world.master.execute("INSERT INTO texts VALUES (2, 'kept')")
    world.publish()
    manifest = world.context.manifest(SOURCE)
    manifest.mark_trimmed([one for one in manifest.kept_segments() if one.number < manifest.end().segment])
    again = logged_in(relay, "forgotten")
    while (answer := again.ask(POLL))[0] not in (OK, ERROR):
        time.sleep(0.02)
    assert answer[0] == ERROR
    assert b"SLC-412" in answer[1]
    assert [one.columns[0][2] for one in again.events(1)] == ["2"]


@pytest.mark.full
def test_a_large_segment_is_opened_once_for_readers_that_go_on_where_they_were(world):
    world.master.execute("INSERT INTO texts SELECT i, '' FROM generate_series(2_001, 14_000) i")
    world.publish()
    context = world.context
    manifest = context.manifest(SOURCE)
    (segment,) = manifest.since(manifest.end().segment, 1)
    files = _OpenedFiles(context.files())
    reader = LogReader(SOURCE, manifest, files)
    cursor = {"one": cursor_at(segment.number), "other": cursor_at(segment.number, 2_000)}
    found = {"one": 0, "other": 0}
    # Two clients in turn: each has its own place in the segment.
    while min(cursor.values()) < cursor_at(segment.number + 1):
        for name in cursor:
            part = reader.read(cursor[name], lambda _: True)
            positions = [one.position for one in part.events]
            assert positions == list(range(cursor[name] + 1, cursor[name] + 1 + len(positions)))
            cursor[name], found[name] = part.end, found[name] + len(positions)
    assert found == {"one": 12_000, "other": 10_000}
    assert files.opened == 2


class _OpenedFiles:
    """The files of segments; it counts how often one is opened."""

    def __init__(self, files: SegmentFiles) -> None:
        self._files = files
        self.opened = 0

    def read(self, *of: Any) -> Iterator[pa.RecordBatch]:
        self.opened += 1
        return self._files.read(*of)


@pytest.mark.full(but=["secrets3-SLC-017.*'fuzz' and 'slow'"])
@pytest.mark.parametrize(
    ("secrets", "code"),
    [
        ({}, "SLC-411"),
        ({"fuzz": ""}, "SLC-014.*'fuzz'"),
        ({"relay_admin": ""}, "'relay_admin'"),
        ({"fuzz": "one", "slow": "one"}, "SLC-017.*'fuzz' and 'slow'"),
        ({"fuzz": "one-1", "slow": "one-2"}, "SLC-017.*'fuzz' and 'slow'"),
    ],
)
def test_a_relay_that_cannot_start_says_why(world, relay, secrets, code):
    with pytest.raises(AssertionError, match=code):
        RelayProcess(world, NAMES, secrets, port=relay.port)
