"""Who triggered a run, and the roles of that person, as Airflow's auth manager has them.

A task knows the name alone. The simple auth manager has its users in Airflow's configuration; that of FAB answers over
the REST API. Runs that no person triggered (assets, timetables, our own DAGs) have no requester, and neither have those
of Airflow's command line: whoever may use that has Airflow's database.
"""

from __future__ import annotations

from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote

from airflow.configuration import conf
from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowException, AirflowRuntimeError

from sluice.airflow_api.client import AirflowApi
from sluice.config import configuration
from sluice.errors import ConfigError, TransientError
from sluice.model.requester import Requester
from sluice_airflow.sealing import get_connection, info

_SIMPLE, _FAB = "SimpleAuthManager", "FabAuthManager"
_BY_ADMINISTRATORS = ("cli", "operator", "test")


def of_run(context: Context) -> Requester | None:
    """The person who triggered the run of a task.

    Raises:
        ConfigError: SLC-301, the roles of this auth manager's users are not known.
        TransientError: SLC-302, Airflow's REST API does not say it.
    """
    name = context["dag_run"].triggering_user_name
    if not name:
        return None
    manager = conf.get("core", "auth_manager").rpartition(".")[2]
    if manager == _SIMPLE:
        roles = _simple(name)
    elif manager == _FAB:
        roles = _fab(name)
    else:
        raise ConfigError(
            301,
            f"the roles of {name} are not known: Airflow's auth manager is {manager}",
            "nothing was changed. Let Airflow's own rights decide who may trigger the DAG, and write `command_roles: "
            "[]` in the configuration",
        )
    if roles is None:
        run = context["dag_run"]
        path = f"/api/v2/dags/{quote(run.dag_id)}/dagRuns/{quote(run.run_id, safe='')}"
        if (_ask(path) or {}).get("triggered_by") in _BY_ADMINISTRATORS:
            return None
    return Requester(name, roles or [])


def _simple(name: str) -> list[str] | None:
    """None if there is no such user."""
    if conf.getboolean("core", "simple_auth_manager_all_admins"):
        return ["admin"]
    users = (one.split(":") for one in conf.getlist("core", "simple_auth_manager_users"))
    return {user: [role] for user, role, *_ in users}.get(name)


def _fab(name: str) -> list[str] | None:
    """None if there is no such user."""
    user = _ask(f"/auth/fab/v1/users/{quote(name, safe='')}")
    return None if user is None else [str(role["name"]) for role in user["roles"] or []]


def _ask(path: str) -> Any:
    """What Airflow's REST API answers; None if there is no such thing. Raises TransientError SLC-302."""
    settings = configuration.load()
    try:
        return AirflowApi(info(get_connection(settings.airflow_api))).ask(path)
    except (AirflowException, AirflowRuntimeError, OSError, ValueError, KeyError) as error:
        if isinstance(error, HTTPError) and error.code == 404:
            return None
        raise TransientError(
            302,
            f"Airflow's REST API does not say which roles the person has who triggered this: {error}",
            "nothing was changed; the run tries again by itself. The login of the connection `airflow_api` must be "
            "allowed to read users and runs",
        ) from None
