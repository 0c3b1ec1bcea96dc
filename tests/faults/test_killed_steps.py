"""Processes that do a step's work in Spark are killed in the middle of it: their job goes on with what is left, nothing
is lost, and nothing arrives twice (R2, R3, R6)."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest
from support import places
from support.halting import halted
from support.several import harm
from support.sparkserver import TOKEN, job_environment, serving
from support.updating import background
from support.world import SOURCE

from sluice.crash import CrashPoint
from sluice.paths import PROJECT

pytestmark = [pytest.mark.full, pytest.mark.postgres, pytest.mark.spark, pytest.mark.slow]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE heap (a int, b text)"

MANY = "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t SELECT g, 'a' FROM generate_series(1, 1300) AS g"


def change(world):
    """Transactions enough for a sweep, or a batch, after each of those that are killed."""
    for number in range(5):
        world.master.execute("INSERT INTO t VALUES (%s, 'a'), (%s, 'b')", [number, 100 + number])
        world.master.execute("INSERT INTO heap VALUES (1, 'x'), (1, 'x')")
        world.master.execute("UPDATE t SET v = 'c' WHERE id = %s", [number])


@pytest.fixture
def world(build):
    made = build(DDL, ["public.t", "public.heap"], source={"segments": {"max_changes": 4}}, slave={"max_batch": 4})
    change(made)
    return made


def started(world, command, env, directory, name, *arguments, source=SOURCE):
    words = [*command, str(PROJECT / "spark_jobs" / f"{name}.py"), "--source", source, *arguments]
    out = subprocess.PIPE
    return subprocess.Popen(words, env={**env, **world.environment()}, cwd=directory, stdout=out, stderr=out, text=True)


def ended(job):
    """What a job said that did its work."""
    out, errors = job.communicate(timeout=240)
    assert job.returncode == 0, out + errors
    return out + errors


def is_whole(world):
    world.catch_up()
    assert world.differences() == {}
    keys = [row["repl_key"] for row in world.log()]
    assert len(keys) == len(set(keys)) == 5 * 5


def executor(worker):
    """The process that a machine of the cluster has started for the job."""
    return next(one for one in worker.parents() if "CoarseGrainedExecutorBackend" in " ".join(one.cmdline()))


def test_workers_and_executors_that_are_killed_in_a_step(world, spark_cluster, java, tmp_path):
    points = {
        ("publish", "--once"): (CrashPoint.WRITTEN, CrashPoint.LISTED, CrashPoint.PURGED),
        ("drain", "--slave", "zurich", "--once"): (CrashPoint.STAGED, CrashPoint.MERGED, CrashPoint.DELIVERED),
    }
    for words, passed in points.items():
        job = started(world, spark_cluster.submit(), job_environment(java), tmp_path, *words)
        for point in passed:
            with halted(spark_cluster.halts, point, job) as worker:
                if point in (CrashPoint.LISTED, CrashPoint.MERGED):
                    executor(worker).kill()
        ended(job)
    assert world.queued() == set()
    assert world.position() == world.context.manifest(SOURCE).end()
    is_whole(world)


def test_rows_of_a_repair_whose_executors_are_killed_are_counted_once(updating, spark_cluster, java, tmp_path):
    """One dies before it commits 500 of 1,300 keys, and one behind that, before it says so."""
    world = updating(MANY, ["public.t"], {}, slaves=["zurich"])
    world.update()
    world.verify(initial=True)
    world.reader("zurich").execute(
        "UPDATE t SET v = 'b' WHERE id <= 600; INSERT INTO t SELECT -id FROM t WHERE id > 600"
    )
    with world.running():
        job = started(world, spark_cluster.submit(), job_environment(java), tmp_path, "repair", "--slave", "zurich")
        for point in (CrashPoint.MERGED, CrashPoint.COMMITTED):
            with halted(spark_cluster.halts, point, job) as worker:
                executor(worker).kill()
        said = ended(job)
    assert "1,300 keys: 700 rows deleted, 600 inserted or updated; compared again: equal" in said


def test_rows_of_a_repair_in_both_directions_whose_executors_are_killed_are_counted_once(
    several, spark_cluster, java, tmp_path
):
    """Of 1,300 rows the even ones are newer in the west. Of 500 keys those that go to the west are written first."""
    both = {pair: {"block_loop": True} for pair in (("east", "west"), ("west", "east"))}
    world = several("CREATE TABLE t (id int PRIMARY KEY, n int)", both)
    world.at("east").execute("INSERT INTO t SELECT g, 9 FROM generate_series(1, 1300) AS g")
    world.until_quiet()
    harm(world, "west", "UPDATE t SET n = 10 - id % 2 * 2")
    run = [lambda name=name: world.publish(name) for name in ("east", "west")]
    run += [lambda pair=pair: world.drain(*pair) for pair in both]
    words = ["repair", "--slave", "west", "--rule", "newest", "--column", "n"]
    with background(*run):
        job = started(world, spark_cluster.submit(), job_environment(java), tmp_path, *words, source="east")
        for point in (CrashPoint.MERGED, CrashPoint.COMMITTED):
            with halted(spark_cluster.halts, point, job) as worker:
                executor(worker).kill()
        said = ended(job)
    assert "650 rows to the slave's side, 650 to the source's, 0 left by the rule, 0 undecided, 0 left" in said
    world.until_quiet()
    assert world.rows("east") == world.rows("west")


def test_a_connect_server_that_is_killed_in_a_step_and_started_again(world, java, tmp_path):
    port = places.reserve_port()
    (directory := tmp_path / "server").mkdir()
    with serving(directory, port, java) as server:
        there = {"SPARK_REMOTE": server.remote, "SPARK_CONNECT_AUTHENTICATE_TOKEN": TOKEN}
        env = {**job_environment(java), **there}
        job = started(world, [sys.executable], env, tmp_path, "publish", "--once")
        with halted(server.halts, CrashPoint.LISTED, job):
            psutil.Process(server.pid).kill()
    with serving(directory, port, java):
        assert "step again" in ended(job)
    assert world.queued() == set()
    is_whole(world)
