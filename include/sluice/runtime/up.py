"""`up` and `down`: everything of one home, or nothing.

If a part is missing, the others are ended and all is started anew: connections hold passwords and a token that are
made for one start. PostgreSQL stays if it runs. Independent parts start side by side.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sluice import connections
from sluice.config import configuration_text
from sluice.runtime import airflow, environment, ports, shutdown, spark_connect
from sluice.runtime.databases import DATABASES, socket_connections, tcp_connections
from sluice.runtime.guarded import expect_guarded
from sluice.runtime.handle import Runtime
from sluice.runtime.java import java_home
from sluice.runtime.paths import BIN, RuntimePaths
from sluice.runtime.postgres import PREFERRED_PORT, Cluster
from sluice.runtime.postgres_dirs import packaged_binaries
from sluice.runtime.state import RuntimeState, alone
from sluice.runtime.terminal import Progress
from sluice.store.engine import Store

__all__ = ["Runtime", "down", "find_running", "up"]


def up(progress: Progress | None = None, before_airflow: Callable[[Cluster], None] | None = None) -> Runtime:
    """Start what is not running and verify what is.

    Args:
        before_airflow: called when PostgreSQL is up and before any DAG can run, if Airflow has to be started; it runs
            beside Airflow's own preparation.

    Raises:
        SluiceError: SLC-9xx, a part cannot be started; then nothing of it is left running but PostgreSQL.
    """
    progress = progress or Progress()
    layout = RuntimePaths.from_environment()
    layout.make()
    if not layout.seal_key.exists():
        connections.new_key_file(layout.seal_key)
    with alone(layout, progress):
        state = RuntimeState(layout)
        cluster = _cluster(layout)
        if _complete(state, cluster):
            runtime = _runtime(layout, state, cluster)
            runtime.expect_configuration()
            _verify(state, progress)
        else:
            shutdown.end_all(layout, state, progress)
            _start(layout, state, cluster, before_airflow, progress)
    return _runtime(layout, state, cluster)


def find_running() -> Runtime | None:
    """The runtime of this home if all of it is up. Starts nothing."""
    layout = RuntimePaths.from_environment()
    if not layout.state_file.exists():
        return None
    state = RuntimeState(layout)
    cluster = _cluster(layout)
    return _runtime(layout, state, cluster) if _complete(state, cluster) else None


def down(progress: Progress | None = None) -> None:
    """End every process of this home; all data stay."""
    progress = progress or Progress()
    layout = RuntimePaths.from_environment()
    if not layout.home.exists():
        progress.note(f"nothing runs; there is no {layout.home}")
        return
    layout.make()
    with alone(layout, progress):
        state, cluster = RuntimeState(layout), _cluster(layout)
        if not state.services and not cluster.service():
            progress.note(f"nothing runs of {layout.home}")
        shutdown.end_all(layout, state, progress)
        if cluster.service():
            with progress.step("stopping PostgreSQL"):
                cluster.stop()


def _cluster(layout: RuntimePaths) -> Cluster:
    return Cluster(layout.postgres, layout.log("postgres"))


def _remember_configuration(state: RuntimeState) -> None:
    """Start with the configuration of last time, unless this process was given another one."""
    if not os.environ.get(configuration_text.CONFIG_ENV) and Path(state.configuration).is_file():
        os.environ[configuration_text.CONFIG_ENV] = state.configuration
    state.set_configuration(configuration_text.path().resolve())


def _complete(state: RuntimeState, cluster: Cluster) -> bool:
    names = (*airflow.SERVICES, spark_connect.NAME)
    return all(state.find_running(name) for name in names) and cluster.service() is not None


def _verify(state: RuntimeState, progress: Progress) -> None:
    """Every process is there; an `up` that was killed may have left some of them still starting."""
    with progress.step("looking at what runs") as step:
        spark, port = state.services[spark_connect.NAME], state.ports[spark_connect.NAME]
        spark.wait_until(lambda: spark.listens_on(port), spark_connect.READY_S)
        services = {name: state.services[name] for name in airflow.SERVICES}
        airflow.wait_until_healthy(state.ports[airflow.API_SERVER], services, step)


def _start(
    layout: RuntimePaths,
    state: RuntimeState,
    cluster: Cluster,
    before_airflow: Callable[[Cluster], None] | None,
    progress: Progress,
) -> None:
    _remember_configuration(state)
    _choose_ports(state, cluster, progress)
    spark_connect.make_token(layout)
    airflow.make_secrets(layout)
    java = java_home(layout.spark / "java")
    ours = (BIN / "python", BIN / "airflow", packaged_binaries() / "postgres", spark_connect.jars())
    expect_guarded(java / "bin" / "java", *ours)
    shared = environment.child_environment(layout, java)
    with ThreadPoolExecutor(3, thread_name_prefix="up") as pool:
        try:
            spark = pool.submit(_start_spark, layout, state, shared, progress)
            passwords = _start_databases(state, cluster, progress)
            store = pool.submit(_migrate_store, cluster, progress)
            load = pool.submit(before_airflow, cluster) if before_airflow else None
            env = airflow.environment(
                layout, shared, state.ports[airflow.API_SERVER], cluster.sqlalchemy_url(airflow.DATABASE)
            )
            with progress.step("Airflow's database"):
                airflow.prepare(layout, env, _connections(layout, state, passwords))
            store.result()
            if load:
                load.result()
            _start_airflow(layout, state, env, progress)
            spark.result()
        except BaseException:
            # The other thread waits for a process: with that it ends.
            shutdown.end_all(layout, state, progress)
            raise


def _choose_ports(state: RuntimeState, cluster: Cluster, progress: Progress) -> None:
    """The ports of the last time, or the usual ones, or what is free nearby."""
    usual = {
        "postgres": PREFERRED_PORT,
        airflow.API_SERVER: airflow.PREFERRED_PORT,
        spark_connect.NAME: spark_connect.PREFERRED_PORT,
        spark_connect.PAGES: spark_connect.PREFERRED_PAGES_PORT,
    }
    if cluster.service():
        usual.pop("postgres")
    chosen: dict[str, int] = {}
    for name, preferred in usual.items():
        first = state.ports.get(name, preferred)
        chosen[name] = ports.choose(name, first, chosen.values())
        state.set_port(name, chosen[name])
        if chosen[name] != first:
            progress.note(f"port {first} is taken: {name} gets {chosen[name]}")


def _start_spark(layout: RuntimePaths, state: RuntimeState, shared: Mapping[str, str], progress: Progress) -> None:
    port = state.ports[spark_connect.NAME]
    with progress.step("Spark Connect server") as step:
        service = state.record(spark_connect.start(layout, port, state.ports[spark_connect.PAGES], shared))
        spark_connect.warm_up(layout, service, port, shared, step)


def _start_databases(state: RuntimeState, cluster: Cluster, progress: Progress) -> dict[str, str]:
    """Start PostgreSQL and give every role a new password; the passwords, by role."""
    passwords = {database.role: secrets.token_urlsafe(24) for database in DATABASES}
    with progress.step("PostgreSQL"):
        cluster.start(port=state.ports.get("postgres", PREFERRED_PORT))
        state.set_port("postgres", cluster.port)
        for database in DATABASES:
            cluster.create_database(database.name, database.role, passwords[database.role])
            if database.silent:
                cluster.let_be_silent(database.role)
    return passwords


def _migrate_store(cluster: Cluster, progress: Progress) -> None:
    with progress.step("control store"):
        Store(socket_connections(cluster)["sluice_control"]).migrate()


def _start_airflow(layout: RuntimePaths, state: RuntimeState, env: Mapping[str, str], progress: Progress) -> None:
    with progress.step("Airflow") as step:
        services = {name: state.record(airflow.start(layout, name, env)) for name in airflow.SERVICES}
        airflow.wait_until_healthy(state.ports[airflow.API_SERVER], services, step)


def _runtime(layout: RuntimePaths, state: RuntimeState, cluster: Cluster) -> Runtime:
    return Runtime(
        layout=layout,
        cluster=cluster,
        postgres_port=cluster.port,
        api_port=state.ports[airflow.API_SERVER],
        spark_port=state.ports[spark_connect.NAME],
        spark_pages=spark_connect.pages(state.ports[spark_connect.PAGES]),
        configuration=Path(state.configuration),
    )


def _connections(layout: RuntimePaths, state: RuntimeState, passwords: Mapping[str, str]) -> list[dict[str, Any]]:
    """The Airflow connections of the embedded runtime."""
    return [
        *tcp_connections(state.ports["postgres"], passwords),
        {
            "conn_id": "sluice_spark",
            "conn_type": "spark_connect",
            "host": "localhost",
            "port": state.ports[spark_connect.NAME],
            "password": layout.spark_token.read_text(),
            "extra": json.dumps({"ui": spark_connect.pages(state.ports[spark_connect.PAGES])}),
        },
        {
            "conn_id": "sluice_airflow_api",
            "conn_type": "http",
            "host": ports.LOOPBACK,
            "port": state.ports[airflow.API_SERVER],
            "login": airflow.LOGIN,
            "password": airflow.password(layout),
        },
    ]
