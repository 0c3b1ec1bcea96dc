"""A process: Airflow's API server with FAB's auth manager, whose users are in its database; it knows our DAGs.

Its arguments are the port, and the names of users with their roles, as `eva=User`, or `eve=User+Op`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import uvicorn

PROJECT = Path(__file__).resolve().parents[2]
PASSWORD = "canary-5f3a9c-password"


def environment(home: Path) -> dict[str, str]:
    """What makes it an Airflow of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW__")}
    return kept | {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__API_AUTH__JWT_SECRET": PASSWORD * 3,
        "AIRFLOW__CORE__AUTH_MANAGER": "airflow.providers.fab.auth_manager.fab_auth_manager.FabAuthManager",
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
    from airflow.providers.fab.www.app import create_app as create_flask
    from airflow.utils import db

    # The DAGs of the example that we ship.
    config = os.environ.pop("SLUICE_CONFIG")
    db.initdb()
    DagBundlesManager().sync_bundles_to_db()
    sync_bag_to_db(DagBag(dag_folder=str(PROJECT / "dags")), "dags-folder", None)
    os.environ["SLUICE_CONFIG"] = config
    flask = create_flask(enable_plugins=False)
    with flask.app_context():
        manager = flask.appbuilder.sm
        manager.sync_roles()
        # As `airflow roles add-perms User --resource Plugins --action can_read` does.
        manager.add_permission_to_role(manager.find_role("User"), manager.get_permission("can_read", "Plugins"))
        for person in people:
            name, _, roles = person.partition("=")
            found = [manager.find_role(role) for role in roles.split("+") if role]
            assert manager.add_user(name, name, name, f"{name}@example.com", found, PASSWORD), person
    uvicorn.run(create_app("core"), host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
