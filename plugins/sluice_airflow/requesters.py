"""Who triggered a run, who answered its question, and the roles of these people, as Airflow's auth manager has them.

A task knows names alone. The simple auth manager has its users in Airflow's configuration; that of FAB answers over
the REST API. No other one can be asked for the roles of a name: `command_roles: airflow` does without. Runs that no
person triggered (assets, timetables, our own jobs) have no requester, and neither have those of Airflow's command line:
people who may use that have Airflow's database.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote

from airflow.configuration import conf
from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowRuntimeError

from sluice.airflow_api.client import AirflowApi
from sluice.config import configuration
from sluice.errors import ConfigError, TransientError
from sluice.model.requester import Requester
from sluice_airflow.airflow_versions import AirflowException
from sluice_airflow.sealing import get_connection, info

_SIMPLE, _FAB = "SimpleAuthManager", "FabAuthManager"
_BY_ADMINISTRATORS = ("cli", "operator", "test")


def expect_new(context: Context) -> None:
    """See that nobody has a run of somebody else done again.

    Raises:
        ConfigError: SLC-382, tasks of this run were cleared.
    """
    run = context["dag_run"]
    if run.clear_number:
        raise ConfigError(
            382,
            f"tasks of {run.dag_id}/{run.run_id} were cleared, and Airflow does not tell a task by whom",
            f"nothing was changed; trigger {run.dag_id} again, so that it is known who wants it",
        )


def for_run(context: Context, *, roles: bool = True) -> Requester | None:
    """The person who triggered the run of a task.

    Args:
        roles: look up the roles of the person; without them nothing is asked, and whoever used Airflow's command line
            is a person as well.

    Raises:
        ConfigError: SLC-301, the roles of this auth manager's users are not known.
        TransientError: SLC-302, Airflow's REST API does not say it.
    """
    name = context["dag_run"].triggering_user_name
    if not name or name == _own_login():
        return None
    if not roles:
        return Requester(name, [])
    theirs = _roles(name)
    if theirs is None and (_ask(_path(context)) or {}).get("triggered_by") in _BY_ADMINISTRATORS:
        return None
    return Requester(name, theirs or [])


@dataclass(frozen=True)
class Answer:
    """A person's choice, as Airflow's REST API has it: results of tasks can be edited by people.

    Attributes:
        task: asked for it.
    """

    task: str
    chosen: str
    user: str

    def requester(self, *, roles: bool = True) -> Requester:
        """The person, with their roles if these are wanted. Raises as `for_run` does."""
        return Requester(self.user, (_roles(self.user) if roles else None) or [], self.task)


def answer(context: Context, task: str) -> Answer:
    """The answer to the question that a task of this run asked.

    Raises:
        ConfigError: SLC-380, nobody answered.
        TransientError: SLC-302, Airflow's REST API does not say it.
    """
    details = _ask(f"{_path(context)}/taskInstances/{task}/-1/hitlDetails") or {}
    chosen, user = details.get("chosen_options"), details.get("responded_by_user")
    if not (chosen and user):
        raise ConfigError(
            380,
            f"nobody has answered what the task {task} of this run asks: somebody marked it as done",
            f"nothing was changed; to ask again, clear {task} in Airflow, with all downstream of it",
        )
    return Answer(task, chosen[0], user["name"])


def _own_login() -> str:
    """The login by which our jobs ask for runs; none if there is no such connection."""
    try:
        return info(get_connection(configuration.load().airflow_api)).login
    except ConfigError:
        return ""


def _roles(name: str) -> list[str] | None:
    """None if there is no such user."""
    manager = conf.get("core", "auth_manager").rpartition(".")[2]
    if manager == _SIMPLE:
        return _simple(name)
    if manager == _FAB:
        return _fab(name)
    raise ConfigError(
        301,
        f"the roles of {name} are not known: Airflow's auth manager is {manager}",
        "nothing was changed. Let this auth manager decide: give the right to trigger the DAG, and to answer its "
        "questions, to the people who may do it and to nobody else, and write `command_roles: airflow` in the "
        "configuration",
    )


def _path(context: Context) -> str:
    run = context["dag_run"]
    return f"/api/v2/dags/{quote(run.dag_id)}/dagRuns/{quote(run.run_id, safe='')}"


def _simple(name: str) -> list[str] | None:
    """None if there is no such user."""
    if conf.getboolean("core", "simple_auth_manager_all_admins"):
        return ["admin"]
    users = (entry.split(":") for entry in conf.getlist("core", "simple_auth_manager_users"))
    return {user: [role] for user, role, *_ in users}.get(name)


def _fab(name: str) -> list[str] | None:
    """None if there is no such user."""
    user = _ask(f"/auth/fab/v1/users/{quote(name, safe='')}")
    return None if user is None else [str(role["name"]) for role in user["roles"] or []]


def _ask(path: str) -> Any:
    """The answer of Airflow's REST API; None if there is no such thing. Raises TransientError SLC-302."""
    settings = configuration.load()
    try:
        return AirflowApi(info(get_connection(settings.airflow_api))).ask(path)
    except (AirflowException, AirflowRuntimeError, OSError, ValueError, KeyError) as error:
        if isinstance(error, HTTPError) and error.code == 404:
            return None
        raise TransientError(
            302,
            f"Airflow's REST API does not say who triggered or answered this, with which roles: {error}",
            "nothing was changed; the run tries again by itself. The login of the connection `airflow_api` must be "
            "allowed to read users, runs and answers",
        ) from None
