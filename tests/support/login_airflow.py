"""A process: Airflow's API server with an auth manager where people log in; it knows our DAGs.

Its arguments are the port and, for FAB's, the names of users with their roles, as `eva=User`, or `eve=User+Op`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from support import places
from support.sparkserver import LOG, await_port

PROJECT = Path(__file__).resolve().parents[2]
PASSWORD = "canary-5f3a9c-password"


@contextmanager
def serve(world: Any, home: Path, manager: str, *people: str, **settings: str) -> Iterator[int]:
    """Run one with the configuration and the connections of a world; its port.

    Args:
        manager: the class of the auth manager.
        settings: variables of its environment; `{port}` in one is its port.
    """
    port = places.reserve_port()
    name = f"AIRFLOW_CONN_{world.context.config.airflow_api.upper()}"
    known = json.loads(os.environ[name]) | {"port": port, "login": "anna", "password": PASSWORD}
    home.mkdir()
    env = _environment(home, manager) | {name: json.dumps(known)}
    env |= {setting: value.format(port=port) for setting, value in settings.items()}
    with (home / LOG).open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(port), *people], env=env, stdout=log, stderr=log
        )
    try:
        await_port(process, port, home)
        yield port
    finally:
        process.terminate()
        process.wait()


def log_in(port: int, who: str) -> httpx.Client:
    """A client of somebody who has logged in."""
    made = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120)
    answer = made.post("/auth/token", json={"username": who, "password": PASSWORD})
    made.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
    return made


def _environment(home: Path, manager: str) -> Mapping[str, str]:
    """What makes it an Airflow of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW__")}
    return kept | {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__API_AUTH__JWT_SECRET": PASSWORD * 3,
        "AIRFLOW__CORE__AUTH_MANAGER": manager,
        "AIRFLOW__CORE__DAGS_FOLDER": str(PROJECT / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(PROJECT / "plugins"),
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "WARNING",
        "PYTHONPATH": os.pathsep.join(str(PROJECT / name) for name in ("include", "plugins", "dags", "tests")),
    }


def main(port: int, people: list[str]) -> None:
    """Make its database, its users and its DAGs, and serve."""
    from airflow.api_fastapi.app import create_app
    from airflow.dag_processing.bundles.manager import DagBundlesManager
    from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db
    from airflow.utils import db

    # The DAGs of the example that we ship.
    config = os.environ.pop("SLUICE_CONFIG")
    db.initdb()
    DagBundlesManager().sync_bundles_to_db()
    sync_bag_to_db(DagBag(dag_folder=str(PROJECT / "dags")), "dags-folder", None)
    os.environ["SLUICE_CONFIG"] = config
    if people:
        _add_to_fab(people)
    uvicorn.run(create_app("core"), host="127.0.0.1", port=port, log_level="warning")


def _add_to_fab(people: list[str]) -> None:
    from airflow.providers.fab.www.app import create_app

    flask = create_app(enable_plugins=False)
    with flask.app_context():
        manager = flask.appbuilder.sm
        manager.sync_roles()
        # As `airflow roles add-perms User --resource Plugins --action can_read` does.
        manager.add_permission_to_role(manager.find_role("User"), manager.get_permission("can_read", "Plugins"))
        for person in people:
            name, _, roles = person.partition("=")
            found = [manager.find_role(role) for role in roles.split("+") if role]
            assert manager.add_user(name, name, name, f"{name}@example.com", found, PASSWORD), person


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
