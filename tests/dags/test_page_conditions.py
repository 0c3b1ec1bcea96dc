"""Each condition of a slave in a browser: a tired person sees that it is not well, why, and what to do."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from playwright.sync_api import expect
from support.browser import opened, shot
from support.pages import compared, token
from support.world import SOURCE

from sluice.model.action import Action
from sluice.model.ddl_question import DdlQuestion
from sluice.model.names import TableName
from sluice.state.condition import ReplicationCondition
from sluice.state.ddl_question import QuestionState
from sluice.state.dispatcher import Hold
from sluice.state.replication import ReplicationEvent
from sluice.store import blocked, ddl_questions, known_differences, replications, transfers

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow, pytest.mark.full]
ERROR = "SLC-140: transaction 7 cannot be done\nHINT: see the runbook; then type: ./sluice unpause flights zurich"
SHAPE = {"schema": "public", "table": "t", "columns": [], "key": []}
ASKED = json.dumps({"before": SHAPE, "after": SHAPE, "statement": "ALTER TABLE t DROP v"})
LOADING = """INSERT INTO initial_update (source, state, run, chunks, chunks_done, snapshot)
VALUES ('flights', 'LOADING', 'initial_update/manual__1', 8, 3, 'x') RETURNING id"""


def begun(world) -> int:
    (number,) = world.session("control").execute(LOADING).fetchone()
    replications.request(world.context.store, [world.pair("zurich")], number)
    return number


def inconsistent(world) -> None:
    store, pair = world.context.store, world.pair("zurich")
    replications.try_record(store, pair, ReplicationEvent.BREAK, "its queue was cleared", update_id=None, who="ada")


def stopped(world) -> None:
    replications.shut(world.context.store, world.pair("zurich"), Hold.EXCEPTION, ERROR, "drain__flights__zurich/r/d/1")


def asked(world) -> None:
    question = DdlQuestion(4, 7, Action.ALTER, "public.t", ASKED)
    ddl_questions.put(world.context.store, world.pair("zurich"), question, QuestionState.WAITING)


def carried(world) -> None:
    pair = world.pair("zurich")
    place = "/srv/sluice/stored"
    transfers.begin(world.context.store, transfers.Transfer(pair, begun(world), place, "flights_1", "0" * 64, 3))


def catching_up(world) -> None:
    store, pair, number = world.context.store, world.pair("zurich"), begun(world)
    replications.try_record(store, pair, ReplicationEvent.DUMPED, update_id=number)
    replications.open_gate(store, pair, number, "loaded")


def uncaptured(world) -> None:
    """Both slaves lack it: it is so of the source."""
    world.master.execute("UPDATE repl_settings SET detection = false; CREATE TABLE made_later (id int PRIMARY KEY)")


def late(world) -> None:
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()
    world.drain("geneva")
    world.session("control").execute("UPDATE segment SET published_at = published_at - interval '1 hour'")


# How each comes about; those that Airflow or a server has are made in the test.
MADE = {
    ReplicationCondition.INCONSISTENT: inconsistent,
    ReplicationCondition.STOPPED: stopped,
    ReplicationCondition.QUESTION: asked,
    ReplicationCondition.UNREACHABLE: None,
    ReplicationCondition.FILES: carried,
    ReplicationCondition.DIFFERENT: lambda world: compared(world),
    ReplicationCondition.INCOMPLETE: lambda world: blocked.skip(
        world.context.store, world.pair("zurich"), TableName("public", "t"), "ada"
    ),
    ReplicationCondition.DOUBTFUL: lambda world: known_differences.doubt(
        world.context.store, world.pair("zurich"), 9, ["public.t"]
    ),
    ReplicationCondition.UNPUBLISHED: None,
    ReplicationCondition.UNCONFIGURED: lambda world: world.session("control").execute(
        "DELETE FROM replication WHERE slave = 'zurich'"
    ),
    ReplicationCondition.STANDBY: lambda world: replications.shut(
        world.context.store, world.pair("zurich"), Hold.ADMIN, "maintenance", "ada"
    ),
    ReplicationCondition.FILLED: begun,
    ReplicationCondition.CATCHING_UP: catching_up,
    ReplicationCondition.LATE: late,
    ReplicationCondition.WELL: lambda world: None,
}
WAYS = [*MADE.items(), (ReplicationCondition.INCOMPLETE, uncaptured)]


# Pieces of advice; where there is none, nothing is to be done.
TOLD = {
    ReplicationCondition.QUESTION: 2,
    ReplicationCondition.FILLED: 0,
    ReplicationCondition.CATCHING_UP: 0,
    ReplicationCondition.WELL: 0,
}


@pytest.fixture
def made(pages_world, people, connect, monkeypatch):
    """Let one slave have a condition; Airflow's pages look at servers and connections each time."""
    monkeypatch.setattr("sluice.monitor.reach.SECONDS_BETWEEN_LOOKS", 0.0)
    monkeypatch.setattr("sluice_airflow.api_server._KEPT_S", 0.0)
    publish = f"/api/v2/dags/publish__{SOURCE}"

    def make(condition: ReplicationCondition, way) -> None:
        if condition is ReplicationCondition.UNREACHABLE:
            info = pages_world.infos[pages_world.context.config.slave("zurich").connection]
            fields = {"schema": info.database, "login": info.login, "password": info.password}
            name = pages_world.context.config.slave("zurich").connection
            connect(name, conn_type=info.conn_type, host="127.0.0.1", port=1, **fields)
        elif condition is ReplicationCondition.UNPUBLISHED:
            people["admin"].ask(publish, "PATCH", {"is_paused": True})
        else:
            way(pages_world)

    yield make
    people["admin"].ask(publish, "PATCH", {"is_paused": False})


@pytest.mark.parametrize(("condition", "way"), WAYS)
def test_a_person_sees_that_a_slave_is_not_well_and_what_to_do(made, address, people, tmp_path, condition, way):
    assert set(MADE) == set(ReplicationCondition)
    made(condition, way)
    url, well = f"http://127.0.0.1:{address}", condition is ReplicationCondition.WELL
    with opened(url, viewport={"width": 1300, "height": 900}) as page:
        page.context.add_cookies([{"name": "_token", "value": quote(token(people, "admin")), "url": url}])
        page.goto("/sluice/")
        both = way is uncaptured or condition in (ReplicationCondition.UNPUBLISHED, ReplicationCondition.WELL)
        expect(page.locator(".counts")).to_contain_text(f"{condition}: {2 if both else 1}")
        row = page.get_by_role("row", name="zurich")
        expect(row.get_by_text(str(condition), exact=True)).to_have_count(0 if well else 1)
        shot(page, tmp_path, "list")
        slaves = page.locator("table.replications tbody tr")
        expect(slaves.first).to_contain_text("zurich")
        for shown, chosen in (((2 if both else 1), str(condition)), (2, "")):
            # Once for these alone, and once for all again.
            page.get_by_role("link", name=f"{condition}: {2 if both else 1}").click()
            expect(page.get_by_label("Status")).to_have_value(chosen)
            expect(slaves).to_have_count(shown)
        page.goto(f"/sluice/replications/{SOURCE}/zurich")
        head = page.get_by_role("banner").or_(page.locator("header.top"))
        expect(head.get_by_text(str(condition), exact=True)).to_have_count(0 if well else 1)
        expect(page.locator(".attention .todo, #question")).to_have_count(TOLD.get(condition, 1))
        expect(page.locator(".attention.urgent")).to_have_count(1 if condition.colour == "red" else 0)
        shot(page, tmp_path, "details")
