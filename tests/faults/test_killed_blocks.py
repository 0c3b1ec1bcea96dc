"""A load in blocks that is killed in the middle of a block, or whose slave crashes: nothing is lost, nothing comes
twice, and nobody else is held up (R3, R8, R10)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from support.updating import SOURCE, background, blocks_here, points_void_soon

from sluice.crash import ENV as CRASH_ENV
from sluice.crash import CrashPoint
from sluice.errors import TransientError
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.dump import ONLINE
from sluice.model.names import TableName
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import replications

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, n int);
INSERT INTO t SELECT g, 0 FROM generate_series(1, 1500) AS g;
"""
BLOCKS = """
from sluice.context import Context
from sluice.initial_update.blocks.load import load_online
from pytest import MonkeyPatch
from support.updating import SOURCE, blocks_here, points_void_soon
points_void_soon(MonkeyPatch())
load_online(Context.from_environment(), SOURCE, ["zurich"], blocks_here)
"""


SMALL = {"blocks": {"rows": 400, "patience_s": 30}}


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    points_void_soon(monkeypatch)


@pytest.fixture
def world(updating):
    made = updating(DDL, ["public.t"], source=SMALL)
    replications.record(made.context.store, made.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    return made


def killed(world, point):
    """The job `blocks` in a process of its own that dies at this point."""
    env = {**os.environ, **world.environment(), CRASH_ENV: point, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", BLOCKS], env=env, timeout=120, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def loaded(world):
    """How many rows came in blocks."""
    return world.reader("zurich").execute("SELECT sum(rows) FROM sluice_ranges").fetchone()[0]


def begun(world, *slaves, **how):
    slaves = slaves or ("zurich",)
    world.inhibit(*slaves, **how)
    world.dump(*slaves, mode=ONLINE)
    world.release(*slaves)


def ended(world, *slaves):
    load_online(world.context, SOURCE, slaves or ["zurich"], blocks_here)


@pytest.mark.full
def test_a_load_in_blocks_that_is_killed_goes_on_with_whole_blocks(world):
    begun(world)
    changing = world.session()
    with world.running("zurich"):
        killed(world, CrashPoint.MERGED)
        assert loaded(world) == world.rows("zurich", "public.t").total() == 0
        ended(world)
        assert loaded(world) == 1500
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    changing.execute("DELETE FROM t WHERE id % 10 = 0")
    world.publish()
    world.drain("zurich")
    zurich = world.reader("zurich")
    zurich.execute("DELETE FROM t WHERE id < 300; UPDATE t SET n = 7 WHERE id BETWEEN 500 AND 600")
    zurich.execute("INSERT INTO t SELECT g FROM generate_series(700, 800, 10) AS g; ANALYZE t")

    begun(world, keys=["public.t: ..1000"])
    writes = "UPDATE t SET n = n - 1 WHERE id = 1 + n % 3"
    with background(lambda: changing.execute(writes), pause_s=0.1), world.running("zurich"):
        killed(world, CrashPoint.CHUNK_LOADED)
        assert 0 < loaded(world) <= 400
        ended(world)
    assert world.verify("zurich", initial=True, tables=(TableName("public", "t"),)) == {"zurich": 0}
    assert world.status("zurich") is Status.NORMAL


@pytest.mark.full
def test_what_others_count_on_outlives_a_crash_of_the_slave(updating, fragile):
    world = updating(DDL, ["public.t"], elsewhere={"zurich": fragile}, source=SMALL)
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    begun(world)
    fragile.kill()
    with world.running("zurich"):
        ended(world)
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    fragile.kill()
    world.reconnect("zurich")
    assert world.rows("zurich", "public.t") == world.rows("master", "public.t")


@pytest.mark.full
def test_a_slave_that_cannot_be_reached_holds_nobody_up_and_is_filled_later(updating, restartable):
    world = updating(DDL, ["public.t"], elsewhere={"zurich": restartable}, source=SMALL)
    begun(world, *world.slaves)
    restartable.stop("immediate")
    with world.running("geneva"), pytest.raises(TransientError, match="SLC-030"):
        ended(world, *world.slaves)
    assert world.rows("geneva", "public.t").total() == 1500
    restartable.start()
    world.reconnect("zurich")
    with world.running():
        ended(world, *world.slaves)
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
