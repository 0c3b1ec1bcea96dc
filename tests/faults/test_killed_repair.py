"""A repair that is killed leaves the slave exact where it wrote, and as it was elsewhere (R3, R6, R10)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from support.several import harm
from support.updating import SOURCE, background, compare_here, points_void_soon

from sluice.crash import ENV as CRASH_ENV
from sluice.crash import CrashPoint
from sluice.model.names import Pair
from sluice.repair.rule_choice import choose
from sluice.repair.run import RepairRequest, repair
from sluice.store import comparisons

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, n int);
INSERT INTO t SELECT g, 0 FROM generate_series(1, 1500) AS g;
"""
REPAIR = """
from sluice.context import Context
from sluice.repair.run import RepairRequest, repair
from pytest import MonkeyPatch
from sluice.repair.rule_choice import choose
from support.updating import SOURCE, compare_here, points_void_soon
points_void_soon(MonkeyPatch())
repair(Context.from_environment(), RepairRequest({request}), compare_here)
"""


def killed(world, request: str, point: CrashPoint) -> None:
    """Repair in a process that dies at a point."""
    env = {**os.environ, **world.environment(), CRASH_ENV: point, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", REPAIR.format(request=request)]
    ended = subprocess.run(command, env=env, timeout=120, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


@pytest.mark.full
def test_a_repair_that_is_killed_is_exact_as_far_as_it_came(updating, monkeypatch):
    points_void_soon(monkeypatch)
    world = updating(DDL, ["public.t"], {}, slaves=["zurich"])
    world.update()
    world.verify(initial=True)
    slave = world.reader("zurich")
    slave.execute("UPDATE t SET n = 1 WHERE id <= 1200")
    with world.running():
        for point, left in ((CrashPoint.MERGED, 1200), (CrashPoint.COMMITTED, 700)):
            killed(world, 'SOURCE, "zurich"', point)
            assert slave.execute("SELECT count(*) FROM t WHERE n = 1").fetchone() == (left,)
        world.master.execute("UPDATE t SET n = 2 WHERE id % 100 = 0")
        done = repair(world.context, RepairRequest(SOURCE, "zurich"), compare_here, patience_s=90)
    assert 0 < done["written"] <= left
    assert world.rows("zurich", "public.t") == world.rows("master", "public.t")


@pytest.mark.full
def test_a_repair_that_is_killed_between_its_two_writes_is_finished_by_the_next_one(several, monkeypatch):
    """Of 1,300 rows the even ones are newer in the west, by the number and not by its text."""
    points_void_soon(monkeypatch)
    both = {pair: {"block_loop": True} for pair in (("east", "west"), ("west", "east"))}
    world = several("CREATE TABLE t (id int PRIMARY KEY, n int)", both, source={"capture": "log"})
    east, west = world.at("east"), world.at("west")
    east.execute("INSERT INTO t SELECT g, 9 FROM generate_series(1, 1300) AS g")
    world.until_quiet()
    harm(world, "west", "UPDATE t SET n = 10 - id % 2 * 2")
    run = [lambda name=name: world.publish(name) for name in ("east", "west")]
    run += [lambda pair=pair: world.drain(*pair) for pair in both]
    with background(*run, pause_s=0.02):
        killed(world, '"east", "west", rule=choose("newest", "n")', CrashPoint.COMMITTED)
        # Of 500 keys those that go to the west; of those that go to the east, none.
        (given,), left = (one.execute("SELECT count(*) FROM t WHERE n = 9").fetchone() for one in (west, east))
        assert (200 < given < 300, left) == (True, (1300,))
        east.execute("UPDATE t SET n = 20 WHERE id % 100 = 1")
        west.execute("UPDATE t SET n = 20 WHERE id % 100 = 2")
        report = comparisons.last(world.context.store, Pair("east", "west"))
        wanted = RepairRequest("east", "west", report=report, rule=choose("newest", "n"))
        done = repair(world.context, wanted, compare_here, patience_s=90)
    world.until_quiet()
    assert world.rows("east") == world.rows("west")
    ends = east.execute("SELECT n, count(*) FROM t GROUP BY n ORDER BY n").fetchall()
    assert ends == [(9, 637), (10, 637), (20, 26)]
    assert 650 - given - 13 <= done["to_slave"] <= 650 - given
    assert 637 <= done["to_source"] <= 650
    assert (done["undecided"], world.queued("east"), world.queued("west")) == (0, [], [])
