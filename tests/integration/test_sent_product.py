"""A standalone cluster whose executors have no product but the zip that comes with the job, by `--py-files`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from support.sparkcluster import clustered
from support.sparkserver import job_environment
from support.world import SOURCE

from sluice.dev import wheel
from sluice.paths import PROJECT
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres, pytest.mark.spark, pytest.mark.slow, pytest.mark.full]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, raw bytea, amount numeric);
INSERT INTO t SELECT g, decode(md5(g::text), 'hex'), g / 7.0 FROM generate_series(1, 2000) AS g;
"""
SLAVES = ["--slave", "zurich", "--slave", "geneva"]


@pytest.fixture
def cluster(tmp_path, seal_key, java):
    with clustered(tmp_path / "cluster", seal_key, java, product=False) as cluster:
        yield cluster


@pytest.fixture
def python(tmp_path):
    """A Python with all packages of this environment, but not ours."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "executors"], check=True)
    (packages,) = (tmp_path / "executors").glob("lib/python*/site-packages")
    # Links to folders that are in a folder of links are not followed.
    (packages / "theirs.pth").write_text(sysconfig.get_path("purelib"))
    made = tmp_path / "executors" / "bin" / "python"
    lacks = subprocess.run([made, "-c", "import pyarrow, sluice"], env={}, capture_output=True, text=True, check=False)
    assert "No module named 'sluice'" in lacks.stderr
    return made


def test_jobs_whose_product_is_sent_capture_fill_and_publish(updating, cluster, python, java, tmp_path):
    world = updating(DDL, ["public.t"])
    (built,) = wheel.build(tmp_path, "wheel")
    archive = Path(shutil.copy(built, tmp_path / "sluice.zip"))

    def run(name, *arguments):
        words = [*cluster.submit(), "--py-files", str(archive), str(PROJECT / "spark_jobs" / f"{name}.py")]
        env = job_environment(java) | world.environment() | {"PYSPARK_PYTHON": str(python)}
        done = subprocess.run(
            [*words, "--source", SOURCE, *arguments], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])

    run("bootstrap")
    run("inhibit", *SLAVES)
    dumped = run("dump", *SLAVES)
    assert (dumped["rows"], dumped["failed"]) == (2000, {})
    world.release()
    world.master.execute("UPDATE t SET amount = -amount WHERE id < 700")
    run("publish", "--once")
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    assert [world.status(slave) for slave in world.slaves] == [Status.NORMAL] * 2
