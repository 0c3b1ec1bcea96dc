"""A Spark standalone cluster: one master and two workers, each with a directory, a copy of the product and a key file
of its own, as on machines of their own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support import places
from support.short_jvm import SHORT_LIVED
from support.sparkserver import await_port, job_environment, program, started

from sluice.connections import KEY_FILE_ENV
from sluice.crash import ENV as CRASH_ENV
from sluice.paths import PROJECT
from sluice.runtime import ports

_DAEMON = "org.apache.spark.deploy"
_WORKERS = 2


@dataclass(frozen=True)
class SparkCluster:
    """A running cluster.

    Attributes:
        workers: the directories of its workers; what they import is in `product` there.
        halts: where its executors look whether they are to stop, see `halting`.
        options: those of each JVM.
    """

    master: str
    workers: tuple[Path, ...]
    halts: Path
    options: str

    def submit(self) -> list[str]:
        """The words that run a job on every worker at the same time."""
        properties = {
            "spark.ui.enabled": "false",
            "spark.driver.host": ports.LOOPBACK,
            "spark.driver.bindAddress": ports.LOOPBACK,
            "spark.driver.extraJavaOptions": self.options,
            "spark.executor.extraJavaOptions": self.options,
            "spark.executor.memory": "512m",
            "spark.cores.max": str(_WORKERS),
            # All of them are to have a part in it, however long they take to start on a busy machine.
            "spark.scheduler.minRegisteredResourcesRatio": "1",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
        }
        words = [word for name, value in properties.items() for word in ("--conf", f"{name}={value}")]
        return [program("spark-submit"), "--master", self.master, *words]

    def imported(self) -> list[bool]:
        """For each worker whether its own copy of the product was used there."""
        return [any((worker / "product").rglob("__pycache__/task.*.pyc")) for worker in self.workers]


@pytest.fixture(scope="session")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory, seal_key: Path, java: Path) -> Iterator[SparkCluster]:
    """The cluster; it ends with the session."""
    with clustered(tmp_path_factory.mktemp("cluster"), seal_key, java) as cluster:
        yield cluster


@contextmanager
def clustered(place: Path, seal_key: Path, java: Path, *, product: bool = True) -> Iterator[SparkCluster]:
    """A cluster that ends with the block; without the product its workers have the key file alone."""
    env = {**job_environment(java), "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED, "SPARK_DAEMON_MEMORY": "256m"}
    port = places.reserve_port()
    url = f"spark://{ports.LOOPBACK}:{port}"
    with ExitStack() as stack:

        def begin(directory: Path, words: list[str], env: Mapping[str, str], port: int) -> tuple[Any, int, Path]:
            directory.mkdir(parents=True, exist_ok=True)
            where = ["--host", ports.LOOPBACK, "--port", str(port), "--webui-port", str(places.reserve_port())]
            command = [program("spark-class"), f"{_DAEMON}.{words[0]}", *where, *words[1:]]
            return stack.enter_context(started(command, env, directory)), port, directory

        await_port(*begin(place / "master", ["master.Master"], env, port))
        (halts := place / "halts").mkdir()
        env[CRASH_ENV] = str(halts)
        workers = [_machine(place / f"worker{number}", seal_key, product) for number in range(_WORKERS)]
        words = ["worker.Worker", "--cores", "1", "--memory", "1g", url]
        for one in [begin(worker, words, env | own, places.reserve_port()) for worker, own in workers]:
            await_port(*one)
        yield SparkCluster(url, tuple(worker for worker, _ in workers), halts, SHORT_LIVED)


def _machine(directory: Path, seal_key: Path, product: bool) -> tuple[Path, dict[str, str]]:
    """A directory with what a machine of a cluster needs; its environment."""
    (directory / "product" / "include").mkdir(parents=True)
    for folder in ("include/sluice", "sql") if product else ():
        shutil.copytree(PROJECT / folder, directory / "product" / folder, ignore=shutil.ignore_patterns("__pycache__"))
    key = Path(shutil.copy(seal_key, directory))
    return directory, {"PYTHONPATH": str(directory / "product" / "include"), KEY_FILE_ENV: str(key)}
