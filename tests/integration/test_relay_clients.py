"""Clients of the relay: that of the original in PHP, and what each may read."""

from __future__ import annotations

import base64
import json
import os
import struct
import subprocess
from collections.abc import Iterator

import pytest
from support.relaying import (
    ADD_FILTER,
    AUTHENTICATE,
    COMMAND,
    DELETE,
    ERROR,
    INSERT,
    PING,
    TRUNCATE,
    PhpClient,
    RelayProcess,
    frame,
    keys_of,
    relay_of,
    secret_of,
    text,
)
from support.world import World

from sluice.paths import PROJECT

pytestmark = pytest.mark.postgres

# The path of the original's class in PHP, for those who have it and `php`.
PHP_CLASS = os.environ.get("SLUICE_RELAY_PHP_CLASS")
# Its place in a request.
_CHECKSUM = 20


@pytest.fixture(scope="module")
def world(server, tmp_path_factory) -> Iterator[World]:
    ddl = "CREATE TABLE people (id int PRIMARY KEY, name text, born date, photo bytea)"
    made = World(server, tmp_path_factory.mktemp("relay") / "world", ddl, ["public.people"])
    yield made
    made.close()
    server.drop_databases(made.infos.values())


@pytest.fixture(scope="module")
def relay(world) -> Iterator[RelayProcess]:
    clients = {
        "php itself": {"connection": "php itself", "tables": ["public.people"]},
        "narrow": {"connection": "narrow", "tables": ["public.p*", "other.*"]},
    }
    named = ("php False", "php True", "commands", "old name")
    clients |= {name: {"connection": name, "tables": ["public.*"]} for name in named}
    with relay_of(world, [*clients], clients=clients) as made:
        yield made


@pytest.fixture(autouse=True)
def empty(world):
    world.master.execute("DELETE FROM people")
    world.publish()


@pytest.mark.full(but=["False"])
@pytest.mark.parametrize("second", [False, True])
def test_a_client_in_php_is_served_whatever_the_size_of_its_events(world, relay, second):
    client = relay.client(PhpClient).log_in(f"php {second}")
    instance = int(relay.figures()["server"]["started_at"]) if second else None
    client.filter("people", INSERT)
    world.master.execute(
        "INSERT INTO people SELECT n, repeat('x', 100000), NULL, '\\x00ff' FROM generate_series(1, 3) n"
    )
    world.publish()
    found = client.events(3, instance)
    assert [one.columns[0][2] for one in found] == ["1", "2", "3"]
    assert found[0].columns[1:] == (("name", "", "x" * 100_000), ("born", "", "NULL"), ("photo", "", "\0\udcff"))
    assert client.poll(instance) is None
    # It comes again by the same object, which still names the session before.
    again = relay.client(PhpClient)
    again.client, again.token = client.client, client.token
    again.log_in(f"php {second}")


if PHP_CLASS:

    def test_the_class_of_the_original_itself_reads_events(world, relay):
        script = PROJECT / "tests" / "support" / "relay_reader.php"
        command = ["php", script, PHP_CLASS, str(relay.port), "php itself", secret_of("php itself"), "people", "3"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
            assert reader.stdout.readline() == "ready\n"
            world.master.execute("INSERT INTO people SELECT n, 'Zoë', NULL, '\\x00ff' FROM generate_series(1, 3) n")
            world.publish()
            seen = [json.loads(line) for line in reader.stdout]
        texts = [[base64.b64decode(value) for value in values] for _, _, values in seen]
        assert texts == [[str(number).encode(), "Zoë".encode(), b"NULL", b"\0\xff"] for number in (1, 2, 3)]


def test_truncates_and_commands_are_events_of_their_own_kinds(world, relay):
    client, old = relay.client().log_in("commands"), relay.client().log_in("old name")
    client.filter("later", TRUNCATE | COMMAND)
    old.filter("people", COMMAND | TRUNCATE | DELETE)
    world.master.execute("TRUNCATE people; ALTER TABLE people RENAME TO later; ALTER TABLE later ADD more int")
    world.master.execute("ALTER TABLE later DROP more; ALTER TABLE later RENAME TO people")
    world.publish()
    truncated, *altered = old.events(3)
    assert (truncated.kind, truncated.table, truncated.columns) == (TRUNCATE, "people", ())
    assert {one.kind for one in altered} == {COMMAND}
    assert altered[0].columns[0] == ("command", "", "ALTER")
    assert [one.table for one in client.events(3)] == ["later"] * 3


@pytest.mark.parametrize(
    ("name", "of"), [("narrow", "commands"), ("nobody", "narrow"), ("x" * 256, "narrow"), ("", "narrow")]
)
def test_a_secret_lets_its_own_client_in_and_no_other(relay, name, of):
    login = struct.pack("<QII", keys_of(of)[0], 0, 0) + text(name)
    assert relay.client().ask(AUTHENTICATE, login) == (ERROR, b"the name or the secret is wrong\0")


def test_a_client_that_sends_wrong_frames_is_named_in_the_log_now_and_then(relay):
    for _ in range(9):
        client = relay.client().log_in("narrow")
        wrong = bytearray(frame(PING, b"", client.client, client.token))
        wrong[_CHECKSUM] ^= 1
        client.socket.sendall(wrong)
        assert client.reply() == (ERROR, b"the checksum is wrong\0")
    told = [line.partition("malformed frame ")[2] for line in relay.log.read_text().splitlines()]
    why = "client=narrow why='the checksum is wrong'"
    assert [*filter(None, told)] == [f"{why} times={number}" for number in (1, 2, 4, 8)]


def test_a_client_has_filters_of_tables_that_it_may_read_alone(world, relay):
    client = relay.client().log_in("narrow")
    client.filter("people", INSERT)
    for schema, table in (("public", "stock"), ("pg_catalog", "people"), ("Public", "people")):
        wish = struct.pack("<BBI", 7, 0, 0) + text(schema) + text(table)
        assert client.ask(ADD_FILTER, wish) == (ERROR, b"this client may not read that table\0")
    client.close()
    # What it was allowed before is not kept.
    relay.stop()
    relay.start(clients={"narrow": {"connection": "narrow", "tables": ["public.stock"]}})
    again = relay.client().log_in("narrow")
    world.master.execute("INSERT INTO people VALUES (1)")
    world.publish()
    assert [one["filters"] for one in relay.figures()["clients"] if one["name"] == "narrow"] == [[]]
    assert again.poll() is None
