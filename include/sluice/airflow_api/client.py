"""Airflow's REST API, as any client uses it: tasks of Airflow 3 have no other way to its metadata."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from sluice.connections import ConnectionInfo

TIMEOUT_S = 10.0


def dag_run(run: str, conf: Mapping[str, object]) -> dict[str, object]:
    """What Airflow's REST API is sent to begin a run of this id."""
    return {"dag_run_id": run, "logical_date": None, "conf": dict(conf)}


def detail(error: urllib.error.HTTPError) -> str:
    """What Airflow says of a call that it refused."""
    try:
        said = json.load(error)["detail"]
    except (ValueError, KeyError, TypeError):
        return ""
    return f": {said if isinstance(said, str) else json.dumps(said)}"


class AirflowApi:
    """One client with one login. A call raises OSError if Airflow does not answer, or refuses."""

    def __init__(self, info: ConnectionInfo) -> None:
        # Airflow's form calls it Schema, which for a database is its name.
        scheme = str(info.extra.get("schema") or info.database or "http")
        host = info.host if "://" in info.host else f"{scheme}://{info.host}"
        self.base = f"{host}:{info.port}" if info.port else host
        self._login = {"username": info.login, "password": info.password}
        self._token = ""

    def ask(self, path: str, method: str = "GET", body: object = None) -> Any:
        """The answer's JSON; logs in first, and again when the token has expired."""
        if not self._token:
            self._token = self._send("/auth/token", "POST", self._login)["access_token"]
        try:
            return self._send(path, method, body)
        except urllib.error.HTTPError as error:
            if error.code != 401:
                raise
        self._token = self._send("/auth/token", "POST", self._login)["access_token"]
        return self._send(path, method, body)

    def trigger(self, dag: str, run: str, conf: Mapping[str, object]) -> None:
        """Ask for a DAG run; one of this id that was asked for before is the one that is wanted."""
        try:
            self.ask(f"/api/v2/dags/{dag}/dagRuns", "POST", dag_run(run, conf))
        except urllib.error.HTTPError as error:
            if error.code != 409:
                raise

    def _send(self, path: str, method: str, body: object) -> Any:
        request = urllib.request.Request(
            f"{self.base}{path}",
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self._token}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                return json.loads(answer.read() or "null")
        except http.client.HTTPException as error:
            # It broke off in the middle of an answer.
            raise OSError(f"{type(error).__name__}: {error}") from None
