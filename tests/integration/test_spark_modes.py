"""The same file of spark_jobs/ runs over Spark Connect, under spark-submit, and on a cluster, for real."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from support.buckets import KEYS
from support.carrying import Carried
from support.short_jvm import SHORT_LIVED
from support.sizes import BLOCK_BYTES
from support.sparkserver import TOKEN, job_environment, program
from support.updating import background, load_here
from support.world import SOURCE

from sluice import release
from sluice.errors import SluiceError
from sluice.initial_update.chunks import plan
from sluice.initial_update.options import ONLINE
from sluice.paths import PROJECT
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres, pytest.mark.spark, pytest.mark.slow]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, raw bytea, amount numeric, at timestamptz DEFAULT 'infinity');
CREATE TABLE heap (a int, note text);
INSERT INTO t SELECT g, decode(md5(g::text), 'hex'), g / 7.0 FROM generate_series(1, 2000) AS g;
INSERT INTO heap SELECT g % 3, nullif(g % 3, 0)::text FROM generate_series(1, 500) AS g;
"""
SLAVES = ["--slave", "zurich", "--slave", "geneva"]


@pytest.fixture
def job(request, java, tmp_path):
    """Runs a file of spark_jobs/ in one of these ways."""
    if request.param == "cluster":
        return runner(request.getfixturevalue("spark_cluster").submit(), java, tmp_path)
    if request.param == "connect":
        server = request.getfixturevalue("spark_server")
        there = {"SPARK_REMOTE": server.remote, "SPARK_CONNECT_AUTHENTICATE_TOKEN": TOKEN}
        return runner([sys.executable], java, tmp_path, there)
    command = [program("spark-submit"), "--master", "local[2]", "--conf", "spark.ui.enabled=false"]
    return runner([*command, "--conf", f"spark.driver.extraJavaOptions={SHORT_LIVED}"], java, tmp_path, KEYS)


def runner(command, java, directory, there=()):
    """Runs a file of spark_jobs/ by a command, in a directory; gives how it ended and its result."""

    def run(world, name, *arguments):
        file = PROJECT / "spark_jobs" / f"{name}.py"
        words = [*command, str(file), "--source", SOURCE, *arguments]
        env = {**job_environment(java), **dict(there), **world.environment()}
        done = subprocess.run(words, env=env, cwd=directory, capture_output=True, text=True, timeout=300)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        return done, json.loads(lines[-1]) if lines else None

    return run


@pytest.mark.full
@pytest.mark.parametrize("job", ["connect"], indirect=True)
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


@pytest.mark.full
def test_on_a_cluster_a_dump_goes_on_where_it_broke_off(updating, spark_cluster, java, tmp_path, monkeypatch):
    """Nobody shares a directory: the driver has one, and each worker has one with its own copy of the product."""
    world = updating(DDL, ["public.t", "public.heap"])
    job = runner(spark_cluster.submit(), java, tmp_path)
    monkeypatch.setattr(plan, "CHUNK_BYTES", 8 * BLOCK_BYTES)
    world.inhibit("zurich")
    with pytest.raises(SluiceError, match="SLC-080: 3 of"):
        world.dump("zurich", load=lambda job: load_here(replace(job, chunks=job.chunks[:3])))
    world.master.execute("UPDATE t SET amount = -amount WHERE id < 700; DELETE FROM heap WHERE a = 1")
    world.inhibit()
    with background(world.publish):
        done, dumped = job(world, "dump", *SLAVES, "--resume")
    assert done.returncode == 0, done.stderr
    assert dumped["failed"] == {}
    assert "resumed slave=zurich chunks=" in done.stdout, done.stdout
    assert spark_cluster.imported() == [True, True]
    world.release()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}


@pytest.mark.full
def test_on_a_cluster_initial_data_is_stored_in_files_and_loaded_from_them(updating, spark_cluster, java, tmp_path):
    carried = Carried(updating(DDL, ["public.t", "public.heap"]), tmp_path / "by_hand")
    world = carried.world
    job = runner(spark_cluster.submit(), java, tmp_path)
    world.inhibit()
    done, stored = job(world, "dump", *SLAVES, "--store")
    assert done.returncode == 0, done.stderr
    assert (stored["rows"], stored["failed"]) == (2500, {})
    world.release()
    world.master.execute("UPDATE t SET amount = -amount WHERE id < 700; DELETE FROM heap WHERE a = 1")
    for slave in world.slaves:
        carried.carry(slave)
    done, received = job(world, "receive", "--slave", "geneva")
    assert done.returncode == 0, done.stderr
    assert received["rows"] == carried.receive("zurich")["rows"] == 2500
    world.release("geneva")
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}


