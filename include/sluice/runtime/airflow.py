"""Airflow: its settings, its services, and that they are alive.

Its metadata are in the embedded PostgreSQL, over the socket, so no password is in a setting. Secrets of its own are in
airflow.cfg, which only we can read; all else is in the environment.
"""

from __future__ import annotations

import base64
import json
import secrets
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sluice import loopback, paths
from sluice.config import configuration
from sluice.errors import SluiceError
from sluice.runtime import ports, processes
from sluice.runtime.paths import BIN, RuntimePaths, write_private
from sluice.runtime.processes import Service
from sluice.runtime.terminal import ProgressStep
from sluice.storage import private_files

PREFERRED_PORT = 8080
LOGIN = "admin"
DATABASE = "airflow"
READY_S = 180
API_SERVER = "api-server"
_WORKERS = 6
# Slots of the pool for dumps and comparisons, and of the one for what takes seconds.
_BULK_WORKERS = 2
_RESERVED_WORKERS = 1
HEARTS = {"scheduler": "scheduler", "dag-processor": "dag_processor", "triggerer": "triggerer"}
SERVICES: dict[str, tuple[str, ...]] = {
    API_SERVER: ("api-server", "--host", ports.LOOPBACK, "--workers", "1"),
    # Task logs are read from the disk, which the API server shares.
    "scheduler": ("scheduler", "--skip-serve-logs"),
    "dag-processor": ("dag-processor",),
    "triggerer": ("triggerer", "--skip-serve-logs"),
}


def environment(layout: RuntimePaths, shared: Mapping[str, str], port: int, metadata: str) -> dict[str, str]:
    """The environment of Airflow's processes; `metadata` is the SQLAlchemy address of its database."""
    return {
        **shared,
        "AIRFLOW_HOME": str(layout.airflow),
        "AIRFLOW__CORE__DAGS_FOLDER": str(paths.PROJECT / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(paths.PROJECT / "plugins"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        # They work as soon as the configuration names them.
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__PARALLELISM": str(workers(configuration.load())),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{address(port)}/execution/",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{LOGIN}:admin",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(layout.airflow_users),
        "AIRFLOW__API__HOST": ports.LOOPBACK,
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": address(port),
        # Both: without the second, Airflow derives one for a driver that is not installed.
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": metadata,
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN_ASYNC": metadata,
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(layout.logs / "tasks"),
        "AIRFLOW__LOGGING__DAG_PROCESSOR_CHILD_PROCESS_LOG_DIRECTORY": str(layout.logs / "dag-files"),
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
        "AIRFLOW__DAG_PROCESSOR__PARSING_PROCESSES": "1",
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "10",
        # A task waits for the scheduler to look twice: to queue it, and to see that it ended.
        "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.5",
        # What a killed scheduler left running is taken up again in seconds, not in minutes.
        "AIRFLOW__SCHEDULER__SCHEDULER_HEALTH_CHECK_THRESHOLD": "30",
        "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "30",
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "60",
    }


def workers(settings: configuration.Config) -> int:
    """The number of tasks that may run at once: the slots of all pools, or lingering drains would starve publishing."""
    return max(_WORKERS, len(settings.sources) + len(settings.replications) + _BULK_WORKERS + _RESERVED_WORKERS)


def address(port: int) -> str:
    """The address of the UI and the REST API."""
    return f"http://{ports.LOOPBACK}:{port}"


def make_secrets(layout: RuntimePaths) -> None:
    """Airflow's own secrets and the password of the UI's user, once for a home."""
    settings = layout.airflow_settings
    if not settings.exists():
        fernet = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
        write_private(
            settings,
            f"[core]\nfernet_key = {fernet}\n\n"
            f"[api]\nsecret_key = {secrets.token_urlsafe(32)}\n\n"
            f"[api_auth]\njwt_secret = {secrets.token_urlsafe(48)}\n",
        )
    if not layout.airflow_users.exists():
        write_private(layout.airflow_users, json.dumps({LOGIN: secrets.token_urlsafe(12)}))


def password(layout: RuntimePaths) -> str:
    """The password of the UI's user."""
    return str(json.loads(layout.airflow_users.read_text())[LOGIN])


def prepare(layout: RuntimePaths, env: Mapping[str, str], connections: Sequence[Mapping[str, Any]]) -> None:
    """Make or migrate Airflow's database; set the connections and pools; end what a killed scheduler left.

    The connections travel on standard input: not a command line, not a file.

    Raises:
        SluiceError: SLC-931, with the end of what it said.
    """
    log = layout.log("airflow-prepare")
    with private_files.open_append(log) as sink:
        child = subprocess.run(
            [BIN / "python", "-m", "sluice_airflow.prepare"],
            input=json.dumps({"connections": connections}).encode(),
            env={**env, **processes.mark(layout.home)},
            stdout=sink,
            stderr=sink,
            timeout=READY_S,
        )
    if child.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise SluiceError(
            931,
            f"Airflow's database could not be prepared:\n{tail}",
            f"the whole log: {log}; fix what it says, then `./sluice up` again",
        )


def start(layout: RuntimePaths, name: str, env: Mapping[str, str]) -> Service:
    """Start one of the services."""
    return processes.start(
        name, [BIN / "airflow", *SERVICES[name]], home=layout.home, env=env, log=layout.log(name), cwd=layout.airflow
    )


def wait_until_healthy(port: int, services: Mapping[str, Service], step: ProgressStep) -> None:
    """Wait until the API answers, and the others' hearts have beaten since they were started.

    Raises:
        SluiceError: SLC-931, one of them ended or is not ready in time.
    """
    for name, service in services.items():
        step.update(f"waiting for {name}")
        service.wait_until(lambda service=service: _is_healthy(port, service), READY_S)  # type: ignore[misc]


def _is_healthy(port: int, service: Service) -> bool:
    try:
        with loopback.opener().open(f"{address(port)}/api/v2/monitor/health", timeout=5) as answer:
            health = json.load(answer)
    except (OSError, ValueError):
        return False
    if service.name == API_SERVER:
        return service.listens_on(port) and bool(health["metadatabase"]["status"] == "healthy")
    part = health[HEARTS[service.name]] or {}
    beat = part.get(f"latest_{HEARTS[service.name]}_heartbeat")
    process = service.process()
    # The last beat of an earlier one can be seconds old.
    return bool(beat and process and part["status"] == "healthy" and _instant(beat) >= process.create_time())


def _instant(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
