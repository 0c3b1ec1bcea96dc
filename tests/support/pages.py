"""Visitors of the pages in Airflow's API server, and replications for these to show."""

from __future__ import annotations

import re
from threading import current_thread
from typing import cast

import httpx
import pytest
import yaml
from fastapi.routing import APIRoute
from sqlalchemy import Engine, event
from support.world import SOURCE

from sluice.connections import ConnectionInfo
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.row_conflict import RejectedChange, RowConflict
from sluice.model.row_difference import RowDifference
from sluice.pages.airflow import Airflow
from sluice.pages.app import application
from sluice.pages.entry import TOKEN_HEADER
from sluice.pages.scraper import METRICS
from sluice.store import comparisons

CANARY = "canary-5f3a9c-password"
# What commands are given, by the end of their address.
BODIES = {
    "initial-updates": {"source": SOURCE, "slaves": ["zurich"]},
    "remove-first": {"ordinal": 1},
    "remove": {"extent": "position"},
    "rejected": {"action": "drop", "through": 1},
    "repair": {"kinds": ["missing"], "dry_run": True},
    # Of the statements of a source.
    "{source}": {"sql": "SELECT 1"},
}
QUERIES = {"preview": {"source": SOURCE, "slave": "zurich"}, "rows": {"table": "public.t"}}


@pytest.fixture
def pages_world(request, build, address, connect, people, monkeypatch):
    """Two slaves, which Airflow has the connections of; the parameter is settings of the source, and `ddl`."""
    # The same Airflow serves other tests, which may have left a drain on standby.
    for name in ("zurich", "geneva"):
        people["admin"].ask(f"/api/v2/dags/drain__flights__{name}", "PATCH", {"is_paused": False})
    source = {"ddl": "CREATE TABLE t (id int PRIMARY KEY)"} | getattr(request, "param", {})
    made = build(source.pop("ddl"), ["public.*"], slaves=("zurich", "geneva"), source=source)
    made.infos[made.context.config.airflow_api] = ConnectionInfo("http", "127.0.0.1", address, "", "admin", CANARY)
    for name, info in made.infos.items():
        fields = {"host": info.host, "port": info.port, "schema": info.database, "login": info.login}
        connect(name, conn_type=info.conn_type, **fields, password=info.password, extra=info.extra)
    file = made.path / "replication.yaml"
    file.write_text(yaml.safe_dump(made.settings))
    monkeypatch.setenv("SLUICE_CONFIG", str(file))
    monkeypatch.setenv("SLUICE_HOME", str(made.path))
    return made


@pytest.fixture
def visit(address, people):
    """A client of the pages for a person, whose browser has the cookie of Airflow; or for nobody."""

    def visiting(name: str | None, **headers: str) -> httpx.Client:
        client = httpx.Client(base_url=f"http://127.0.0.1:{address}/sluice", headers=headers, timeout=60)
        if name:
            client.cookies.set("_token", token(people, name))
        return client

    return visiting


@pytest.fixture
def asked():
    """The queries of control stores, but those of the thread that looks whether servers answer."""
    found = []

    def keep(connection, _cursor, text, *_) -> None:
        ours = connection.dialect.name == "postgresql" and not current_thread().name.startswith("reach")
        if ours and not text.startswith("SET LOCAL"):
            found.append(text)

    event.listen(Engine, "before_cursor_execute", keep)
    yield found
    event.remove(Engine, "before_cursor_execute", keep)


# What a slave did not carry out.
REJECTED = RejectedChange(
    Layout(1, TableName("public", "t"), (Column("id", "integer", True),), (0,)),
    RowConflict.MISSING,
    "U",
    3,
    41,
    ["8"],
    ["7"],
)
# A master's rows beside a slave's.
DIFFERENT = (
    RowDifference("changed", ("7",), ("note",), ("7", "late, gate 12"), ("7", "late, gate 11")),
    RowDifference("missing", ("8",), (), ("8", None), None),
    RowDifference("extra", ("11",), (), None, ("11", "on time")),
)


def compared(world, slave: str = "zurich", report: int = 1, rows=DIFFERENT, more: int = 0, **body: object) -> None:
    """Record a comparison as `verify` does: two tables, of which one differs, in more missing rows than are kept."""
    counts = {kind: sum(row.kind == kind for row in rows) for kind in ("missing", "extra", "changed")}
    counts["missing"] += more
    known = {"schema": "public", "segment": 3, "ordinal": 17, "percent": 100}
    odd = {"name": "t", "counts": counts | {"more": more}, "key": ["id"], "columns": ["id", "note"]}
    of = (world.context.store, report, world.pair(slave))
    found = {"compared": 1400, "different": len(rows) + more, "sample": [], "body": {**known, **odd, **body}}
    comparisons.record(*of, "public.t", found, rows)
    equal = {"compared": 25, "different": 0, "sample": [], "body": {**known, "name": "u", **body}}
    comparisons.record(*of, "public.u", equal)


def token(people, name: str) -> str:
    return people[name]._send("/auth/token", "POST", people[name]._login)["access_token"]


def ours(client: httpx.Client, address: int) -> dict[str, str]:
    """What a page of ours sends with a command."""
    found = re.search(r'data-token="(\w+)"', client.get("/").text)
    return {TOKEN_HEADER: found[1] if found else "", "Origin": f"http://127.0.0.1:{address}"}


def routes() -> list[APIRoute]:
    """All that the application answers."""
    found = application(cast(Airflow, None)).routes
    assert all(isinstance(one, APIRoute) for one in found), "what answers without a route names no right"
    return [one for one in found if isinstance(one, APIRoute)]


def at(route: APIRoute, **names: str) -> str:
    """The address of a route, of one replication if it is of one."""
    known = {"source": SOURCE, "slave": "zurich", "name": "pages.css", "number": "1"} | names
    return re.sub(r"\{(\w+)\}", lambda found: known[found[1]], route.path)


def pages() -> dict[str, str]:
    """The addresses of all pages that people look at, with their names; a new one is among them."""
    outside = ("/api/", "/static/", "/parts/", METRICS)
    return {at(one): one.name for one in routes() if "GET" in one.methods and not one.path.startswith(outside)}
