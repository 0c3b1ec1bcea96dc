"""The relay: changes of a real source, read by clients that speak the protocol byte by byte."""

from __future__ import annotations

import csv
import json
import signal
import socket
import struct
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from support.relaying import (
    ADD_FILTER,
    AUTHENTICATE,
    DELETE,
    DISCONNECTED,
    EMPTY,
    ERROR,
    INSERT,
    OK,
    PING,
    POLL,
    UPDATE,
    Client,
    RelayProcess,
    Seen,
    frame,
    keys_of,
    relay_of,
    secret_of,
    text,
    until,
)
from support.world import SOURCE, World

from sluice.config.relay import Relay
from sluice.context import Context
from sluice.paths import PROJECT
from sluice.publish.retention import trim
from sluice.relay.client import RelayClient
from sluice.relay.payloads import EventKind
from sluice.store import relay_clients

pytestmark = pytest.mark.postgres

NAMES = [
    *(
        "standard",
        "other",
        "positions",
        "inserts",
        "discards 0",
        "discards 1",
        "discards 2",
        "watcher",
        "wishes",
        "twin",
    ),
    *("by the letter", "library", "order printer", "figured", "kept 9", "kept 15", "late", "left behind"),
    *(f"one of many {number}" for number in range(50)),
]
TABLES = ("public.people", "public.stock")
DDL = """
CREATE TABLE people (id int PRIMARY KEY, name text, born date, photo bytea);
CREATE TABLE stock (id int PRIMARY KEY, amount numeric(10, 2));
"""


@pytest.fixture(scope="module")
def world(server, tmp_path_factory) -> Iterator[World]:
    made = World(server, tmp_path_factory.mktemp("relay") / "world", DDL, TABLES)
    yield made
    made.close()
    server.drop_databases(made.infos.values())


@pytest.fixture(scope="module")
def relay(world) -> Iterator[RelayProcess]:
    csv_log = {"schema": "public", "exclude": ["stock"], "directory": "events"}
    with relay_of(world, NAMES, csv_log=csv_log, idle_s=20) as made:
        yield made


@pytest.fixture(autouse=True)
def empty(world):
    world.master.execute("DELETE FROM people; DELETE FROM stock")
    world.publish()


def stocked(world: World, first: int, last: int) -> None:
    """Commit rows of stock, each by itself, and publish them."""
    for number in range(first, last + 1):
        world.master.execute("INSERT INTO stock VALUES (%s, 1)", [number])
    world.publish()


def ids(events: list[Seen]) -> list[int]:
    return [int(one.columns[0][2]) for one in events]


@pytest.mark.parametrize(("name", "form"), [("standard", 0), ("other", 1)])
def test_each_kind_of_event_arrives_with_its_columns_before_and_after(world, relay, name, form):
    client = relay.client().log_in(name, keys_of(name)[form])
    client.filter("people")
    assert client.poll() is None
    world.master.execute("INSERT INTO people VALUES (1, 'Zoë', NULL, '\\xdead')")
    world.master.execute("UPDATE people SET name = '', born = '1815-12-10' WHERE id = 1")
    world.master.execute("INSERT INTO stock VALUES (1, 1.5)")
    world.master.execute("DELETE FROM people")
    world.publish()
    added, changed, deleted = client.events(3)
    assert (added.kind, added.schema, added.table) == (INSERT, "public", "people")
    assert added.columns == (("id", "", "1"), ("name", "", "Zoë"), ("born", "", "NULL"), ("photo", "", "\u07ad"))
    assert changed.kind == UPDATE
    assert changed.columns[1:3] == (("name", "Zoë", ""), ("born", "NULL", "1815-12-10"))
    assert deleted.kind == DELETE
    assert deleted.columns[:2] == (("id", "1", ""), ("name", "", ""))
    assert (added.left, changed.left, deleted.left) == (2, 1, 0)
    assert client.poll() is None


def test_positions_name_segment_and_change_and_grow(world, relay):
    client = relay.client().log_in("positions")
    client.filter("stock", INSERT)
    stocked(world, 1, 3)
    stocked(world, 4, 4)
    positions = [one.position for one in client.events(4)]
    number = world.context.manifest(SOURCE).end().segment
    assert positions == sorted(set(positions))
    assert [position >> 32 for position in positions] == [number - 1] * 3 + [number]


def test_a_filter_takes_the_kinds_that_it_names_alone(world, relay):
    client = relay.client().log_in("inserts")
    client.filter("stock", INSERT)
    world.master.execute("INSERT INTO stock VALUES (1, 1); UPDATE stock SET amount = 2")
    world.master.execute("INSERT INTO stock VALUES (2, 1)")
    world.publish()
    assert [one.kind for one in client.events(2)] == [INSERT, INSERT]
    assert client.poll() is None


