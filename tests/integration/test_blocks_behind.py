"""Blocks of a slave that is behind: none is begun while it lacks too much, and one that moves is waited for (R10)."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from support.updating import background, blocks_here, load_here, publishers_take_their_time
from support.world import SOURCE

from sluice.crash import CrashPoint
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.dump import dump
from sluice.state.replication import ReplicationEvent
from sluice.store import replications
from sluice.store.replications import read_holdback

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE a (id int PRIMARY KEY, note text);
INSERT INTO a SELECT g, repeat('x', 700) FROM generate_series(1, 3000) AS g;
"""


@pytest.fixture
def begun(updating, monkeypatch):
    """A world whose zurich is on its way in blocks of 600 rows: ``begun(patience_s=3)``."""

    publishers_take_their_time(monkeypatch)

    def one(**blocks):
        made = updating(DDL, ["public.a"], source={"blocks": {"rows": 600, **blocks}})
        made.configure(lambda settings: settings["slaves"]["zurich"].update(max_batch=1))
        replications.record(made.context.store, made.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
        made.inhibit("zurich")
        assert dump(made.context, SOURCE, ["zurich"], load_here, mode="online")["failed"] == {}
        made.release("zurich")
        return made

    return one


def loaded(world, load=blocks_here):
    load_online(world.context, SOURCE, ["zurich"], load)


def changed(world, times):
    """So many transactions of the log that zurich lacks."""
    for number in range(times):
        world.master.execute("UPDATE a SET note = 'new' WHERE id = %s", [number + 1])
    world.publish()


@pytest.mark.full
def test_a_load_pauses_for_what_is_not_its_share(begun):
    world, spans = begun(duty_cycle=0.25), []

    def noted(job):
        began = time.monotonic()
        done = blocks_here(job)
        time.sleep(0.2)
        spans.append((began, time.monotonic()))
        return done

    with world.running("zurich"):
        loaded(world, noted)
    assert len(spans) > 2
    for (began, ended), (after, _) in pairwise(spans):
        assert after - ended >= 3 * (ended - began)


@pytest.mark.full
def test_no_block_is_begun_while_the_slave_is_too_far_behind(begun):
    world, lags = begun(max_lag_s=60), []
    changed(world, 1)
    world.reader("control").execute("UPDATE segment SET published_at = published_at - interval '1 hour'")

    def noted(job):
        lags.append(read_holdback(world.context.store, world.pair("zurich"))[1])
        return blocks_here(job)

    with background(world.publish), ThreadPoolExecutor(1) as pool:
        loading = pool.submit(loaded, world, noted)
        time.sleep(3)
        before = list(lags)
        with background(lambda: world.drain("zurich")):
            loading.result()
    assert before == []
    assert lags
    assert max(lags) <= 60
    assert world.verify("zurich", initial=True) == {"zurich": 0}


@pytest.mark.full
def test_a_slave_that_comes_nearer_is_waited_for(begun, monkeypatch):
    world, refused = begun(patience_s=6), []
    changed(world, 8)

    def noted(job):
        done = blocks_here(job)
        refused.extend(one.error.message for one in done if one.error)
        return done

    def slowly(point):
        if point is CrashPoint.DELIVERED:
            time.sleep(1)

    with monkeypatch.context() as patch:
        patch.setattr("sluice.drain.pipeline.crash_if_asked", slowly)
        with world.running("zurich"):
            loaded(world, noted)
    assert refused == []
    assert world.verify("zurich", initial=True) == {"zurich": 0}


@pytest.mark.full
def test_a_slave_that_stands_is_not_waited_for_and_its_block_comes_later(begun):
    world, refused = begun(patience_s=2), []
    changed(world, 1)

    def noted(job):
        done = blocks_here(job)
        refused.extend(one.error.code for one in done if one.error)
        if refused:
            world.drain("zurich")
        return done

    with background(world.publish):
        loaded(world, noted)
    assert set(refused) == {91}
    assert world.verify("zurich", initial=True) == {"zurich": 0}
