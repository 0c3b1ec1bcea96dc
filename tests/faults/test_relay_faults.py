"""The relay while its control store is away, and with a segment that was damaged: it lives, and goes on afterwards."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from support.relaying import ADD_FILTER, EMPTY, ERROR, INSERT, POLL, relay_of, text, until

from sluice.model.position import START

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


@pytest.fixture
def world(build, restartable):
    return build("CREATE TABLE stock (id int PRIMARY KEY)", ["public.stock"], elsewhere={"control": restartable})


def ids(events):
    return [int(one.columns[0][2]) for one in events]


@pytest.mark.full
def test_queues_are_served_while_the_control_store_is_away_and_nothing_is_lost(world, restartable):
    with relay_of(world, ["patient"]) as relay:
        client = relay.client().log_in("patient")
        client.filter("stock", INSERT)
        world.master.execute("INSERT INTO stock SELECT generate_series(1, 3)")
        world.publish()
        assert ids(client.events(1)) == [1]
        restartable.stop("immediate")
        assert ids(client.events(2)) == [2, 3]
        assert until(lambda: "SLC-060" in relay.log.read_text())
        restartable.start()
        world.master.execute("INSERT INTO stock VALUES (4)")
        world.publish()
        assert ids(client.events(1)) == [4]
        assert client.ask(POLL)[0] == EMPTY
        assert relay.stop() == 0
        relay.start()
        again = relay.client().log_in("patient")
        world.master.execute("INSERT INTO stock VALUES (5)")
        world.publish()
        assert ids(again.events(1)) == [5]


@pytest.mark.full
def test_a_store_that_hangs_is_an_error_to_those_who_wait_for_it(world):
    with relay_of(world, ["waiting"]) as relay:
        client = relay.client().log_in("waiting")
        with world.context.store.session() as session, session.transaction():
            session.execute("LOCK TABLE relay_client")
            result, payload = client.ask(ADD_FILTER, struct.pack("<BBI", 7, 0, 0) + text("public") + text("stock"))
            assert (result, b"SLC-060" in payload or payload) == (ERROR, True)
        client = relay.client().log_in("waiting")
        client.filter("stock", INSERT)
        world.master.execute("INSERT INTO stock VALUES (1)")
        world.publish()
        assert ids(client.events(1)) == [1]


@pytest.mark.full
def test_a_damaged_segment_is_reported_and_served_once_it_is_mended_and_stops_no_other_client(world):
    with relay_of(world, ["careful", "further"]) as relay:
        client, other = relay.client().log_in("careful"), relay.client().log_in("further")
        client.filter("stock", INSERT)
        other.filter("stock", INSERT)
        client.close()
        world.master.execute("INSERT INTO stock VALUES (1)")
        world.publish()
        assert ids(other.events(1)) == [1]
        assert other.poll() is None
        *_, newest = world.context.manifest("flights").ahead("nobody", START)
        relay.stop()
        world.master.execute("INSERT INTO stock VALUES (2)")
        world.publish()
        file = Path(world.settings["change_log"]) / f"{newest.file.name}.parquet"
        whole = file.read_bytes()
        file.chmod(0o600)
        file.write_bytes(whole[:-1] + b"?")
        relay.start()
        client = relay.client().log_in("careful")
        assert until(lambda: "SLC-047" in relay.log.read_text())
        assert ids(relay.client().log_in("further").events(1)) == [2]
        assert client.ask(POLL)[0] == EMPTY
        file.write_bytes(whole)
        assert ids(client.events(2)) == [1, 2]
        assert relay.log.read_text().count("SLC-047") == 1
