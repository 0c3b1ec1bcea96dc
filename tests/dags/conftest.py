"""Airflow without a running Airflow: a home of its own, set before anything imports it."""

from __future__ import annotations

import atexit
import importlib.util
import io
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from types import ModuleType, SimpleNamespace

import pytest
import uvicorn

PROJECT = Path(__file__).resolve().parents[2]
AIRFLOW_HOME = tempfile.mkdtemp(prefix="sluice-test-airflow-")
atexit.register(shutil.rmtree, AIRFLOW_HOME, ignore_errors=True)

for _name in [name for name in os.environ if name.startswith("AIRFLOW")]:
    del os.environ[_name]
# The DAGs under test are those of the example that we ship.
os.environ.pop("SLUICE_CONFIG", None)
os.environ |= {
    "AIRFLOW_HOME": AIRFLOW_HOME,
    "AIRFLOW__CORE__DAGS_FOLDER": str(PROJECT / "dags"),
    "AIRFLOW__CORE__PLUGINS_FOLDER": str(PROJECT / "plugins"),
    "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
    "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "admin:admin,otto:op,eva:user,vera:viewer",
    "AIRFLOW__LOGGING__LOGGING_LEVEL": "WARNING",
}

from airflow.dag_processing.dagbag import DagBag  # noqa: E402
from airflow.sdk.bases.operator import ExecutorSafeguard  # noqa: E402
from support.airflow import airflow as airflow  # noqa: E402
from support.jobs_here import jobs_here as jobs_here  # noqa: E402
from support.pages import asked as asked  # noqa: E402
from support.pages import pages_world as pages_world  # noqa: E402
from support.pages import visit as visit  # noqa: E402
from support.places import reserve_port  # noqa: E402
from support.sparkserver import java as java  # noqa: E402
from support.sparkserver import spark_server as spark_server  # noqa: E402
from support.world import build as build  # noqa: E402

from sluice.airflow_api.client import AirflowApi  # noqa: E402
from sluice.cli import parser  # noqa: E402
from sluice.connections import KEY_FILE_ENV, SEALED_ENV, ConnectionInfo, new_key_file, seal  # noqa: E402

CANARY = "canary-5f3a9c-password"
# The last two have no role that commands are for.
PEOPLE = ("admin", "otto", "eva", "vera")
CONFIG = """
command_roles: []
sources:
  flights: {connection: test_master, tables: {public.airlines: {}, public.flights: {}}}
slaves:
  zurich: {connection: test_zurich}
  geneva: {connection: test_geneva}
replications:
  - {source: flights, slave: zurich}
  - {source: flights, slave: geneva}
control: test_control
spark: test_spark
airflow_api: test_airflow_api
"""


@pytest.fixture(scope="session")
def bag() -> DagBag:
    return DagBag(dag_folder=str(PROJECT / "dags"))


@pytest.fixture(scope="session")
def address(bag: DagBag, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of Airflow's API server on its own database, which knows our DAGs; no scheduler runs anything."""
    from airflow.api_fastapi.app import create_app
    from airflow.dag_processing.bundles.manager import DagBundlesManager
    from airflow.dag_processing.dagbag import sync_bag_to_db
    from airflow.utils import db

    users = tmp_path_factory.mktemp("users") / "users.json"
    users.write_text(json.dumps(dict.fromkeys(PEOPLE, CANARY)))
    patch = pytest.MonkeyPatch()
    patch.setenv("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE", str(users))
    patch.setenv("AIRFLOW__API_AUTH__JWT_SECRET", CANARY)
    db.initdb()
    DagBundlesManager().sync_bundles_to_db()
    sync_bag_to_db(bag, "dags-folder", None)
    number = reserve_port()
    server = uvicorn.Server(uvicorn.Config(create_app("core"), host="127.0.0.1", port=number, log_level="warning"))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.05)
    yield number
    server.should_exit = True
    thread.join()
    patch.undo()


