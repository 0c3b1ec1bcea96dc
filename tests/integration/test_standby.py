"""The gate of a slave: standby by ADMIN through Airflow's pause switch, by EXCEPTION, and who put it there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest

from sluice.connections import ConnectionInfo
from sluice.control import pause, replications
from sluice.errors import SluiceError
from sluice.state.dispatcher import Hold

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, note text)"
DAG = "drain__flights__zurich"


class Airflow(ThreadingHTTPServer):
    """The four calls of Airflow's REST API that a drain makes, in the shape that Airflow 3.3 gives them.

    Attributes:
        paused_at_look: the DAG is paused by somebody at this look (1 is the first one).
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Calls)
        self.paused = False
        self.actor = ""
        self.tells_who = True
        self.looks = 0
        self.paused_at_look = 0

    def info(self) -> ConnectionInfo:
        """The connection that a job is given."""
        return ConnectionInfo("http", "127.0.0.1", self.server_port, "", "admin", "secret")

    def pause(self, actor: str) -> None:
        """What a click on the switch does."""
        self.paused, self.actor = True, actor


class _Calls(BaseHTTPRequestHandler):
    server: Airflow

    def do_POST(self) -> None:
        login = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert (self.path, login) == ("/auth/token", {"username": "admin", "password": "secret"})
        self._answer({"access_token": "a-token"}, 201)

    def do_GET(self) -> None:
        if self.headers["Authorization"] != "Bearer a-token":
            return self._answer({"detail": "Not authenticated"}, 401)
        address = urlsplit(self.path)
        if address.path == f"/api/v2/dags/{DAG}":
            self.server.looks += 1
            if self.server.looks == self.server.paused_at_look:
                self.server.pause("eva")
            return self._answer({"dag_id": DAG, "is_paused": self.server.paused})
        if not self.server.tells_who:
            return self._answer({"detail": "Forbidden"}, 403)
        asked = parse_qs(address.query)
        assert (address.path, asked["dag_id"], asked["event"]) == ("/api/v2/eventLogs", [DAG], ["patch_dag"])
        return self._answer({"event_logs": [{"owner": self.server.actor}] if self.server.actor else []})

    def do_PATCH(self) -> None:
        self.server.paused = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["is_paused"]
        self._answer({"dag_id": DAG, "is_paused": self.server.paused})

    def _answer(self, body: object, status: int = 200) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def airflow() -> Iterator[Airflow]:
    with Airflow() as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


@pytest.fixture
def world(build, airflow):
    world = build(DDL, ["public.t"], slave={"max_batch": 1})
    world.infos[world.context.config.airflow_api] = airflow.info()
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    return world


def holds(world):
    return replications.holds(world.context.store, world.pair("zurich"))


def audited(world):
    rows = world.reader("control").execute(
        "SELECT actor, event, detail FROM audit WHERE event IN ('standby', 'activate') ORDER BY id"
    )
    return rows.fetchall()


def test_a_paused_dag_is_standby_by_the_person_who_paused_it(world, airflow):
    airflow.pause("eva")
    ended = world.drain()
    assert ended["standby"] == "the drain DAG is paused by eva"
    assert ended["transactions"] == 0
    assert (holds(world)[Hold.ADMIN].actor, holds(world)[Hold.ADMIN].reason) == ("eva", "the drain DAG was paused")
    world.drain()
    assert audited(world) == [("eva", "standby", "ADMIN: the drain DAG was paused")], "recorded once"


def test_unpausing_lifts_the_standby_and_delivers_although_the_source_was_idle_since(world, airflow):
    airflow.pause("eva")
    world.drain()
    airflow.paused = False
    assert world.drain()["transactions"] == 1
    assert holds(world) == {}
    assert [event for _, event, _ in audited(world)] == ["standby", "activate"]
    assert world.differences() == {}


def test_a_running_drain_looks_at_the_gate_between_batches(world, airflow, monkeypatch):
    monkeypatch.setattr(pause, "SECONDS_BETWEEN_LOOKS", 0.0)
    for number in range(2, 12):
        world.master.execute("INSERT INTO t VALUES (%s, 'a')", [number])
    world.publish()
    airflow.paused_at_look = 6
    ended = world.drain()
    assert ended["standby"] == "the drain DAG is paused by eva"
    assert 0 < ended["transactions"] < 11, "it stopped between two batches"
    airflow.paused = False
    assert world.drain()["transactions"] == 11 - ended["transactions"]
    assert world.differences() == {}


def test_a_terminal_error_is_standby_with_its_text_until_somebody_unpauses(world, airflow):
    world.reader("zurich").execute("DROP TABLE t")
    with pytest.raises(SluiceError, match=r"SLC-070") as caught:
        world.drain()
    note = holds(world)[Hold.EXCEPTION]
    assert note.reason == str(caught.value)
    assert "\nHINT: " in note.reason
    assert airflow.paused, "the pages show the standby, too"
    assert "paused" in world.drain()["standby"]
    assert set(holds(world)) == {Hold.EXCEPTION}, "this pause was ours and nobody's decision"
    world.reader("zurich").execute(DDL)
    airflow.paused = False
    assert world.drain()["transactions"] == 1
    assert holds(world) == {}


def test_a_paused_dag_is_standby_even_if_nobody_tells_by_whom(world, airflow):
    airflow.pause("eva")
    airflow.tells_who = False
    assert world.drain()["standby"] == "the drain DAG is paused"
    assert holds(world)[Hold.ADMIN].actor == "somebody"


def test_without_an_answer_the_gate_stays_as_it_was(world, airflow):
    airflow.pause("eva")
    world.drain()
    airflow.shutdown()
    airflow.server_close()
    assert world.drain()["transactions"] == 0, "nobody knows that it was unpaused"
    assert set(holds(world)) == {Hold.ADMIN}


def test_a_hold_of_an_update_is_not_lifted_by_unpausing(world):
    replications.shut(world.context.store, world.pair("zurich"), Hold.INITIAL, "initial update 7")
    assert world.drain()["standby"] == "INITIAL: initial update 7"
    assert set(holds(world)) == {Hold.INITIAL}
