"""The control store hangs, or is away: the pages say so, and Airflow's own pages answer all the while."""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from threading import Event

import httpx
import pytest
import yaml
from support.auth_managers import let_airflow_decide, rights_alone
from support.pages import token
from support.proxy import line
from support.waiting import until

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
# More than the API server has threads.
VISITS = 60
DAGS = "/api/v2/dags?limit=1"


@pytest.fixture
def world(pages_world):
    """Two slaves, which Airflow has the connections of."""
    return pages_world


def test_a_store_that_is_away_is_told(world, visit, connect):
    control = world.infos["control"]
    connect("control", conn_type="postgres", host=control.host, port=1, schema="d", login="u", password="p")
    (world.path / "replication.yaml").write_text(yaml.safe_dump(world.settings) + "\n# another\n")
    answer = visit("eva").get("/")
    assert (answer.status_code, "SLC-060" in answer.text) == (503, True)


@contextmanager
def others_served(look: Callable[[], object]) -> Iterator[None]:
    """Airflow's own pages answer while the block runs.

    Args:
        look: at one of them.
    """
    over = Event()

    def look_often() -> int:
        answered = 0
        while not over.wait(0.05):
            look()
            answered += 1
        return answered

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look_often)
        try:
            yield
        finally:
            over.set()
            answered = looking.result()
    assert answered > 1


def visited(client, **headers: str) -> tuple[int, str]:
    answer = client.get("/", headers=headers)
    return answer.status_code, next((code for code in ("SLC-060", "SLC-379") if code in answer.text), "")


def told(world) -> None:
    """The API server sees other connections at once where the file is another one."""
    with (world.path / "replication.yaml").open("a") as file:
        file.write(f"\n# {time.monotonic()}\n")


@pytest.fixture
def hole():
    """The port of a socket that takes everybody, and answers nobody."""
    with socket.create_server(("127.0.0.1", 0), backlog=VISITS) as listening:
        yield listening.getsockname()[1]


@pytest.mark.full
def test_a_store_that_answers_nobody_holds_up_no_page_of_airflow(world, visit, connect, people, hole):
    connect("control", conn_type="postgres", host="127.0.0.1", port=hole, schema="d", login="u", password="p")
    told(world)
    client = visit("eva")
    with others_served(lambda: people["admin"].ask(DAGS)), ThreadPoolExecutor(VISITS) as pool:
        found = Counter(pool.map(visited, [client] * VISITS))
    assert set(found) == {(503, "SLC-060"), (503, "SLC-379")}
    assert client.get("/api/v1/replications").json()["code"] == 60


@pytest.mark.full
def test_a_store_that_hangs_in_the_middle_holds_up_no_page_of_airflow(world, visit, connect, people):
    control = world.infos["control"]
    client = visit("eva")
    with line(control) as carried:
        own = {"schema": control.database, "login": control.login, "password": control.password}
        connect("control", conn_type="postgres", host="127.0.0.1", port=carried.port, **own)
        told(world)
        assert visited(client) == (200, "")
        carried.silent = True
        with ThreadPoolExecutor(VISITS) as pool:
            with others_served(lambda: people["admin"].ask(DAGS)):
                asked = [pool.submit(visited, client) for _ in range(VISITS)]
                until(lambda: sum(not one.done() for one in asked) <= 3, "others wait as well", seconds=50)
                done, held = wait(asked, 0)
            # The sessions that are open wait for an answer, and nobody else does.
            assert 0 < len(held) <= 3
            assert {one.result() for one in done} <= {(503, "SLC-060"), (503, "SLC-379")}
            carried.silent = False
        assert {one.result()[0] for one in held} <= {200, 503}
        assert visited(client) == (200, "")


def test_senders_that_are_slow_or_say_too_much_keep_nobody_out(world, visit, people, address):
    head = f"POST /sluice/api/v1/initial-updates HTTP/1.1\r\nHost: x\r\nCookie: _token={token(people, 'vera')}\r\n"
    with ExitStack() as stack:
        senders = [stack.enter_context(socket.create_connection(("127.0.0.1", address))) for _ in range(VISITS)]
        for one in senders:
            one.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        assert visited(visit("eva")) == (200, "")
        assert senders[0].recv(100).startswith(b"HTTP/1.1 408 ")
    for too_much in ("Content-Length: 70000", "Transfer-Encoding: chunked"):
        with socket.create_connection(("127.0.0.1", address)) as one:
            one.sendall(f"{head}{too_much}\r\n\r\n".encode())
            assert one.recv(100).startswith(b"HTTP/1.1 413 ")


def test_people_without_a_role_who_wait_for_the_store_keep_nobody_out(world, visit):
    stranger, client = visit("vera"), visit("eva")
    # From here on the API server has the store of this test: while it changes, requests go on with the last one.
    assert visited(client) == (200, "")
    session = world.session("control")
    with session.transaction(), ThreadPoolExecutor(VISITS) as pool:
        # A refusal of a command is written down, and waits for that.
        session.execute("LOCK TABLE audit")
        asked = [pool.submit(stranger.post, "/api/v1/initial-updates", json={}) for _ in range(VISITS)]
        until(lambda: sum(not one.done() for one in asked) <= 1, "others wait as well", seconds=50)
        assert visited(client) == (200, "")
        session.execute("ROLLBACK")
    assert {one.result().status_code for one in asked} == {403, 503}


@pytest.mark.full
def test_a_table_of_the_store_that_is_locked_is_not_waited_for(world, visit):
    client = visit("eva")
    assert visited(client) == (200, "")
    session = world.session("control")
    with session.transaction():
        session.execute("LOCK TABLE replication")
        assert visited(client) == (503, "SLC-060")
    assert visited(client) == (200, "")


def test_people_about_whom_airflow_thinks_for_long_keep_nobody_out(world, address):
    """Airflow's auth manager asks its server about strangers, which takes long."""
    strangers = [f"stranger{number}" for number in range(VISITS)]
    let_airflow_decide(world)
    with rights_alone({"dora": {"administer POST RUN"}, **{name: set() for name in strangers}}) as (manager, tokens):
        url, many = f"http://127.0.0.1:{address}", httpx.Limits(max_connections=None)
        client = httpx.Client(base_url=f"{url}/sluice", timeout=60, limits=many)

        def ask(name: str) -> tuple[int, str]:
            return visited(client, Authorization=f"Bearer {tokens[name]}")

        assert ask("dora") == (200, "")
        manager.thinks.clear()
        with ThreadPoolExecutor(2 * VISITS) as pool:
            asked = [pool.submit(ask, name) for name in [*strangers, *strangers[:1] * VISITS]]
            try:
                with others_served(lambda: client.get(f"{url}/api/v2/version").raise_for_status()):
                    # Longer than an answer counts.
                    for _ in range(3):
                        begun = time.monotonic()
                        let_airflow_decide(world)
                        assert ask("dora") == (200, "")
                        assert time.monotonic() - begun < 5
                assert [one.result() for one in asked if one.done()] == []
            finally:
                manager.thinks.set()
            assert {one.result() for one in asked} <= {(403, ""), (503, "SLC-379")}
        client.close()
