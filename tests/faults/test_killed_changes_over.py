"""A source changes over, and each job that has a part in it dies at each place where it may."""

from __future__ import annotations

import signal

import pytest
from support.changing_over import DDL, SLOTS, TABLES, change, expect_equal, over, write

from sluice.crash import CrashPoint

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


def killed(world, point, job="publish", *arguments):
    died = world.job(job, *arguments, crash_at=point)
    assert died.returncode == -signal.SIGKILL, died.stderr
    world.let_leases_expire()


def test_killed_on_the_way_to_the_log(build):
    world = build(DDL, TABLES)
    write(world, 1)
    change(world, "log")
    killed(world, CrashPoint.SLOT_MADE, "bootstrap")
    write(world, 3)
    # Nothing has changed, and nothing is left of it.
    assert not over(world, "triggers")
    assert world.master.execute(SLOTS).fetchone() == (0,)
    change(world, "log")
    killed(world, CrashPoint.CHANGED_OVER, "bootstrap")
    write(world, 7)
    # The queue is published, then the slot.
    killed(world, CrashPoint.LISTED, "publish", "--once")
    write(world, 9)
    expect_equal(world)


@pytest.mark.full
def test_killed_on_the_way_to_triggers(build):
    world = build(DDL, TABLES, source={"capture": "log"})
    write(world, 1)
    world.master.execute("ALTER TABLE t ADD more int DEFAULT 1")
    change(world, "triggers")
    killed(world, CrashPoint.CHANGED_OVER, "bootstrap")
    write(world, 3)
    # The slot is published, then the queue.
    killed(world, CrashPoint.SLOT_READ, "publish", "--once")
    assert world.master.execute(SLOTS).fetchone() == (1,)
    expect_equal(world)
    assert world.master.execute(SLOTS).fetchone() == (0,)
