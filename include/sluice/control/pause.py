"""Airflow's pause switch of a drain DAG, which is the standby by ADMIN; read and set over Airflow's REST API.

Tasks of Airflow 3 have no access to its metadata, so a job asks like any other client, with a connection of its own.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from sluice.connections import ConnectionInfo
from sluice.model.names import Pair

SECONDS_BETWEEN_LOOKS = 2.0


def drain_dag(pair: Pair) -> str:
    """The id of the DAG that drains to a slave."""
    return f"drain__{pair.source}__{pair.slave}"


@dataclass(frozen=True)
class Paused:
    """A DAG that somebody paused; `actor` is empty if the event log does not tell."""

    actor: str


class PauseSwitch:
    """Looks at one DAG's pause bit, at most every two seconds. Without an answer the gate stays as it was."""

    def __init__(self, api: ConnectionInfo | None, dag: str) -> None:
        self._api = api
        self._dag = dag
        self._token = ""
        self._looked = float("-inf")
        self._seen: Paused | None = None

    def paused(self) -> Paused | None:
        """Who paused the DAG, if somebody did."""
        if self._api and time.monotonic() - self._looked >= SECONDS_BETWEEN_LOOKS:
            self._looked = time.monotonic()
            try:
                dag = self._ask(f"/api/v2/dags/{quote(self._dag)}")
                if not dag["is_paused"]:
                    self._seen = None
                elif self._seen is None:
                    self._seen = Paused(self._who())
            except (OSError, KeyError, ValueError):
                pass
        return self._seen

    def pause(self) -> None:
        """Pause the DAG, so that its page shows the standby; silently if the API does not answer."""
        if self._api:
            try:
                self._ask(f"/api/v2/dags/{quote(self._dag)}", method="PATCH", body={"is_paused": True})
            except (OSError, ValueError):
                pass

    def _who(self) -> str:
        query = urlencode({"dag_id": self._dag, "event": "patch_dag", "order_by": "-when", "limit": 1})
        entries = self._ask(f"/api/v2/eventLogs?{query}").get("event_logs", [])
        return str(entries[0].get("owner") or "") if entries else ""

    def _ask(self, path: str, method: str = "GET", body: object = None) -> Any:
        if not self._token:
            login = {"username": self._api.login, "password": self._api.password} if self._api else {}
            self._token = self._send("/auth/token", "POST", login)["access_token"]
        try:
            return self._send(path, method, body)
        except urllib.error.HTTPError as error:
            if error.code == 401:
                self._token = ""
            raise

    def _send(self, path: str, method: str, body: object) -> Any:
        assert self._api is not None
        scheme = str(self._api.extra.get("schema") or "http")
        host = self._api.host if "://" in self._api.host else f"{scheme}://{self._api.host}"
        request = urllib.request.Request(
            f"{host}:{self._api.port}{path}",
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self._token}"},
        )
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.load(answer)
