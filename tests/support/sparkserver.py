"""A Spark Connect server of the test session, started once: with event log and pages, which the demo's has not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from support import places
from support.short_jvm import SHORT_LIVED

from sluice.crash import ENV as CRASH_ENV
from sluice.paths import PROJECT
from sluice.runtime import ports
from sluice.runtime.java import java_home

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
TOKEN = "token-of-the-test-session"
READY_S = 180
LOG = "server.log"


@dataclass(frozen=True)
class SparkServer:
    """A running server.

    Attributes:
        directory: holds its event log, its log and everything else that it writes.
        halts: where its tasks look whether they are to stop, see `halting`.
    """

    directory: Path
    remote: str
    pages: str
    pid: int
    halts: Path


def job_environment(java: Path) -> dict[str, str]:
    """What every process of a job needs, and no more: this Python, the package, the key, Java."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "TZ", "SLUICE_SEAL_KEY_FILE") if name in os.environ}
    return {
        **kept,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join([str(PROJECT / "include"), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "JAVA_HOME": str(java),
        "SPARK_LOCAL_IP": ports.LOOPBACK,
    }


def program(name: str) -> str:
    """One of Spark's programs, as this environment has them."""
    return str(Path(sys.executable).with_name(name))


@pytest.fixture(scope="session")
def java(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A JAVA_HOME that Spark works with."""
    return java_home(tmp_path_factory.mktemp("java"))


@pytest.fixture(scope="session")
def spark_server(tmp_path_factory: pytest.TempPathFactory, seal_key: Path, java: Path) -> Iterator[SparkServer]:
    """The server; it ends with the session."""
    assert seal_key.exists()
    port = places.reserve_port()
    with serving(tmp_path_factory.mktemp("connect"), port, java) as server:
        yield server


@contextmanager
def serving(directory: Path, port: int, java: Path) -> Iterator[SparkServer]:
    """A server at this port, which ends with the block."""
    for folder in ("events", "halts"):
        (directory / folder).mkdir(exist_ok=True)
    page = places.reserve_port()
    conf = {
        "spark.connect.grpc.binding.address": ports.LOOPBACK,
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": ports.LOOPBACK,
        "spark.driver.bindAddress": ports.LOOPBACK,
        "spark.driver.extraJavaOptions": SHORT_LIVED,
        "spark.ui.port": str(page),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (directory / "events").as_uri(),
        "spark.local.dir": str(directory / "local"),
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
    }
    words = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    command = [
        program("spark-submit"),
        "--master",
        "local[2]",
        "--driver-memory",
        "1g",
        *words,
        "--class",
        SERVER,
        "spark-internal",
    ]
    halts = directory / "halts"
    env = {**job_environment(java), "SPARK_CONNECT_AUTHENTICATE_TOKEN": TOKEN, CRASH_ENV: str(halts)}
    with started(command, env, directory) as server:
        await_port(server, port, directory)
        yield SparkServer(directory, f"sc://localhost:{port}", f"http://{ports.LOOPBACK}:{page}", server.pid, halts)


@contextmanager
def started(command: Sequence[str], env: Mapping[str, str], directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server whose working directory, with its log, this is; it ends with the block, and all that it started."""
    with (directory / LOG).open("wb") as log:
        server = subprocess.Popen(command, env=env, cwd=directory, stdout=log, stderr=log, process_group=0)
    try:
        yield server
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait(20)


def await_port(server: subprocess.Popen[bytes], port: int, directory: Path) -> None:
    """Wait until the server listens there."""
    end = time.monotonic() + READY_S
    while ports.is_free(port):
        assert server.poll() is None, (directory / LOG).read_text()
        assert time.monotonic() < end, "the server did not start"
        time.sleep(0.1)
