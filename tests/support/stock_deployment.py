"""A deployment of others that runs: stock Airflow with the wheel, Spark Connect, and databases."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from subprocess import Popen
from typing import Any, Protocol
from urllib.parse import quote

from support import places
from support.launcher import wait_until
from support.short_jvm import SHORT_LIVED
from support.sparkserver import SERVER, await_port, started
from support.stock import Environment, deployment, without_the_product

from sluice.airflow_api.client import AirflowApi
from sluice.airflow_api.runs import Runs
from sluice.connections import ConnectionInfo
from sluice.runtime import ports

CONFIG = """
dag_prefix: acme_
sources:
  shop: {connection: shop_master, tables: {public.customers: {}}}
slaves:
  branch: {connection: shop_branch}
replications:
  - {source: shop, slave: branch}
"""
PROPERTIES = {
    "spark.driver.host": ports.LOOPBACK,
    "spark.driver.bindAddress": ports.LOOPBACK,
    "spark.driver.extraJavaOptions": SHORT_LIVED,
    "spark.ui.enabled": "false",
}
TABLE = "CREATE TABLE customers (id int PRIMARY KEY, name text)"
DAGS = 14


def environment_of_dags(directory: Path) -> dict[str, str]:
    """What a process needs to make the DAGs of `CONFIG`, which is written there."""
    (directory / "shop.yaml").write_text(CONFIG)
    return {
        **{name: os.environ[name] for name in ("PATH", "HOME")},
        "AIRFLOW_HOME": str(directory / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "SLUICE_CONFIG": str(directory / "shop.yaml"),
    }


class Deployment:
    """One that runs: its shell, its REST API, its databases."""

    def __init__(self, environment: Environment, env: dict[str, str], api: AirflowApi, master: Any, slave: Any) -> None:
        self._environment, self._env = environment, env
        self.api, self.master, self.slave = api, master, slave

    def typed(self, *words: str, seconds: int = 600) -> str:
        done = self._environment.run(*words, env=self._env, seconds=seconds)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def dags(self) -> list[dict[str, Any]]:
        try:
            return self.api.ask("/api/v2/dags?tags=sluice&limit=100")["dags"]
        except TimeoutError:
            # The machine is busy.
            return []

    def unpause(self) -> None:
        """Wait until Airflow has all DAGs, and unpause them."""
        wait_until(lambda: len(self.dags()) == DAGS, "the DAGs", 300)
        assert self.api.ask("/api/v2/importErrors")["total_entries"] == 0
        self.typed("airflow", "dags", "unpause", "--treat-dag-id-as-regex", "^acme_", "--yes")
        wait_until(lambda: [dag["is_paused"] for dag in self.dags()] == [False] * DAGS, "the DAGs that are not paused")

    def replicate(self) -> None:
        """Fill the slave and change the master; the slave ends equal."""
        self.typed("sluice", "trigger", "bootstrap", "source=shop", "--wait")
        self.typed("sluice", "trigger", "initial_update", "source=shop", "slaves=branch", "--wait", seconds=600)
        rows = "SELECT count(*), count(*) FILTER (WHERE name = 'of the stream') FROM customers"
        assert self.slave.execute(rows).fetchone() == (500, 0)
        self.master.execute("UPDATE customers SET name = 'of the stream' WHERE id <= 7")
        self.master.execute("DELETE FROM customers WHERE id = 9")
        wait_until(lambda: self.slave.execute(rows).fetchone() == (499, 7), "the changes on the slave", 300)
        (row,) = json.loads(self.typed("sluice", "status", "--json"))
        assert (row["slave"], row["status"], row["different"]) == ("branch", "NORMAL", 0)

    def delete_runs(self) -> None:
        """Delete ended runs of a DAG, as housekeeping does."""
        runs = Runs(self.api, "acme_{}".format)
        assert runs.delete_before("bootstrap", datetime.now(UTC)) == 1
        assert self.api.ask("/api/v2/dags/acme_bootstrap/dagRuns")["dag_runs"] == []


class Machines(Protocol):
    """Several machines, in place of one: what their environments and the configuration have more, and their services.
    The configuration is a Variable then.
    """

    env: dict[str, str]
    config: str

    def start(self, stack: ExitStack, environment: Environment, env: dict[str, str], place: Path) -> Popen[bytes]:
        """Start all processes of Airflow; the API server is returned."""


@contextmanager
def deployed(
    environment: Environment,
    server: Any,
    java: Path,
    place: Path,
    *,
    connect: bool = True,
    machines: Machines | None = None,
) -> Iterator[Deployment]:
    """Run a deployment in an empty directory, until the block ends.

    Args:
        connect: Spark is a Connect server; else each job submits itself to a Spark of its own.
    """
    infos = {name: server.create_database() for name in ("airflow", "sluice_control", "shop_master", "shop_branch")}
    port = places.reserve_port()
    spark_port = places.reserve_port()
    known = infos.pop("airflow")
    login = f"{quote(known.login)}:{quote(known.password)}"
    metadata = f"postgresql+psycopg://{login}@/{known.database}?host={quote(known.host, safe='')}&port={known.port}"
    env = deployment(environment, place, metadata, port, java)
    # Executors have the packages alone: the product is sent to them.
    env["PYSPARK_PYTHON"] = str(without_the_product(environment, place / "executors"))
    connections = {
        **{
            name: {**vars(info), "schema": info.database, "conn_type": "postgres", "extra": dict(info.extra)}
            for name, info in infos.items()
        },
        "sluice_airflow_api": {
            "conn_type": "http", "host": "127.0.0.1", "port": port, "login": "admin", "password": "secret",
        },
        "sluice_spark": {
            "conn_type": "spark_connect", "host": "localhost", "port": spark_port,
            "extra": {"py-files": str(environment.archive)},
        } if connect else {
            "conn_type": "spark", "host": "local[2]",
            "extra": {"py-files": str(environment.archive), "deploy-mode": "client", "conf": PROPERTIES},
        },
    }  # fmt: skip
    for name, fields in connections.items():
        fields.pop("database", None)
        env[f"AIRFLOW_CONN_{name.upper()}"] = json.dumps(fields)
    (place / "etc").mkdir()
    (place / "etc" / "shop.yaml").write_text(CONFIG)
    env["SLUICE_CONFIG"] = str(place / "etc" / "shop.yaml")
    if machines:
        env |= machines.env | {"SLUICE_CONFIG": "airflow-variable:sluice"}
    properties = PROPERTIES | {
        "spark.connect.grpc.binding.address": ports.LOOPBACK,
        "spark.connect.grpc.binding.port": str(spark_port),
    }
    words = [word for name, value in properties.items() for word in ("--conf", f"{name}={value}")]
    spark = [str(environment.bin / "spark-submit"), "--master", "local[4]", *words, "--class", SERVER, "spark-internal"]
    spark_env = {name: env[name] for name in ("PATH", "HOME", "JAVA_HOME", "AIRFLOW_HOME", "PYSPARK_PYTHON")}
    spark_env |= machines.env if machines else {}
    with (
        ExitStack() as stack,
        server.connect(infos["shop_master"]) as master,
        server.connect(infos["shop_branch"]) as slave,
    ):
        master.autocommit = slave.autocommit = True
        master.execute(f"{TABLE}; INSERT INTO customers SELECT g, 'of the first hour' FROM generate_series(1, 500) g")
        for folder in ("spark", "services"):
            (place / folder).mkdir()
        if connect:
            spark_server = stack.enter_context(started(spark, spark_env, place / "spark"))
        api = AirflowApi(ConnectionInfo("http", "127.0.0.1", port, "", "admin", "secret"))
        here = Deployment(environment, env, api, master, slave)
        here.typed("airflow", "db", "migrate")
        if machines:
            here.typed("airflow", "variables", "set", "sluice", CONFIG + machines.config)
        assert "made: the DAG file" in here.typed("sluice", "init")
        if machines:
            services = machines.start(stack, environment, env, place)
        else:
            airflow = [str(environment.bin / "airflow"), "standalone"]
            services = stack.enter_context(started(airflow, env, place / "services"))
        if connect:
            await_port(spark_server, spark_port, place / "spark")
        await_port(services, port, place / "services")
        yield here