@pytest.fixture(scope="session")
def admin(address: int) -> ConnectionInfo:
    """The login of an administrator there."""
    return ConnectionInfo("http", "127.0.0.1", address, "", "admin", CANARY)


@pytest.fixture(scope="session")
def people(address: int) -> dict[str, AirflowApi]:
    """Those who may log in to that Airflow, each as a client of it."""
    return {name: AirflowApi(ConnectionInfo("http", "127.0.0.1", address, "", name, CANARY)) for name in PEOPLE}


@pytest.fixture(scope="session")
def job_module():
    """The module of spark_jobs/<name>.py, loaded without running it."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"job_{name}", PROJECT / "spark_jobs" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture
def connect(monkeypatch):
    """Defines an Airflow connection, as a deployment may do it: by an environment variable of Airflow's own."""

    def define(conn_id: str, **fields) -> None:
        monkeypatch.setenv(f"AIRFLOW_CONN_{conn_id.upper()}", json.dumps(fields))

    return define


@pytest.fixture
def deployment(tmp_path, monkeypatch, connect):
    """A configuration, a sealing key, connections with a canary password, and an empty folder for jobs."""
    from sluice_airflow.operator import SluiceSparkOperator

    (tmp_path / "replication.yaml").write_text(CONFIG)
    key_file = tmp_path / "seal.key"
    new_key_file(key_file)
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    monkeypatch.setenv("SLUICE_CONFIG", str(tmp_path / "replication.yaml"))
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(KEY_FILE_ENV, str(key_file))
    monkeypatch.setattr(SluiceSparkOperator, "jobs", jobs)
    # We call execute() as the task runner does.
    monkeypatch.setattr(ExecutorSafeguard, "test_mode", True)
    for conn_id in ("test_control", "test_master", "test_zurich", "test_geneva"):
        connect(conn_id, conn_type="postgres", host="db", port=5432, schema="d", login="u", password=CANARY)
    # Nobody answers there.
    connect("test_airflow_api", conn_type="http", host="127.0.0.1", port=1, login="admin", password=CANARY)
    connect("test_spark", conn_type="spark_connect", host="127.0.0.1", port=15002)
    return SimpleNamespace(jobs=jobs, path=tmp_path, job=lambda text: (jobs / "fake.py").write_text(text))


@pytest.fixture
def sluice(address, deployment, connect, monkeypatch, capsys):
    """Types a command, where the environment leads to that Airflow; its exit code, and what it printed."""
    monkeypatch.setenv("SLUICE_CLI", "./sluice")
    connect("test_airflow_api", conn_type="http", host="127.0.0.1", port=address, login="admin", password=CANARY)
    # As they are handed to a process by one that has asked Airflow, which takes seconds.
    api = ConnectionInfo("http", "127.0.0.1", address, login="admin", password=CANARY)
    monkeypatch.setenv(SEALED_ENV, seal({"test_airflow_api": api}))

    def typed(*words: str, stdin: str | io.StringIO = "") -> tuple[int, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin) if isinstance(stdin, str) else stdin)
        code = parser.main(words)
        return code, "".join(capsys.readouterr())

    return typed


@pytest.fixture
def context():
    """What a job is told about its task."""
    task = SimpleNamespace(
        dag_id="d", run_id="r", task_id="t", try_number=1, max_tries=2, xcom_push=lambda key, value: None
    )
    dag = SimpleNamespace(params={}, task_ids=["t"])
    return {"ti": task, "dag_run": SimpleNamespace(dag_id="d", conf={}, clear_number=0), "dag": dag}


@pytest.fixture(scope="session")
def parsing_watch():
    """Records what Python does to the outside (files, sockets, processes) while it is switched on."""
    watch = SimpleNamespace(on=False, events=[])

    def hook(event: str, details: tuple) -> None:
        if watch.on and event in ("open", "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system"):
            watch.events.append((event, details))
            if event.startswith("socket"):
                raise OSError("the network is shut")

    sys.addaudithook(hook)
    return watch
