"""Trimming the change log: never what a slave has not made durable, never what is younger than its time (R3)."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest
from support.world import SOURCE

from sluice.crash import CrashPoint
from sluice.errors import SluiceError
from sluice.publish import publisher
from sluice.publish.retention import trim
from sluice.state.replication import ReplicationEvent
from sluice.store import replications

pytestmark = [pytest.mark.postgres]
AT_ONCE = timedelta(0)
DOWN = "the master is down"


@pytest.fixture
def world(build):
    made = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], slaves=("zurich", "geneva"))
    for number in range(4):
        made.master.execute("INSERT INTO t VALUES (%s)", [number])
        made.publish()
    return made


def trimmed(world, keep=AT_ONCE, warn_bytes=10**9):
    return trim(world.context, SOURCE, keep=keep, warn_bytes=warn_bytes)


def test_what_every_slave_has_goes_in_time_but_the_newest_segment(world):
    before = world.context.files().names()
    world.drain("zurich")
    assert trimmed(world) == 0, "one slave still needs it"
    world.drain("geneva")
    assert world.differences() == {}
    assert trimmed(world, keep=timedelta(hours=1)) == 0, "nothing goes before its time"
    assert trimmed(world) == 3
    assert world.context.files().names() == before[-1:]
    assert trimmed(world) == 0
    listed = world.session("control").execute("SELECT number FROM segment ORDER BY number").fetchall()
    assert listed == [(2,), (3,), (4,)], "of what was trimmed the last sweeps tell how far that is"
    world.master.execute("INSERT INTO t VALUES (9)")
    world.catch_up()
    assert world.differences() == {}


def test_what_a_purge_that_was_missed_has_still_to_read_stays_and_goes_after_it(world, monkeypatch):
    """The master goes down before the purge of a sweep, and comes back when every slave has what was listed of it."""
    world.master.execute("INSERT INTO t SELECT generate_series(10, 12)")
    for number in (13, 14):
        world.master.execute("INSERT INTO t VALUES (%s)", [number])

    def goes_down(at):
        if at is CrashPoint.LISTED and world.context.manifest(SOURCE).end().segment == 6:
            raise RuntimeError(DOWN)

    monkeypatch.setattr(publisher, "crash_if_asked", goes_down)
    with pytest.raises(RuntimeError, match=DOWN):
        world.publisher().publish(16)
    monkeypatch.undo()
    for slave in world.slaves:
        world.drain(slave)
    went = trimmed(world)
    world.catch_up()
    assert (went, world.queued(), world.differences()) == (4, set(), {})
    world.master.execute("INSERT INTO t VALUES (15)")
    world.catch_up()
    assert trimmed(world) == 2


@pytest.mark.full
def test_a_slave_that_needs_an_initial_update_anyway_holds_nothing_back(world):
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.BREAK)
    world.drain("zurich")
    assert trimmed(world) == 3


def test_a_slave_that_is_being_filled_needs_what_came_since_then(world):
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.REQUEST)
    world.drain("zurich")
    assert trimmed(world) == 0


def test_a_slave_behind_the_trimmed_part_is_told_to_start_an_initial_update(world):
    world.drain("zurich")
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.BREAK)
    trimmed(world)
    for event in (ReplicationEvent.REQUEST, ReplicationEvent.DUMPED, ReplicationEvent.VERIFIED):
        replications.record(world.context.store, world.pair("geneva"), event)
    with pytest.raises(SluiceError, match="SLC-042: slave geneva") as told:
        world.drain("geneva")
    assert "initial_update" in told.value.hint
    assert not world.rows("geneva", "public.t")


@pytest.mark.full
def test_a_log_that_grew_large_warns(world, caplog):
    with caplog.at_level(logging.INFO, logger="sluice"):
        trimmed(world, warn_bytes=1)
    assert "change log is large" in caplog.text
    assert f"source={SOURCE}" in caplog.text
