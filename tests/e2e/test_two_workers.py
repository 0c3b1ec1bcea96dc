"""Two workers of Celery that share no disk: each has a home, a DAG folder and a copy of the key of its own. The
configuration is an Airflow Variable, and the change log is in an object store."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field

import pytest
from pyarrow import fs
from support import places
from support.buckets import KEYS, SECRET
from support.buckets import object_store as object_store
from support.installing import installed as program
from support.launcher import wait_until
from support.sparkserver import LOG, await_port, started
from support.sparkserver import java as java
from support.stock import installed
from support.stock_deployment import deployed

pytestmark = [pytest.mark.full, pytest.mark.slow, pytest.mark.airflow, pytest.mark.postgres, pytest.mark.spark]

BESIDE = [
    "apache-airflow==3.3.*",
    "apache-airflow-providers-apache-spark",
    "apache-airflow-providers-celery",
    # The provider imports what Celery 5.7 has no more.
    "celery<5.7",
    "redis",
    "pyspark[connect]==4.2.0",
    "pyspark-client==4.2.0",
]
WORKERS = ("first", "second")


@dataclass
class Apart:
    """A machine with all services of Airflow but workers, two machines with a worker each, and a broker."""

    broker: int
    config: str
    env: dict[str, str] = field(init=False)

    def __post_init__(self):
        queue = f"redis://127.0.0.1:{self.broker}/0"
        executor = {"AIRFLOW__CORE__EXECUTOR": "CeleryExecutor"}
        celery = {"AIRFLOW__CELERY__BROKER_URL": queue, "AIRFLOW__CELERY__RESULT_BACKEND": queue}
        self.env = KEYS | executor | celery

    def start(self, stack, environment, env, place):
        airflow = str(environment.bin / "airflow")
        commands = {name: ([airflow, name], env) for name in ("api-server", "scheduler", "dag-processor", "triggerer")}
        for name in WORKERS:
            home = place / name / "airflow"
            shutil.copytree(place / "airflow" / "dags", home / "dags")
            (home / "sluice").mkdir()
            shutil.copy(place / "airflow" / "sluice" / "seal.key", home / "sluice")
            words = ["celery", "worker", "--concurrency", "3", "--celery-hostname", f"{name}@%h", "--skip-serve-logs"]
            commands[name] = ([airflow, *words], env | {"HOME": str(place / name), "AIRFLOW_HOME": str(home)})
        processes = {}
        for name, (words, own) in commands.items():
            (place / name).mkdir(exist_ok=True)
            processes[name] = stack.enter_context(started(words, own, place / name))
            if name == "api-server":
                # All at once would be too much for a small machine.
                await_port(processes[name], int(env["AIRFLOW__API__PORT"]), place / name)
        logs = [place / name / LOG for name in WORKERS]
        wait_until(lambda: all(" ready." in log.read_text() for log in logs), "the workers", 400)
        return processes["api-server"]


@pytest.fixture(scope="module")
def stock(server, java, object_store, tmp_path_factory):
    redis = program(lambda: shutil.which("redis-server"), "redis-server")
    store = fs.S3FileSystem(
        access_key="AKIA",
        secret_key=SECRET,
        endpoint_override=object_store,
        scheme="http",
        allow_bucket_creation=True,
    )
    store.create_dir("of-two-workers")
    url = f"s3://of-two-workers/changelog?endpoint_override={object_store}&scheme=http"
    environment = installed(tmp_path_factory.mktemp("stock"), beside=BESIDE)
    port, place = places.reserve_port(), tmp_path_factory.mktemp("broker")
    with started([redis, "--bind", "127.0.0.1", "--port", str(port), "--save", ""], {}, place) as broker:
        await_port(broker, port, place)
        machines = Apart(port, f'change_log: "{url}"\n')
        place = tmp_path_factory.mktemp("deployed")
        with deployed(environment, server, java, place, machines=machines) as running:
            yield running, place, store


def test_what_the_workers_do_together_ends_with_an_equal_slave(stock):
    running, place, store = stock
    running.unpause()
    running.replicate()
    files = store.get_file_info(fs.FileSelector("of-two-workers/changelog", recursive=True))
    assert any(entry.is_file for entry in files)
    for name in WORKERS:
        home = place / name / "airflow"
        assert list((home / "logs").rglob("attempt=*.log")), f"the worker {name} had no task"
        # Neither the change log nor the configuration is there.
        assert [path.name for path in (home / "sluice").iterdir()] == ["seal.key"]


def test_check_finds_nothing_wrong(stock):
    running, *_ = stock
    said = running.typed("sluice", "check")
    assert "ok   configuration airflow-variable:sluice" in said
