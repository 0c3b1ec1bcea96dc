"""The same file of spark_jobs/ runs over Spark Connect and under spark-submit, for real."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from support.sparkserver import SHORT_LIVED, TOKEN, job_environment, submit
from support.world import SOURCE

from sluice.config import PROJECT
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres, pytest.mark.spark, pytest.mark.slow]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, raw bytea, amount numeric, at timestamptz DEFAULT 'infinity');
CREATE TABLE heap (a int, note text);
INSERT INTO t SELECT g, decode(md5(g::text), 'hex'), g / 7.0 FROM generate_series(1, 2000) AS g;
INSERT INTO heap SELECT g % 3, nullif(g % 3, 0)::text FROM generate_series(1, 500) AS g;
"""
SLAVES = ["--slave", "zurich", "--slave", "geneva"]


@pytest.fixture(params=["connect", "submit"])
def job(request, java):
    """Runs a file of spark_jobs/ in one of the two ways; gives how it ended and its result."""
    env = job_environment(java)
    if request.param == "connect":
        server = request.getfixturevalue("spark_server")
        env |= {"SPARK_REMOTE": server.remote, "SPARK_CONNECT_AUTHENTICATE_TOKEN": TOKEN}
        command = [sys.executable]
    else:
        command = [submit(), "--master", "local[2]", "--conf", "spark.ui.enabled=false"]
        command += ["--conf", f"spark.driver.extraJavaOptions={SHORT_LIVED}"]

    def run(world, name, *arguments):
        file = PROJECT / "spark_jobs" / f"{name}.py"
        words = [*command, str(file), "--source", SOURCE, *arguments]
        done = subprocess.run(words, env={**env, **world.environment()}, capture_output=True, text=True, timeout=300)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        return done, json.loads(lines[-1]) if lines else None

    return run


def test_a_dump_is_exact_and_a_verification_finds_what_is_wrong_with_one_slave(updating, job):
    world = updating(DDL, ["public.t", "public.heap"])
    world.inhibit()
    done, dumped = job(world, "dump", *SLAVES)
    assert done.returncode == 0, done.stderr
    assert (dumped["rows"], dumped["failed"]) == (2500, {})
    world.release()
    world.master.execute("UPDATE t SET amount = -amount WHERE id < 100; DELETE FROM heap WHERE a = 1")
    world.reader("zurich").execute("UPDATE t SET amount = 0 WHERE id = 777")
    with world.running():
        done, _ = job(world, "verify", *SLAVES, "--initial")
    assert done.returncode == 3
    said = done.stderr + done.stdout
    assert "SLC-090: the slaves are not what the master is: public.t on zurich: 0 missing, 0 extra, 1 changed" in said
    assert "type: airflow dags trigger initial_update --conf" in said
    assert [world.status(slave) for slave in world.slaves] == [Status.INCONSISTENT, Status.NORMAL]