@pytest.mark.parametrize(("discard", "kept"), [(0, [1, 2]), (1, [4, 5]), (2, [1, 2])])
def test_a_full_queue_discards_as_its_filter_says(world, relay, discard, kept):
    client = relay.client().log_in(f"discards {discard}")
    client.filter("stock", INSERT, discard, 2)
    watcher = relay.client().log_in("watcher")
    watcher.filter("stock", INSERT)
    stocked(world, 1, 5)
    assert ids(watcher.events(5)) == [1, 2, 3, 4, 5]
    assert ids(client.events(2)) == kept
    assert client.poll() is None
    # Another table's events are not its business.
    watcher.filter("stock", 0)


def test_what_is_not_allowed_is_answered_and_leads_nowhere(relay):
    client = relay.client()
    assert client.ask(ADD_FILTER, struct.pack("<BBI", 7, 0, 0) + text("public") + text("people"))[0] == ERROR
    assert client.ask(POLL)[0] == ERROR
    result, payload = client.ask(AUTHENTICATE, struct.pack("<QII", 1, 0, 0) + text("thief"))
    assert (result, payload) == (ERROR, b"the name or the secret is wrong\0")
    with pytest.raises(ConnectionError):
        client.ask(PING)
    client = relay.client().log_in("wishes")
    for kinds, discard in ((32, 0), (1, 3)):
        assert client.ask(ADD_FILTER, struct.pack("<BBI", kinds, discard, 0) + text("a") + text("b"))[0] == ERROR
    long = struct.pack("<BBI", 1, 0, 0) + text("a") + text("b" * 256)
    assert client.ask(ADD_FILTER, long)[0] == ERROR
    assert client.ask(9)[0] == ERROR
    assert client.ask(PING) == (OK, b"PONG\0")


def test_a_wrong_checksum_version_or_size_ends_the_connection(relay):
    good = frame(PING)
    for bad in (
        good[:20] + b"\1" + good[21:],
        frame(PING, version=1),
        struct.pack("<HHIIIIIII", 1, 0, 2**31, *[0] * 6),
    ):
        client = relay.client()
        client.socket.sendall(bad)
        assert client.reply()[0] == ERROR
        with pytest.raises(ConnectionError):
            client.reply()


def test_another_session_of_the_client_takes_over_and_the_first_is_disconnected(world, relay):
    first = relay.client().log_in("twin")
    first.filter("stock")
    stocked(world, 1, 2)
    assert ids(first.events(1)) == [1]
    second = relay.client().log_in("twin")
    assert first.ask(POLL) == (DISCONNECTED, b"")
    # It was not confirmed by another poll.
    assert ids(second.events(2)) == [1, 2]
    stranger = relay.client()
    stranger.client, stranger.token = second.client, second.token
    assert stranger.ask(POLL) == (DISCONNECTED, b"")


def test_a_client_that_reads_the_reply_to_its_login_as_id_and_token_alone_is_served(relay):
    client = relay.client().log_in("by the letter")
    key = keys_of("by the letter")[0]
    client.client, client.token = key & 0xFFFFFFFF, key >> 32
    assert client.ask(POLL) == (EMPTY, b"")


def test_the_client_library_polls_events(world, relay):
    with RelayClient("127.0.0.1", relay.port, secret_of("library"), "library") as client:
        client.add_filter("public", "people", EventKind.INSERT)
        world.master.execute("INSERT INTO people VALUES (7, NULL, NULL, NULL)")
        world.publish()
        event = next(client.events(0.02))
        assert (event.kind, event.table, event.columns[0].after) == (EventKind.INSERT, "people", "7")


def test_the_example_of_the_page_prints_what_changes(world, relay):
    page = (PROJECT / "include" / "docs" / "relay.md").read_text(encoding="utf-8")
    program = page.partition("```python\n")[2].partition("```")[0].replace("6002", str(relay.port))
    program = program.replace('"orders"', '"stock"')
    env = {"RELAY_SECRET": secret_of("order printer"), "PYTHONPATH": str(PROJECT / "include")}
    with subprocess.Popen([sys.executable, "-c", program], env=env, stdout=subprocess.PIPE, text=True) as printer:
        assert until(lambda: "order printer" in relay_clients.list_clients(world.context.store))
        stocked(world, 5, 5)
        assert printer.stdout.readline() == "INSERT public stock id  -> 5\n"
        printer.kill()


def test_fifty_clients_at_once_get_every_event(world, relay):
    found: dict[int, list[int]] = {}
    clients: list[Client] = [relay.client().log_in(f"one of many {number}") for number in range(50)]
    for client in clients:
        client.filter("stock", INSERT)
    stocked(world, 1, 40)

    def read(number: int) -> None:
        found[number] = ids(clients[number].events(40))

    threads = [threading.Thread(target=read, args=[number]) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: list(range(1, 41)) for number in range(50)}


