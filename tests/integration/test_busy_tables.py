"""Triggers are installed on tables in use: no writer waits for that, and steady load does not keep it off (R9)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import TransientError

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE a (id int); CREATE TABLE b (id int); CREATE TABLE spare (id int)"


@pytest.fixture
def world(build):
    """A source that watches one table and is to watch two more."""
    made = build(DDL, ["public.spare"])
    tables = {f"public.{name}": {} for name in ("a", "b", "spare")}
    made.configure(lambda plain: plain["sources"][SOURCE].update(tables=tables))
    return made


@contextmanager
def load(world, clients=3):
    """Clients that write both tables in transactions of about 20 ms, one after the other without a pause; each must be
    let in at once, which here means that it waits for seconds at the most. Gives how many rows each has committed."""
    over, written = Event(), [0] * clients

    def write(client):
        with world.session() as session:
            session.execute("SET lock_timeout = '20s'")
            while not over.is_set():
                with session.transaction():
                    session.execute("INSERT INTO a VALUES (1); SELECT pg_sleep(0.01)")
                    session.execute("INSERT INTO b VALUES (1); SELECT pg_sleep(0.01)")
                written[client] += 1

    with ThreadPoolExecutor(clients) as pool:
        ends = [pool.submit(write, client) for client in range(clients)]
        try:
            yield written
        finally:
            over.set()
            for end in ends:
                end.result()


def test_steady_load_does_not_keep_triggers_off_and_is_captured_from_then_on(world):
    with load(world) as written:
        assert bootstrap(world.context, SOURCE)["added"] == ["public.a", "public.b"]
        before = list(written)
        while any(now < then + 3 for now, then in zip(written, before, strict=True)):
            assert world.publish()["changes"] >= 0
    world.publish()
    rows = [change["new"] for change in world.log() if change["action"] == "I"]
    assert len(rows) >= 2 * 2 * len(before)
    assert len(rows) <= 2 * sum(written)


def test_a_transaction_that_stays_open_holds_up_the_installation_and_no_other_writer(world):
    slow, other = world.session(), world.session()
    slow.execute("BEGIN; INSERT INTO a VALUES (1)")
    other.execute("SET lock_timeout = '20s'")
    tries = "SELECT count(*) FROM pg_locks WHERE relation IN ('a'::regclass, 'b'::regclass) AND NOT granted"
    with ThreadPoolExecutor(1) as pool:
        installing = pool.submit(bootstrap, world.context, SOURCE)
        try:
            while other.execute(tries).fetchone() == (0,):
                assert not installing.done()
            for _ in range(20):
                other.execute("INSERT INTO a VALUES (2); INSERT INTO b VALUES (2)")
            assert not installing.done()
        finally:
            slow.execute("COMMIT")
        assert installing.result()["added"] == ["public.a", "public.b"]
    other.execute("INSERT INTO b VALUES (7)")
    world.publish()
    assert [change["action"] for change in world.log()] == ["N", "N", "I"]


@pytest.mark.full
def test_an_installation_that_never_gets_the_lock_changes_nothing_and_can_be_tried_again(world, monkeypatch):
    monkeypatch.setattr("sluice.vendors.postgresql.capture.queue.triggers._LOCK_TRIES", 2)
    slow = world.session()
    slow.execute("BEGIN; INSERT INTO a VALUES (1)")
    with pytest.raises(TransientError, match=r"SLC-036: public.a, public.b cannot be locked") as caught:
        bootstrap(world.context, SOURCE)
    assert "pg_stat_activity" in caught.value.hint
    assert world.master.execute("SELECT tablename FROM repl_tables").fetchall() == [("spare",)]
    world.master.execute("INSERT INTO b VALUES (1)")
    slow.execute("COMMIT")
    assert bootstrap(world.context, SOURCE)["added"] == ["public.a", "public.b"]
