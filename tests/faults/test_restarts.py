"""A source that is restarted while a publisher sweeps it: the run ends as worth a retry, and the next one loses nothing
and repeats nothing (R2)."""

from __future__ import annotations

import pytest
from support.waiting import await_steps, until

from sluice.crash import CrashPoint
from sluice.errors import TransientError
from sluice.publish import publisher as publishing
from sluice.spark.job import TRANSIENT

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE heap (a int, b text)"
TABLES = ["public.t", "public.heap"]


@pytest.fixture
def world(build, restartable):
    return build(DDL, TABLES, elsewhere={"master": restartable})


def write(world, number):
    """Two transactions; a row without a key would be there twice if one of them were delivered twice."""
    with world.session() as session:
        session.execute(f"INSERT INTO t VALUES ({number}, 'a'); INSERT INTO heap VALUES (1, 'x'), (1, 'x')")
        session.execute(f"UPDATE t SET v = 'b' WHERE id = {number}")


def all_arrived(world, changes):
    """Everything is delivered, each change once."""
    world.reconnect("master")
    world.catch_up()
    keys = [change["repl_key"] for change in world.log()]
    return world.differences() == {} and len(keys) == len(set(keys)) == changes


def test_a_restart_in_mid_sweep_is_worth_a_retry_which_loses_and_repeats_nothing(world, restartable):
    write(world, 1)
    # The sweep has begun, with its snapshot and its lock on the fence, and waits for what it reads next.
    watching, holding = world.session(), world.session()
    holding.execute("BEGIN; LOCK TABLE repl_layouts IN ACCESS EXCLUSIVE MODE")
    job = world.start("publish", "--once")
    waits = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'sluice publish' AND wait_event_type = 'Lock'"
    until(lambda: watching.execute(waits).fetchone() or job.poll() is not None, seconds=120)
    assert job.poll() is None
    restartable.restart("immediate")
    _, errors = job.communicate(timeout=240)
    assert job.returncode == TRANSIENT, errors
    assert "\nSLC-030: " in f"\n{errors}"
    assert errors.splitlines()[-1].startswith("HINT: ")
    assert all_arrived(world, 4)


def test_a_restart_at_any_point_of_a_sweep_loses_and_repeats_nothing(world, restartable, monkeypatch):
    points = {CrashPoint.SWEPT: "immediate", CrashPoint.WRITTEN: "fast", CrashPoint.LISTED: "immediate"}
    for number, (point, mode) in enumerate(points.items()):
        write(world, number)

        def restart(at, point=point, mode=mode):
            if at is point:
                restartable.restart(mode)

        with monkeypatch.context() as patch:
            patch.setattr(publishing, "crash_if_asked", restart)
            with pytest.raises(TransientError, match="SLC-030"):
                world.publish()
            # The run may have failed at its own look at the source, while the step still waits for the restart.
            await_steps()
    assert all_arrived(world, 4 * len(points))
