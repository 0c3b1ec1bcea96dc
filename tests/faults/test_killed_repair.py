"""A repair that is killed leaves the slave exact where it wrote, and as it was elsewhere (R3, R6, R10)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from support.updating import SOURCE, compare_here, points_void_soon

from sluice.crash import ENV as CRASH_ENV
from sluice.crash import CrashPoint
from sluice.repair.run import RepairRequest, repair

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, n int);
INSERT INTO t SELECT g, 0 FROM generate_series(1, 1500) AS g;
"""
REPAIR = """
from sluice.context import Context
from sluice.repair.run import RepairRequest, repair
from pytest import MonkeyPatch
from support.updating import SOURCE, compare_here, points_void_soon
points_void_soon(MonkeyPatch())
repair(Context.of_job(), RepairRequest(SOURCE, "zurich"), compare_here)
"""


@pytest.mark.parametrize(
    ("point", "left"), [(CrashPoint.STAGED, 1200), (CrashPoint.MERGED, 1200), (CrashPoint.COMMITTED, 700)]
)
def test_a_repair_that_is_killed_is_exact_as_far_as_it_came(updating, monkeypatch, point, left):
    points_void_soon(monkeypatch)
    world = updating(DDL, ["public.t"], {}, slaves=["zurich"])
    world.update()
    world.verify(initial=True)
    slave = world.reader("zurich")
    slave.execute("UPDATE t SET n = 1 WHERE id <= 1200")
    env = {**os.environ, **world.environment(), CRASH_ENV: point, "PYTHONPATH": os.pathsep.join(sys.path)}
    with world.running():
        ended = subprocess.run([sys.executable, "-c", REPAIR], env=env, timeout=120, capture_output=True, text=True)
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        assert slave.execute("SELECT count(*) FROM t WHERE n = 1").fetchone() == (left,)
        world.master.execute("UPDATE t SET n = 2 WHERE id % 100 = 0")
        done = repair(world.context, RepairRequest(SOURCE, "zurich"), compare_here, patience_s=90)
    assert 0 < done["written"] <= left
    assert world.rows("zurich", "public.t") == world.rows("master", "public.t")