def test_figures_are_for_those_who_know_the_admin_secret(world, relay):
    client = relay.client().log_in("figured")
    client.filter("stock", INSERT, 1, 3)
    stocked(world, 1, 5)
    assert until(lambda: relay.figures()["clients"] and mine(relay)["queue"] == 3)
    client.events(2)
    one = mine(relay)
    assert one["filters"] == [
        {"schema": "public", "table": "stock", "events": ["insert"], "discard": "oldest", "limit": 3}
    ]
    assert (one["queue"], one["largest_queue"], one["served"], one["discarded"]) == (1, 3, 2, 2)
    assert [last["delay_s"] is None for last in one["last_events"]] == [True, False]
    whole = relay.figures()
    (stock,) = [table for table in whole["tables"] if table["table"] == "stock"]
    assert stock["last_hour"]["inserts"] == stock["ever"]["inserts"] >= 5
    (people,) = [table for table in whole["schemas"] if table["table"] == "people"]
    assert people["columns"][0] == {"name": "id", "type": "integer", "nullable": False, "key": True}
    for wrong in ("guess", "\xff"):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            relay.figures(wrong)
    with socket.create_connection(("127.0.0.1", relay.admin_port)) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\nAuthorization: Basic \xff\r\n\r\n")
        assert stranger.recv(100).startswith(b"HTTP/1.1 401 ")


def test_events_are_logged_as_csv_but_for_excluded_tables(world, relay):
    world.master.execute("""INSERT INTO people VALUES (99, 'say "a, b"', NULL, NULL)""")
    stocked(world, 99, 99)

    def logged() -> list[dict[str, str]]:
        (file,) = (world.path / "events").glob("*.csv")
        assert file.stat().st_mode & 0o777 == 0o600
        with file.open(newline="") as lines:
            return [line for line in csv.DictReader(lines) if '"99"' in line["after"]]

    assert until(lambda: bool(logged()))
    (line,) = logged()
    assert (line["source"], line["event"], line["schema"], line["table"]) == (SOURCE, "INSERT", "public", "people")
    assert json.loads(line["after"])["name"] == 'say "a, b"'


@pytest.mark.full(but=["9"])
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_queues_and_filters_survive_a_restart(world, relay, how):
    client = relay.client().log_in(f"kept {int(how)}")
    client.filter("stock", INSERT)
    stocked(world, 1, 4)
    assert ids(client.events(2)) == [1, 2]
    relay.stop(how)
    stocked(world, 5, 6)
    relay.start()
    # What another poll did not confirm comes again; what was confirmed does so only after a kill.
    again = ids(relay.client().log_in(f"kept {int(how)}").events(5 if how is signal.SIGTERM else 6))
    assert again == ([2, 3, 4, 5, 6] if how is signal.SIGTERM else [1, 2, 3, 4, 5, 6])


def test_the_log_is_kept_for_a_client_that_comes_again(world, relay):
    client = relay.client().log_in("late")
    client.filter("stock", INSERT)
    client.close()
    stocked(world, 1, 2)
    stocked(world, 3, 3)
    world.catch_up()
    trim(configured(world, Relay()), SOURCE, keep=timedelta(0), warn_bytes=10**9)
    assert ids(relay.client().log_in("late").events(3)) == [1, 2, 3]


@pytest.mark.parametrize("settings", [None, Relay(forget_hours=0.00001)])
def test_no_log_is_kept_for_clients_if_no_relay_is_configured_or_their_time_is_over(world, relay, settings):
    relay.client().log_in("left behind").filter("stock", INSERT)
    relay.stop()
    stocked(world, 1, 1)
    stocked(world, 2, 2)
    world.catch_up()
    manifest = world.context.manifest(SOURCE)
    trim(configured(world, settings), SOURCE, keep=timedelta(0), warn_bytes=10**9)
    assert [one.number for one in manifest.kept_segments()] == [manifest.end().segment]
    relay.start()


@pytest.mark.slow
def test_a_second_relay_fences_the_first_out_and_forgets_who_does_not_come_or_takes_nothing(world, relay):
    with relay_of(world, ["lazy", "good"], forget_hours=0.001) as other:
        lazy, good = other.client().log_in("lazy"), other.client().log_in("good")
        lazy.filter("stock", INSERT)
        good.filter("stock", INSERT)
        stocked(world, 1, 1)
        assert ids(good.events(1)) == [1]
        assert until(lambda: good.poll() is None and lazy.ask(PING)[0] == DISCONNECTED)
        assert good.ask(PING)[0] == OK
        assert until(lambda: relay_clients.list_clients(world.context.store).keys() == {"good"})
        assert until(lambda: relay.process.poll() is not None)
        assert "SLC-050" in relay.log.read_text()
    relay.stop()
    relay.start()


def configured(world: World, settings: Relay | None) -> Context:
    """The context of a publisher, with or without a relay."""
    return replace(world.context, config=world.context.config.model_copy(update={"relay": settings}))


def mine(relay: RelayProcess) -> dict:
    return next(one for one in relay.figures()["clients"] if one["name"] == "figured")
