"""The Spark layer of the wheel with each PySpark that it runs with: by spark-submit, and on a Spark Connect server."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from support import places, stock
from support.short_jvm import SHORT_LIVED
from support.sparkserver import SERVER, await_port, started
from support.sparkserver import java as java
from support.stock_deployment import CONFIG

from sluice.runtime import ports

pytestmark = [pytest.mark.full, pytest.mark.slow, pytest.mark.spark]

PROGRAM = Path(stock.__file__).with_name("spark_layer.py")
CAME_BACK = {
    "rows": [[0, "row 0"], [1, "row 1"]],
    "errors": [[3, "there is no 2", "name another"]],
    "lost": {"done": True},
    "cancelled": 376,
}
VERSIONS = ["3.5", "4.0", "4.1", "4.2", "4.3"]
# 3.5 asks for NumPy 1, and a later PyArrow for NumPy 2, which it does not say.
BESIDE = {"3.5": ["pyarrow<20"]}
# The server of 3.5 is in no package of Python; a later one serves its client.
SERVERS = {version: version for version in VERSIONS} | {"3.5": "4.0"}
PROPERTIES = {
    "spark.driver.host": ports.LOOPBACK,
    "spark.driver.bindAddress": ports.LOOPBACK,
    "spark.driver.extraJavaOptions": SHORT_LIVED,
    "spark.ui.enabled": "false",
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    @cache
    def install(version):
        packages = [f"pyspark[connect]=={version}.*", *BESIDE.get(version, ())]
        return stock.install_beside_spark(tmp_path_factory.mktemp("spark"), *packages).bin

    return install


@pytest.fixture
def env(java, tmp_path):
    (tmp_path / "replication.yaml").write_text(CONFIG)
    return {
        **{name: os.environ[name] for name in ("HOME", "LANG", "TZ") if name in os.environ},
        "JAVA_HOME": str(java),
        "SPARK_LOCAL_IP": ports.LOOPBACK,
        "SLUICE_CONFIG": str(tmp_path / "replication.yaml"),
        "SLUICE_HOME": str(tmp_path),
        "SLUICE_SEAL_KEY_FILE": str(tmp_path / "seal.key"),
    }


def submit(programs, env, *words, **properties):
    """The command that submits this, and its environment."""
    options = [word for name, value in (PROPERTIES | properties).items() for word in ("--conf", f"{name}={value}")]
    python = {"PYSPARK_PYTHON": str(programs / "python"), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    return [str(programs / "spark-submit"), "--master", "local[2]", *options, *map(str, words)], env | python


def run(command, env, place):
    return subprocess.run(command, env=env, cwd=place, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize("version", VERSIONS)
def test_tasks_come_back_by_spark_submit(programs, version, env, tmp_path):
    command, driver_env = submit(programs(version), env, PROGRAM, tmp_path)
    done = run(command, driver_env, tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == CAME_BACK | {"connect": False}


@pytest.mark.parametrize(("version", "of_server"), SERVERS.items())
def test_tasks_come_back_from_a_spark_connect_server(programs, version, of_server, env, tmp_path):
    port = places.reserve_port()
    address = {"spark.connect.grpc.binding.address": ports.LOOPBACK, "spark.connect.grpc.binding.port": port}
    command, server_env = submit(programs(of_server), env, "--class", SERVER, "spark-internal", **address)
    with ExitStack() as stack:
        await_port(stack.enter_context(started(command, server_env, tmp_path)), port, tmp_path)
        remote = env | {"SPARK_REMOTE": f"sc://localhost:{port}"}
        done = run([str(programs(version) / "python"), str(PROGRAM), str(tmp_path)], remote, tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == CAME_BACK | {"connect": True}


def test_a_pair_of_two_versions_is_refused_before_spark_starts(env, tmp_path):
    pair = stock.install_beside_spark(tmp_path, "pyspark[connect]==4.2.1", beside=["pyspark-client==4.2.0"])
    done = run([str(pair.bin / "python"), str(PROGRAM), str(tmp_path)], env, tmp_path)
    assert "SLC-923: pyspark 4.2.1 and pyspark-client 4.2.0 are installed" in done.stderr
