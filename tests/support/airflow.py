"""Airflow's REST API, as far as jobs ask it: a server of the test's own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from sluice.connections import ConnectionInfo

DAG = "drain__flights__zurich"
_RUNS = re.compile("/api/v2/dags/([^/]+)/dagRuns(?:/([^/]+))?")


class Airflow(ThreadingHTTPServer):
    """The calls of Airflow's REST API that jobs make, in the shape that Airflow 3.3 gives them.

    Attributes:
        runs: what DAG runs were asked for; `drains`, `publishes`: those of drains and of publishers.
        at_work: the states of other runs, as `dag/run`, and what they were triggered with.
        notes: those of runs, as `dag/run`.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Calls)
        self.paused = False
        self.actor = ""
        self.tells_who = True
        self.last_unpaused = False
        self.refuses = False
        self.runs: list[dict[str, object]] = []
        self.drains: list[dict[str, object]] = []
        self.publishes: list[dict[str, object]] = []
        self.at_work: dict[str, dict[str, object]] = {}
        self.notes: dict[str, str] = {}

    def info(self) -> ConnectionInfo:
        """The connection that a job is given."""
        return ConnectionInfo("http", "127.0.0.1", self.server_port, "", "admin", "secret")

    def pause_unseen(self, last: str) -> None:
        """What Airflow does after failed runs: the last who touched the switch is somebody who unpaused."""
        self.paused, self.actor, self.last_unpaused = True, last, True

    def pause(self, actor: str) -> None:
        """What a click on the switch does."""
        self.paused, self.actor = True, actor


class _Calls(BaseHTTPRequestHandler):
    server: Airflow

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if found := _RUNS.fullmatch(self.path):
            assert self.headers["Authorization"] == "Bearer a-token"
            kinds = {"drain": self.server.drains, "publish": self.server.publishes}
            asked = kinds.get(found[1].partition("__")[0], self.server.runs)
            asked.append(body | {"dag_id": found[1]})
            return self._answer({"detail": "Forbidden"}, 403) if self.server.refuses else self._answer(body)
        assert (self.path, body) == ("/auth/token", {"username": "admin", "password": "secret"})
        self._answer({"access_token": "a-token"}, 201)

    def do_GET(self) -> None:
        if self.headers["Authorization"] != "Bearer a-token":
            return self._answer({"detail": "Not authenticated"}, 401)
        address = urlsplit(self.path)
        if found := _RUNS.fullmatch(address.path):
            return self._runs(found[1], found[2], parse_qs(address.query))
        if address.path == "/api/v2/dags":
            return self._answer({"dags": [{"dag_id": DAG}] if self.server.paused else [], "total_entries": 1})
        if address.path == "/api/v2/pools":
            return self._answer({"detail": "Forbidden"}, 403)
        if address.path.startswith("/api/v2/dags/") and address.path != f"/api/v2/dags/{DAG}":
            return self._answer({"dag_id": address.path.split("/")[-1], "is_paused": False})
        if address.path == f"/api/v2/dags/{DAG}":
            told = {"dag_id": DAG, "is_paused": self.server.paused}
            return self._answer(told | {"next_dagrun_run_after": "2026-01-01T00:01:00Z"})
        if not self.server.tells_who:
            return self._answer({"detail": "Forbidden"}, 403)
        asked = parse_qs(address.query)
        assert (address.path, asked["dag_id"], asked["event"]) == ("/api/v2/eventLogs", [DAG], ["patch_dag"])
        extra = json.dumps({"is_paused": not self.server.last_unpaused})
        return self._answer({"event_logs": [{"owner": self.server.actor, "extra": extra}] if self.server.actor else []})

    def do_PATCH(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.refuses:
            return self._answer({"detail": "Forbidden"}, 403)
        address = urlsplit(self.path)
        found = _RUNS.fullmatch(address.path)
        if found and found[2] is None:
            (action,) = asked["actions"]
            names = [f"{found[1]}/{run}" for run in action["entities"]]
            for name in names:
                del self.server.at_work[name]
            return self._answer({action["action"]: {"success": names, "errors": []}})
        if found:
            run = f"{found[1]}/{unquote(found[2])}"
            if address.query == "update_mask=note":
                self.server.notes[run] = asked["note"]
                return self._answer(asked)
            self.server.at_work[run] |= asked
            return self._answer({})
        assert self.path == f"/api/v2/dags/{DAG}"
        self.server.paused = asked["is_paused"]
        return self._answer({"dag_id": DAG, "is_paused": self.server.paused})

    def do_DELETE(self) -> None:
        found = _RUNS.fullmatch(self.path)
        del self.server.at_work[f"{found[1]}/{unquote(found[2])}"]
        self.send_response(204)
        self.end_headers()

    def _runs(self, dag: str, run: str | None, asked: dict[str, list[str]]) -> None:
        known = {name.partition("/")[2]: one for name, one in self.server.at_work.items() if name.startswith(f"{dag}/")}
        if run is None:
            (before,) = asked.get("end_date_lt", [""])
            found = [
                {**one, "dag_run_id": name}
                for name, one in known.items()
                if one["state"] in asked["state"] and (not before or one["end_date"] < before)
            ]
            return self._answer({"dag_runs": found})
        return self._answer(known[run]) if run in known else self._answer({"detail": "Not Found"}, 404)

    def _answer(self, body: object, status: int = 200) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def airflow() -> Iterator[Airflow]:
    with Airflow() as server:
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
