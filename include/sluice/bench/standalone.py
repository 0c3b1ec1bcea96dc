"""A standalone Spark cluster on the loopback, and a Connect server that works on it, for the time of a bench."""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from sluice import loopback
from sluice.connections import KEY_FILE_ENV
from sluice.paths import PROJECT
from sluice.runtime import ports, processes
from sluice.runtime.java import java_home
from sluice.runtime.paths import BIN, write_private
from sluice.runtime.processes import Service
from sluice.runtime.spark_connect import PREFERRED_PORT, READY_S, SERVER
from sluice.runtime.terminal import Progress
from sluice.spark_environment import REMOTE_ENV, TOKEN_ENV
from sluice.storage import private_files

WORKERS = 2
# Of each worker. More than cores: tasks wait for databases most of the time.
_SLOTS = 6
# Not where a demo's begin to look.
_PORT = PREFERRED_PORT + 60
_SMALL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
_PATIENCE_S = 10.0


@dataclass(frozen=True)
class Standalone:
    """A running cluster.

    Attributes:
        services: master, workers and the Connect server.
        page: the URL of the Connect server's REST API.
    """

    services: Sequence[Service]
    page: str

    def cpu_s(self) -> float:
        """Processor seconds of Spark's virtual machines and Python workers, also of ended ones."""
        return cpu_s(processes.family(self.services))

    def tasks(self) -> int:
        """The number of slots that are held now."""
        (application,) = self._ask("applications")
        executors = self._ask(f"applications/{application['id']}/executors")
        return sum(int(executor["activeTasks"]) for executor in executors)

    def _ask(self, what: str) -> list[dict[str, Any]]:
        with loopback.opener().open(f"{self.page}/api/v1/{what}", timeout=_PATIENCE_S) as answer:
            entries: list[dict[str, Any]] = json.load(answer)
        return entries


def cpu_s(running: Iterable[psutil.Process]) -> float:
    """Processor seconds that processes have taken, with those of children that they outlived."""
    total = 0.0
    for process in running:
        try:
            total += sum(process.cpu_times()[:4])
        except psutil.NoSuchProcess:
            continue
    return total


@contextmanager
def cluster(directory: Path, progress: Progress) -> Iterator[Standalone]:
    """A master, two workers and a Connect server; who asks for a session in this process's environment gets one there.

    The environment must have the file of the sealing key already.
    """
    java = java_home(directory / "java")
    token = secrets.token_urlsafe(32)
    env = {
        "JAVA_HOME": str(java),
        "PATH": os.pathsep.join([str(BIN), str(java / "bin"), os.environ.get("PATH", os.defpath)]),
        "PYTHONPATH": str(PROJECT / "include"),
        "PYSPARK_PYTHON": sys.executable,
        KEY_FILE_ENV: os.environ[KEY_FILE_ENV],
        "SPARK_LOCAL_IP": ports.LOOPBACK,
    }
    chosen_ports: list[int] = []

    def port(name: str) -> int:
        chosen_ports.append(ports.choose(name, _PORT, chosen_ports))
        return chosen_ports[-1]

    services: list[Service] = []
    begun = _Beginner(directory / "spark", env, services)
    try:
        with progress.step("starting a Spark cluster of two workers"):
            first = port("Spark's master")
            url = f"spark://{ports.LOOPBACK}:{first}"
            begun.daemon("master", first, port("Spark's master"))
            for number in range(1, WORKERS + 1):
                work = str(begun.home / f"worker-{number}")
                own = ["--cores", str(_SLOTS), "--memory", "1g", "--work-dir", work, url]
                begun.daemon(f"worker-{number}", port("a worker"), port("a worker"), own)
            grpc, page = port("Spark Connect"), port("Spark's pages")
            begun.connect(url, grpc, page, token)
        remote = {REMOTE_ENV: f"sc://localhost:{grpc}", TOKEN_ENV: token}
        os.environ.update(remote)
        yield Standalone(services, f"http://{ports.LOOPBACK}:{page}")
    finally:
        processes.end(processes.family(services), signal.SIGTERM, _PATIENCE_S)
        for name in (REMOTE_ENV, TOKEN_ENV):
            os.environ.pop(name, None)


class _Beginner:
    """Starts the services of a cluster, one after the other."""

    def __init__(self, home: Path, env: Mapping[str, str], services: list[Service]) -> None:
        private_files.make(home)
        self.home = home
        self._env = env
        self._services = services
        # All ask each other for it; in a file, for it would be in a command line else.
        self._shared = {"spark.authenticate": "true", "spark.authenticate.secret": secrets.token_urlsafe(32)}

    def daemon(self, name: str, port: int, page: int, more: Sequence[str] = ()) -> None:
        """Start a master or a worker."""
        kind = name.partition("-")[0]
        where = ["--host", ports.LOOPBACK, "--port", str(port), "--webui-port", str(page)]
        file = self._properties(name, {})
        words = [f"org.apache.spark.deploy.{kind}.{kind.title()}", "--properties-file", file, *where, *more]
        daemon = {"SPARK_DAEMON_JAVA_OPTS": _SMALL, "SPARK_DAEMON_MEMORY": "256m"}
        self._start(name, ["spark-class", *words], daemon, port)

    def connect(self, master: str, port: int, page: int, token: str) -> None:
        """Start the Connect server."""
        file = self._properties(
            "connect",
            {
                "spark.app.name": "sluice",
                "spark.master": master,
                "spark.driver.memory": "1g",
                "spark.driver.extraJavaOptions": _SMALL,
                "spark.driver.host": ports.LOOPBACK,
                "spark.driver.bindAddress": ports.LOOPBACK,
                "spark.executor.memory": "512m",
                "spark.executor.extraJavaOptions": _SMALL,
                "spark.connect.grpc.binding.address": ports.LOOPBACK,
                "spark.connect.grpc.binding.port": str(port),
                "spark.scheduler.mode": "FAIR",
                "spark.scheduler.minRegisteredResourcesRatio": "1",
                "spark.ui.port": str(page),
                "spark.sql.catalogImplementation": "in-memory",
            },
        )
        words = ["spark-submit", "--properties-file", file, "--class", SERVER, "spark-internal"]
        self._start("connect", words, {TOKEN_ENV: token}, port)

    def _properties(self, name: str, properties: Mapping[str, str]) -> str:
        file = self.home / f"{name}.conf"
        temporary = {"spark.local.dir": str(self.home / "tmp")}
        text = "".join(f"{key} {value}\n" for key, value in {**self._shared, **temporary, **properties}.items())
        write_private(file, text)
        return str(file)

    def _start(self, name: str, words: Sequence[str], more: Mapping[str, str], port: int) -> None:
        service = processes.start(
            name,
            [BIN / words[0], *words[1:]],
            home=self.home,
            env={**self._env, **more},
            log=self.home / f"{name}.log",
            cwd=self.home,
        )
        self._services.append(service)
        service.wait_until(lambda: service.listens_on(port), READY_S)
