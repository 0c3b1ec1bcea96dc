"""The pages' view of the Airflow that they are a part of: its users, its connections and its pause switches."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.base_auth_manager import COOKIE_NAME_JWT_TOKEN
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import get_user
from airflow.configuration import conf
from airflow.exceptions import AirflowNotFoundException
from airflow.models import Connection, DagModel
from airflow.models.log import Log
from airflow.utils.session import create_session
from fastapi import HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials
from fastapi.security.utils import get_authorization_scheme_param
from sqlalchemy import func, select

from sluice.config import configuration, configuration_text
from sluice.connections import ConnectionInfo
from sluice.context import Context
from sluice.errors import SluiceError, TransientError
from sluice.model.access import DagRight
from sluice.model.pause_event import pause_state
from sluice.pages.airflow import Visitor
from sluice_airflow import variables
from sluice_airflow.sealing import info

_log = logging.getLogger(__name__)
# As Airflow's own routes ask for them.
_QUESTIONS: Mapping[DagRight, tuple[Literal["GET", "POST", "PUT"], DagAccessEntity | None]] = {
    DagRight.READ: ("GET", None),
    DagRight.EDIT: ("PUT", None),
    DagRight.TRIGGER: ("POST", DagAccessEntity.RUN),
}
# A page's command is over by then.
_TOKEN_S = 300
# Connections may be changed while the API server runs.
_KEPT_S = 60.0
# A page waits no longer for the control store, nor for one step of its network.
_PATIENCE_S = 5.0


class ApiServer:
    """The Airflow of this process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._context: Context | None = None
        self._stamp: tuple[object, ...] = ()
        self._read = float("-inf")

    @property
    def secret(self) -> bytes:
        """All API servers have the same one."""
        return str(conf.get("api", "secret_key")).encode()

    async def visitor(self, request: Request) -> Visitor | None:
        """Who asks, as Airflow's own routes know them; None if nobody has logged in.

        Raises:
            TransientError: SLC-932, Airflow's auth manager fails.
        """
        scheme, token = get_authorization_scheme_param(request.headers.get("Authorization"))
        bearer = HTTPAuthorizationCredentials(scheme=scheme, credentials=token) if scheme.lower() == "bearer" else None
        try:
            user: Any = await get_user(request, None, bearer)
            by = token if bearer else request.cookies.get(COOKIE_NAME_JWT_TOKEN, "")
            # Without a token of theirs a command would be ours.
            if not by or user is None:
                return None
            by = by if bearer else _token_for_api(user) or by
            return Visitor(user.get_name(), _roles(user), by, bearer is None, cache(_ask(user)), user.get_id())
        except HTTPException:
            return None
        except Exception as error:
            raise _silent("who this is", error) from None

    def context(self) -> Context:
        """Anew where the file or the connections are others. Meanwhile other requests go on with the last."""
        last = self._context
        if not self._lock.acquire(blocking=last is None):
            assert last is not None
            return last
        try:
            place = configuration_text.place()
            if time.monotonic() - self._read > _KEPT_S:
                try:
                    configuration_text.hand_over(place, variables.read)
                except SluiceError as error:
                    if self._context is None:
                        raise
                    _log.warning("pages go on with the configuration that they have: %s", error)
                    self._read = time.monotonic()
            stamp = (place, configuration_text.environment(), *_stat(place))
            if self._context is None or stamp != self._stamp or time.monotonic() - self._read > _KEPT_S:
                settings = self._context.config if self._context and stamp == self._stamp else configuration.load()
                infos = _connections(settings)
                if self._context is None or settings is not self._context.config or infos != self._context.connections:
                    self._context = Context(settings, infos, patience_s=_PATIENCE_S)
                self._stamp, self._read = stamp, time.monotonic()
            return self._context
        finally:
            self._lock.release()

    def paused_dags(self, dags: Sequence[str]) -> Mapping[str, str]:
        """By one query, and one more where any is paused."""
        are_paused = select(DagModel.dag_id).where(DagModel.dag_id.in_(dags), DagModel.is_paused)
        with create_session() as session:
            paused = dict.fromkeys(session.scalars(are_paused), "")
            if paused:
                last = select(func.max(Log.id)).where(Log.dag_id.in_(paused), Log.event == "patch_dag")
                said = select(Log.dag_id, Log.owner, Log.extra).where(Log.id.in_(last.group_by(Log.dag_id)))
                paused |= {dag: owner or "" for dag, owner, extra in session.execute(said) if pause_state(extra)}
        return paused


def _stat(place: str) -> tuple[int, ...]:
    """The time and size of a file; nothing if the place is no file."""
    with suppress(OSError):
        status = Path(place).stat()
        return status.st_mtime_ns, status.st_size
    return ()


def _roles(user: Any) -> list[str] | None:
    """A user of the simple auth manager has one role, one of FAB's has several, which have names, and others none."""
    if hasattr(user, "role"):
        return [str(user.role)] if user.role else []
    return [str(getattr(each, "name", each)) for each in user.roles or ()] if hasattr(user, "roles") else None


def _token_for_api(user: Any) -> str:
    """A token for a client without cookies, where the cookie of Airflow is only a part of what a browser has."""
    make = getattr(get_auth_manager(), "generate_api_jwt", None)
    return str(make(user, expiration_time_in_seconds=_TOKEN_S)) if make else ""


def _ask(user: Any) -> Callable[[str, DagRight], bool]:
    """Whether Airflow's auth manager lets this user do something with a DAG. Raises TransientError SLC-932."""

    def may(dag: str, right: DagRight) -> bool:
        method, entity = _QUESTIONS[right]
        try:
            # An Airflow without teams has no such question.
            team = {"team_name": DagModel.get_team_name(dag)} if hasattr(DagModel, "get_team_name") else {}
            details = DagDetails(id=dag, **team)
            answer = get_auth_manager().is_authorized_dag(
                method=method, access_entity=entity, details=details, user=user
            )
        except Exception as error:
            raise _silent(f"whether {user.get_name()} may {right} {dag}", error) from None
        # Whatever else it answers is no yes.
        return answer is True

    return may


def _silent(what: str, error: Exception) -> TransientError:
    # Its words may have a token in them.
    _log.error("Airflow's auth manager failed", exc_info=error)
    return TransientError(
        932,
        f"Airflow's auth manager does not say {what}: {type(error).__name__}",
        "nothing was changed: nobody may, until it answers. Try again; the log of Airflow's API server has the error",
    )


def _connections(settings: configuration.Config) -> dict[str, ConnectionInfo]:
    """Those that the pages open: of the control store, of Airflow itself, and of what is looked at."""
    ids = [settings.control, settings.airflow_api, settings.spark]
    ids += [conn_id for conn_id in (relay.connection, relay.admin) if conn_id] if (relay := settings.relay) else []
    ids += [conn_id for source in settings.sources.values() for conn_id in source.connections]
    ids += [conn_id for slave in settings.slaves.values() for conn_id in slave.connections]
    connections = {}
    for conn_id in dict.fromkeys(ids):
        with suppress(AirflowNotFoundException):
            connection = info(Connection.get_connection_from_secrets(conn_id))
            connections[conn_id] = connection.with_timeouts() if connection.conn_type == "postgres" else connection
    return connections
