"""The wheel in an Airflow of others: installed beside stock Airflow, with nothing of a checkout."""

from __future__ import annotations

import json
from contextlib import ExitStack
from urllib.parse import quote

import pytest
from support import places
from support.launcher import wait_until
from support.short_jvm import SHORT_LIVED
from support.sparkserver import SERVER, await_port, started
from support.sparkserver import java as java
from support.stock import deployment, installed, without_the_product

from sluice.airflow_api.client import AirflowApi
from sluice.connections import ConnectionInfo
from sluice.runtime import ports

pytestmark = [pytest.mark.full, pytest.mark.slow, pytest.mark.airflow, pytest.mark.postgres, pytest.mark.spark]

CONFIG = """
dag_prefix: acme_
sources:
  shop: {connection: shop_master, tables: {public.customers: {}}}
slaves:
  branch: {connection: shop_branch}
replications:
  - {source: shop, slave: branch}
"""
TABLE = "CREATE TABLE customers (id int PRIMARY KEY, name text)"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    return installed(tmp_path_factory.mktemp("stock"))


class Deployment:
    """One that runs: its shell, its REST API, its databases."""

    def __init__(self, environment, env, api, master, slave):
        self._environment, self._env = environment, env
        self.api, self.master, self.slave = api, master, slave

    def typed(self, *words, seconds=240):
        done = self._environment.run(*words, env=self._env, seconds=seconds)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def deployed(environment, server, java, tmp_path_factory):
    place = tmp_path_factory.mktemp("deployed")
    infos = {name: server.create_database() for name in ("airflow", "sluice_control", "shop_master", "shop_branch")}
    port = places.reserve_port()
    spark_port = places.reserve_port()
    known = infos.pop("airflow")
    login = f"{quote(known.login)}:{quote(known.password)}"
    metadata = f"postgresql+psycopg://{login}@/{known.database}?host={quote(known.host, safe='')}&port={known.port}"
    env = deployment(environment, place, metadata, port, java)
    # Executors have the packages alone: the product is sent to them.
    python = without_the_product(environment, place / "executors")
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
        },
    }  # fmt: skip
    for name, fields in connections.items():
        fields.pop("database", None)
        env[f"AIRFLOW_CONN_{name.upper()}"] = json.dumps(fields)
    (place / "etc").mkdir()
    (place / "etc" / "shop.yaml").write_text(CONFIG)
    env["SLUICE_CONFIG"] = str(place / "etc" / "shop.yaml")
    properties = {
        "spark.connect.grpc.binding.address": ports.LOOPBACK,
        "spark.connect.grpc.binding.port": str(spark_port),
        "spark.driver.host": ports.LOOPBACK,
        "spark.driver.bindAddress": ports.LOOPBACK,
        "spark.driver.extraJavaOptions": SHORT_LIVED,
        "spark.ui.enabled": "false",
    }
    words = [word for name, value in properties.items() for word in ("--conf", f"{name}={value}")]
    spark = [str(environment.bin / "spark-submit"), "--master", "local[4]", *words, "--class", SERVER, "spark-internal"]
    spark_env = {name: env[name] for name in ("PATH", "HOME", "JAVA_HOME", "AIRFLOW_HOME")} | {
        "PYSPARK_PYTHON": str(python)
    }
    with (
        ExitStack() as stack,
        server.connect(infos["shop_master"]) as master,
        server.connect(infos["shop_branch"]) as slave,
    ):
        master.autocommit = slave.autocommit = True
        master.execute(f"{TABLE}; INSERT INTO customers SELECT g, 'of the first hour' FROM generate_series(1, 500) g")
        for folder in ("spark", "services"):
            (place / folder).mkdir()
        spark_server = stack.enter_context(started(spark, spark_env, place / "spark"))
        found = Deployment(environment, env, None, master, slave)
        found.typed("airflow", "db", "migrate")
        assert "made: the DAG file" in found.typed("sluice", "init")
        airflow = [str(environment.bin / "airflow"), "standalone"]
        services = stack.enter_context(started(airflow, env, place / "services"))
        await_port(spark_server, spark_port, place / "spark")
        await_port(services, port, place / "services")
        found.api = AirflowApi(ConnectionInfo("http", "127.0.0.1", port, "", "admin", "secret"))
        yield found


def test_airflow_lists_the_provider_and_every_dag_paused_as_its_own_setting_says(deployed):
    providers = deployed.api.ask("/api/v2/providers?limit=100")["providers"]
    assert "sluice" in {one["package_name"] for one in providers}

    def known():
        return deployed.api.ask("/api/v2/dags?tags=sluice&limit=100")["dags"]

    wait_until(lambda: len(known()) == 13, "the DAGs")
    assert {(one["dag_id"].startswith("acme_"), one["is_paused"]) for one in known()} == {(True, True)}
    assert deployed.api.ask("/api/v2/importErrors")["total_entries"] == 0
    deployed.typed("airflow", "dags", "unpause", "--treat-dag-id-as-regex", "^acme_", "--yes")
    assert not any(one["is_paused"] for one in known())


def test_a_bootstrap_an_initial_update_and_a_drain_end_with_an_equal_slave(deployed):
    deployed.typed("sluice", "trigger", "bootstrap", "source=shop", "--wait")
    deployed.typed("sluice", "trigger", "initial_update", "source=shop", "slaves=branch", "--wait")
    rows = "SELECT count(*), count(*) FILTER (WHERE name = 'of the stream') FROM customers"
    assert deployed.slave.execute(rows).fetchone() == (500, 0)
    deployed.master.execute("UPDATE customers SET name = 'of the stream' WHERE id <= 7")
    deployed.master.execute("DELETE FROM customers WHERE id = 9")
    wait_until(lambda: deployed.slave.execute(rows).fetchone() == (499, 7), "the changes on the slave")
    (row,) = json.loads(deployed.typed("sluice", "status", "--json"))
    assert (row["slave"], row["status"], row["different"]) == ("branch", "NORMAL", 0)


def test_check_finds_nothing_wrong_and_names_no_checkout(deployed):
    said = deployed.typed("sluice", "check")
    assert "Airflow has all 4 pools and 13 DAGs" in said
    assert "./sluice" not in said
