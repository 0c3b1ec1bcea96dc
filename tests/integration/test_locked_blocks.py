"""Blocks of a table that somebody has locked are put off and come back: neither others nor the stream wait for it."""

from __future__ import annotations

import threading
import time

import pytest
from support.updating import blocks_here, load_here
from support.world import SOURCE

from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.dump import dump
from sluice.state.replication import ReplicationEvent
from sluice.store import replications

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE a (id int PRIMARY KEY, note text);
CREATE TABLE z (id int PRIMARY KEY, note text);
INSERT INTO a SELECT g, repeat('x', 700) FROM generate_series(1, 3000) AS g;
INSERT INTO z SELECT g, repeat('x', 700) FROM generate_series(1, 3000) AS g;
"""
LOADED = 'SELECT coalesce(sum(rows), 0) FROM sluice_ranges WHERE "table" = %s'
LONG_S = 120


@pytest.fixture
def world(updating):
    """Two tables of two ranges each, on their way to zurich in blocks, two at the same time."""
    made = updating(DDL, ["public.a", "public.z"], source={"blocks": {"rows": 600, "patience_s": 60}})
    made.configure(lambda settings: settings.update(bulk_tasks=2))
    replications.record(made.context.store, made.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    made.inhibit("zurich")
    assert dump(made.context, SOURCE, ["zurich"], load_here, mode="online")["failed"] == {}
    made.release("zurich")
    return made


def loaded(world, table):
    return world.reader("zurich").execute(LOADED, [table]).fetchone()[0]


@pytest.mark.full
@pytest.mark.parametrize(("side", "mode"), [("master", "ACCESS EXCLUSIVE"), ("zurich", "SHARE")])
def test_ranges_of_a_locked_table_go_behind_the_others(world, side, mode):
    tried, why = [], []
    # Publishing looks at publications, as those of capture by the log, and not at their tables.
    world.master.execute("CREATE PUBLICATION others FOR TABLE a")
    with world.session(side) as lock:
        lock.autocommit = True
        lock.execute(f"BEGIN; LOCK TABLE a IN {mode} MODE")

        def load(job):
            tried.append({str(one.table) for one in job.ranges})
            done = blocks_here(job)
            why.extend(one.error.code for one in done if one.error)
            if loaded(world, "z") == 3000 and "public.a" in tried[-1] and len(tried) > 3:
                lock.execute("ROLLBACK")
            elif len(tried) > 20:
                raise AssertionError(tried)
            return done

        with world.running("zurich"):
            load_online(world.context, SOURCE, ["zurich"], load)
    assert tried[0] == {"public.a"}
    assert tried[1] == {"public.z"}
    assert set(why) == {36}
    assert world.verify("zurich", initial=True) == {"zurich": 0}


@pytest.mark.full
def test_the_stream_goes_on_while_a_table_of_the_slave_is_locked(world):
    took, in_meanwhile = [], []
    with world.session("zurich") as lock, world.session() as master, world.session("zurich") as slave:
        lock.execute("BEGIN; LOCK TABLE a IN SHARE MODE")

        def writes():
            for number in range(10000, 10010):
                began = time.monotonic()
                master.execute("INSERT INTO z VALUES (%s, 'new')", [number])
                while slave.execute("SELECT FROM z WHERE id = %s", [number]).fetchone() is None:
                    if time.monotonic() > began + LONG_S:
                        lock.execute("ROLLBACK")
                    time.sleep(0.05)
                took.append(time.monotonic() - began)
                time.sleep(0.5)
            in_meanwhile.append(loaded(world, "a"))
            lock.execute("ROLLBACK")

        writing = threading.Thread(target=writes)
        writing.start()
        with world.running("zurich"):
            load_online(world.context, SOURCE, ["zurich"], blocks_here)
            writing.join()
    assert in_meanwhile == [0]
    assert max(took) < LONG_S
    assert world.verify("zurich", initial=True) == {"zurich": 0}