@pytest.mark.full
def test_an_executor_with_another_build_moves_nothing_and_is_named(updating, spark_cluster, java, tmp_path):
    """It has not even the function that the job asks it for."""
    world = updating(DDL, ["public.t", "public.heap"])
    world.update()
    world.master.execute("DELETE FROM heap WHERE a = 1")
    job = runner(spark_cluster.submit(), java, tmp_path)
    files = [worker / "product" / "include" / "sluice" / "publish" / "step.py" for worker in spark_cluster.workers]
    text = files[0].read_text()
    try:
        for file in files:
            file.write_text(text.replace("def sweep(", "def swept("))
        done, _ = job(world, "publish", "--once")
    finally:
        for file in files:
            file.write_text(text)
    assert done.returncode == 75
    said = done.stderr + done.stdout
    named = re.search(r"SLC-377: the executor on \S+ has Sluice (.+), and its job Sluice (.+)", said)
    assert named, said
    assert [one.partition(" (build ")[0] for one in named.groups()] == [release.VERSION] * 2
    assert named[1] != named[2] == release.build()
    assert world.publish()["changes"] == 167, "nothing was moved before"


@pytest.mark.full
@pytest.mark.parametrize("job", ["cluster"], indirect=True)
def test_jobs_load_in_blocks_and_find_that_nothing_differs(updating, job):
    tables = {"public.t": {}, "public.heap": {"load_in_blocks": False}}
    world = updating(DDL, tables, source={"blocks": {"rows": 900, "patience_s": 60}})
    world.inhibit()
    world.dump(mode=ONLINE)
    world.release()
    assert world.rows("zurich", "public.t").total() == 0
    writes = "UPDATE t SET amount = amount + 1 WHERE id % 7 = 0"
    with background(lambda: world.master.execute(writes), pause_s=0.2), world.running():
        done, loaded = job(world, "blocks", *SLAVES)
        assert done.returncode == 0, done.stderr
        assert all(rows > 1000 for rows in loaded["rows"].values()), loaded
        done, _ = job(world, "verify", *SLAVES, "--initial")
    assert done.returncode == 0, done.stderr
    assert [world.status(slave) for slave in world.slaves] == [Status.NORMAL] * 2


@pytest.mark.full
@pytest.mark.parametrize("job", ["submit"], indirect=True)
def test_publishing_and_draining_work_in_tasks(updating, job, bucket):
    """By Connect they do in the test below; its server was started before there was a login for the store."""
    world = updating(DDL, ["public.t", "public.heap"])
    world.configure(lambda plain: plain.update(change_log=bucket("log")))
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    world.master.execute("UPDATE t SET amount = -amount WHERE id < 700; DELETE FROM heap WHERE a = 1")
    world.reader("zurich").execute("DELETE FROM t WHERE id = 5")
    done, published = job(world, "publish", "--once")
    assert done.returncode == 0, done.stderr + done.stdout
    assert (published["segments"], published["changes"]) == (1, 866)
    assert (done.stderr + done.stdout).count("segment source=flights number=1") == 1, (
        "what a task does is in the log of its job"
    )
    done, delivered = job(world, "drain", "--slave", "zurich", "--once")
    assert done.returncode == 0, done.stderr
    assert (delivered["changes"], delivered["tolerated"]) == (866, 1)
    assert world.differences().keys() == {("geneva", "t"), ("geneva", "heap")}
    world.reader("geneva").execute("ALTER TABLE branch.t ADD CHECK (amount > 0) NOT VALID")
    done, _ = job(world, "drain", "--slave", "geneva", "--once")
    assert done.returncode == 3
    # spark-submit prints both on its standard output.
    assert "The slave stands in front of transaction" in done.stderr + done.stdout
    assert world.standing("geneva").stuck


@pytest.mark.full
def test_the_event_log_tells_who_works_for_whom(updating, spark_server, java, tmp_path):
    world = updating(DDL, ["public.t", "public.heap"])
    there = {"SPARK_REMOTE": spark_server.remote, "SPARK_CONNECT_AUTHENTICATE_TOKEN": TOKEN}
    job = runner([sys.executable], java, tmp_path, there)

    def tasks():
        logs = [file for file in (spark_server.directory / "events").rglob("events*") if file.is_file()]
        return sum(file.read_text().count('"Event":"SparkListenerTaskEnd"') for file in logs), logs

    world.update()
    world.publish()
    world.master.execute("UPDATE t SET amount = 1 WHERE id = 1")
    for step, arguments in (
        ("publish flights", ("publish", "--once")),
        ("drain flights -> zurich", ("drain", "--slave", "zurich", "--once")),
    ):
        before, _ = tasks()
        assert job(world, *arguments)[1]["changes"] == 1
        after, logs = tasks()
        assert after == before + 1
        assert any(f"Tag_sluice.{step}" in file.read_text() for file in logs)
