"""A login and a person's token go to the address that people wrote, and to no other one: against real HTTP servers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from sluice.airflow_api.client import AirflowApi, Redirected
from sluice.airflow_api.dags import Dags
from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError
from sluice.loopback import without_proxies

PROJECT = Path(__file__).resolve().parents[2]
TOKEN = "canary-5f3a9c-token"
SETTINGS = """
sources: {flights: {connection: m, tables: {public.t: {}}}}
slaves: {zurich: {connection: z}}
replications: [{source: flights, slave: zurich}]
control: c
"""


@contextmanager
def server(code: int, location: str = "") -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """Answers everything so; its address, and the requests that came, each as its line and the token that it bore."""
    came: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            came.append((self.requestline, self.headers["Authorization"]))
            self.send_response(code)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        do_GET = do_POST = do_PATCH = answer

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        Thread(target=listening.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}", came
        listening.shutdown()


def at(address: str) -> ConnectionInfo:
    host, _, port = address.rpartition(":")
    return ConnectionInfo("http", host, int(port), "", "admin", "canary-5f3a9c-password")


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("method", ["GET", "POST", "PATCH"])
def test_nobody_is_followed_with_a_login_or_a_token(code, method):
    with server(200) as (other, stolen), server(code, f"{other}/api/v2/dags") as (address, asked):
        for api in (AirflowApi(at(address), TOKEN), AirflowApi(at(address))):
            with pytest.raises(Redirected, match=f"{address} sends callers on to {other}"):
                api.ask("/api/v2/dags", method, {} if method != "GET" else None)
    assert [token for _, token in asked] == [f"Bearer {TOKEN}", "Bearer "]
    assert stolen == []


@pytest.mark.parametrize("location", ["/elsewhere", "file:///etc/passwd", "http://127.0.0.1:1/\x1b[2J", ""])
def test_no_other_place_is_asked_either(location):
    with server(302, location) as (address, asked), pytest.raises(OSError, match=r"sends callers on|HTTP Error 302"):
        AirflowApi(at(address), TOKEN).ask("/api/v2/dags")
    assert len(asked) == 1


def test_a_command_says_who_sends_it_on_and_what_to_write(read):
    with (
        server(200) as (other, _),
        server(307, f"{other}/x") as (address, _),
        pytest.raises(SluiceError, match=other) as refused,
    ):
        Dags(read(SETTINGS), at(address), TOKEN).switch("publish", "flights", paused=True)
    assert (refused.value.code, "sluice connect" in refused.value.hint) == (915, True)


@pytest.mark.parametrize("name", ["http_proxy", "all_proxy", "HTTP_PROXY"])
def test_requests_to_this_machine_take_no_proxy_and_others_do(monkeypatch, name):
    with server(200) as (proxy, taken), server(200) as (address, asked):
        monkeypatch.setenv(name, proxy)
        for host in ("127.0.0.1", "localhost"):
            AirflowApi(at(address.replace("127.0.0.1", host)), TOKEN).ask("/api/v2/dags")
        healthy = [sys.executable, PROJECT / "deploy" / "healthy.py", address]
        subprocess.run(healthy, env={name: proxy}, check=True, timeout=20)
        assert (len(asked), taken) == (3, [])
        if name != "all_proxy":
            AirflowApi(at("http://airflow.example:80"), TOKEN).ask("/api/v2/dags")
            assert [line for line, _ in taken] == ["GET http://airflow.example:80/api/v2/dags HTTP/1.1"]
    assert without_proxies() == dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1,::1")
    monkeypatch.setenv("NO_PROXY", "db.example, localhost")
    assert set(without_proxies().values()) == {"db.example,localhost,127.0.0.1,::1"}
