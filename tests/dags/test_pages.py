"""The pages and their REST API in Airflow's own API server, with a control store on a real server: who may do what,
and what is shown."""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict
from itertools import product

import pytest
import yaml
from airflow.configuration import conf
from airflow.models import DagModel
from airflow.utils.session import create_session
from sqlalchemy import update
from support.pages import BODIES, QUERIES, REJECTED, at, compared, ours, pages, routes, token
from support.world import SOURCE

from sluice.model.access import Right
from sluice.model.action import Action
from sluice.model.blocking_transaction import BlockingTransaction, Touched
from sluice.model.ddl_question import DdlQuestion
from sluice.model.statement import WantedStatement
from sluice.pages.entry import TOKEN_HEADER, page_token
from sluice.state.ddl_question import QuestionState
from sluice.state.dispatcher import Hold
from sluice.state.replication import ReplicationEvent
from sluice.store import blocked, ddl_questions, rejected_changes, replications, statement_results

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
ROUTES = routes()
GRANTED = {
    "vera": set(),
    "eva": {Right.READ, Right.SWITCH},
    "otto": {Right.READ, Right.SWITCH, Right.FILL, Right.COMPARE},
    "admin": set(Right),
}
ZURICH = f"/replications/{SOURCE}/zurich"


def right(route) -> Right | None:
    """None of style and script: a page that refuses has them, too."""
    needed = [one.dependency.right for one in route.dependencies]
    assert needed or route.path == "/static/{name}"
    return needed[0] if needed else None


@pytest.fixture
def world(pages_world):
    """Two slaves, which Airflow has the connections of, a comparison, and a statement that waits for its run."""
    compared(pages_world, "geneva")
    statement_results.begin(pages_world.context.store, SOURCE, ["zurich"], WantedStatement("SELECT 1"), begun=False)
    return pages_world


def refused(world) -> list[tuple[object, ...]]:
    told = "SELECT actor, source, slave FROM audit WHERE event = 'refused' ORDER BY id"
    return world.reader("control").execute(told).fetchall()


def test_nobody_comes_in_who_has_not_logged_in(world, visit):
    for route, client in product(ROUTES, (visit(None), visit(None, Authorization="Bearer nonsense"))):
        (method,) = route.methods
        answer = client.request(method, at(route))
        assert answer.status_code == 401, route.path
        assert "zurich" not in answer.text.replace(at(route), "")
    assert visit(None).get("/no/such/page").status_code == 401


@pytest.mark.parametrize("name", GRANTED)
def test_each_role_may_do_what_the_guide_says_and_no_more(world, visit, address, name):
    client, trail = visit(name), []
    for route in ROUTES:
        (method,) = route.methods
        before = world.reader("control").execute("SELECT * FROM hold").fetchall()
        last = route.path.rpartition("/")[2]
        how = {"json": BODIES.get(last), "params": QUERIES.get(last)}
        answer = client.request(method, at(route, slave="geneva"), headers=ours(client, address), **how)
        if right(route) in {*GRANTED[name], None}:
            assert answer.status_code in (200, 409), f"{route.path}: {answer.text}"
            continue
        assert answer.status_code == 403, route.path
        assert "SLC-300" in answer.text or answer.json()["code"] == 300
        # A page that is open asks again and again: only commands are in the trail.
        trail += [name] if method == "POST" else []
        assert [who for who, *_ in refused(world)] == trail, route.path
        assert world.reader("control").execute("SELECT * FROM hold").fetchall() == before


def test_a_user_is_given_a_role_by_name(world, visit):
    world.settings["pages"] = {"users": {"vera": "user"}, "user": []}
    (world.path / "replication.yaml").write_text(yaml.safe_dump(world.settings))
    assert [visit(name).get("/").status_code for name in ("vera", "eva", "otto")] == [200, 403, 200]


@pytest.mark.parametrize("lacking", ["token", "origin", "all", "another site", "another's token"])
def test_another_site_cannot_have_a_command_given(world, visit, address, people, lacking):
    client = visit("eva")
    headers = ours(client, address)
    if lacking in ("token", "all"):
        del headers[TOKEN_HEADER]
    if lacking in ("origin", "all"):
        del headers["Origin"]
    if lacking == "another site":
        headers["Origin"] = "https://evil.example"
    if lacking == "another's token":
        headers[TOKEN_HEADER] = ours(visit("otto"), address)[TOKEN_HEADER]
    answer = client.post(f"/api/v1{ZURICH}/standby", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, 393)
    assert replications.holds(world.context.store, world.pair("zurich")) == {}
    # A program brings its token by itself.
    program = visit(None, Authorization=f"Bearer {token(people, 'eva')}")
    assert program.get(f"/api/v1{ZURICH}").json()["status"] == "NORMAL"


@pytest.mark.parametrize(("age_s", "code"), [(3_500, 200), (3_700, 403)])
def test_a_page_may_give_commands_for_an_hour(world, visit, address, age_s, code):
    client, secret = visit("eva"), str(conf.get("api", "secret_key")).encode()
    made = int(time.time()) - age_s
    headers = ours(client, address) | {TOKEN_HEADER: page_token(secret, "eva", made)}
    answer = client.post(f"/api/v1{ZURICH}/standby", headers=headers)
    assert (answer.status_code, "reload the page" in answer.text) == (code, code == 403)
    # Nor does a page become younger by its own words.
    headers[TOKEN_HEADER] = headers[TOKEN_HEADER].replace(str(made), str(made + age_s))
    assert client.post(f"/api/v1{ZURICH}/activate", headers=headers).status_code == 403


def test_the_pages_and_rest_show_what_the_status_says(world, visit):
    world.master.execute("INSERT INTO t VALUES (1)")
    world.master.execute("INSERT INTO t VALUES (2)")
    world.publish()
    client = visit("eva")
    first, second = client.get("/api/v1/replications").json()
    shown = json.loads(json.dumps(asdict(world.standing("zurich"))))
    # Whether a publisher is late is a matter of the moment.
    beside = ("lag_s", "resting", "why", "publishing", "condition")
    assert first["condition"] == shown["condition"] or first["publishing"] != shown["publishing"]
    assert {name: first[name] for name in first if name not in beside} == {
        name: shown[name] for name in shown if name not in beside
    }
    assert (first["slave"], first["holdback"], second["slave"]) == ("zurich", 2, "geneva")
    listed = client.get("/").text
    assert ">zurich</a>" in listed
    assert re.search(r"<b>2</b>", listed)
    assert ">geneva</a>" not in client.get("/?q=ZUR").text
    assert ">zurich</a>" not in client.get("/?status=INCONSISTENT").text
    backwards = client.get("/?sort=name&down=1").text
    assert backwards.index(">geneva</a>") > backwards.index(">zurich</a>")
    forwards = client.get("/?sort=name").text
    assert forwards.index(">geneva</a>") < forwards.index(">zurich</a>")
    # What needs attention comes first: geneva differs from its master, and then zurich has to be filled again.
    replications.record(world.context.store, world.pair("zurich"), ReplicationEvent.BREAK, "nobody fills it")
    urgent = client.get("/").text
    assert urgent.index(">zurich</a>") < urgent.index(">geneva</a>")
    assert listed.index(">geneva</a>") < listed.index(">zurich</a>")
    assert set(client.get("/api/v1/openapi.json").json()["paths"]) == {
        one.path for one in ROUTES if one.include_in_schema and "/api/" in one.path
    }


def test_pauses_by_airflow_s_own_switch_are_in_the_trail_once_with_who_it_was(pages_world, people):
    """No drain is at work that could see it, and the publisher has nothing to publish."""
    world = pages_world
    drain, publish = "/api/v2/dags/drain__flights__zurich", "/api/v2/dags/publish__flights"

    def trail():
        told = "SELECT source, slave, actor, event, detail FROM audit WHERE event = ANY (%s) ORDER BY id"
        return world.reader("control").execute(told, [["standby", "activate"]]).fetchall()

    world.publish()
    assert trail() == []
    people["eva"].ask(drain, "PATCH", {"is_paused": True})
    people["otto"].ask(publish, "PATCH", {"is_paused": True})
    for _ in range(2):
        world.publish()
    paused = [
        (SOURCE, "zurich", "eva", "standby", "ADMIN: the drain DAG was paused"),
        (SOURCE, "", "otto", "standby", "ADMIN: the publish DAG was paused"),
    ]
    assert trail() == paused
    people["otto"].ask(drain, "PATCH", {"is_paused": False})
    people["eva"].ask(publish, "PATCH", {"is_paused": False})
    for _ in range(2):
        world.publish()
        world.drain("zurich")
    assert trail()[2:] == [
        (SOURCE, "", "eva", "activate", "ADMIN: the publish DAG was unpaused"),
        (SOURCE, "zurich", "otto", "activate", "ADMIN: the drain DAG was unpaused"),
    ]
    # As Airflow does after failed runs: its log does not tell.
    with create_session() as session:
        session.execute(update(DagModel).where(DagModel.dag_id == "drain__flights__zurich").values(is_paused=True))
    world.publish()
    assert trail()[4:] == [(SOURCE, "zurich", "somebody", "standby", "ADMIN: the drain DAG was paused")]


def test_a_user_puts_a_slave_on_standby_and_activates_it(world, visit, address, people):
    client, pair = visit("eva"), world.pair("zurich")
    headers = ours(client, address)
    # Airflow knows the DAGs of the example that we ship, which has this one.
    drain = "/api/v2/dags/drain__flights__zurich"
    assert client.post(f"/api/v1{ZURICH}/standby", headers=headers).status_code == 200
    assert people["admin"].ask(drain)["is_paused"] is True
    held = replications.holds(world.context.store, pair)[Hold.ADMIN]
    assert (held.actor, client.get(f"/api/v1{ZURICH}").json()["dispatcher"]) == ("eva", "STANDBY (ADMIN)")
    assert "ADMIN</b> by eva" in client.get(ZURICH).text
    # Somebody who pauses it in Airflow is named as well.
    replications.lift(world.context.store, pair, Hold.ADMIN, "for a test")
    assert "paused by eva" in client.get(ZURICH).text
    assert client.post(f"/api/v1{ZURICH}/activate", headers=headers).status_code == 200
    assert people["admin"].ask(drain)["is_paused"] is False
    assert (replications.holds(world.context.store, pair), world.standing("zurich").dispatcher) == ({}, "ACTIVE")
    # As Airflow does after failed runs: the last who touched the switch unpaused it.
    with create_session() as session:
        session.execute(update(DagModel).where(DagModel.dag_id == "drain__flights__zurich").values(is_paused=True))
    assert "paused by somebody" in client.get(ZURICH).text
    people["admin"].ask(drain, "PATCH", {"is_paused": False})
    trail = "SELECT actor, event FROM audit WHERE actor = 'eva' ORDER BY id"
    assert world.reader("control").execute(trail).fetchall() == [("eva", "standby"), ("eva", "activate")]


def test_a_dispatcher_that_an_initial_update_holds_is_left_alone(world, visit, address):
    replications.request(world.context.store, [world.pair("zurich")], 7)
    client = visit("admin")
    headers = ours(client, address)
    answers = [client.post(f"/api/v1{ZURICH}/{one}", headers=headers) for one in ("standby", "activate")]
    assert [(one.status_code, one.json()["code"]) for one in answers] == [(409, 20), (409, 20)]
    stands, shut = (one.json()["fact"] for one in answers)
    assert ("would stand still" in stands, "is shut" in shut) == (True, True)
    assert world.standing("zurich").dispatcher == "STANDBY (INITIAL)"


CONTROLS = {
    "eva": ["Refresh", "Standby"],
    "otto": ["Refresh", "Standby", "Initial update", "Fill again", "Compare now"],
    "admin": [
        *("Refresh", "Standby", "Initial update", "Fill again", "Compare now"),
        *("Remove first", "Clear queue", "Remove"),
    ],
}


@pytest.mark.parametrize(("name", "controls"), CONTROLS.items())
def test_a_page_has_the_controls_that_a_person_may_use(world, visit, name, controls):
    touched = Touched("public.t", {"I": 1}, ("id",))
    blocked.record(world.context.store, world.pair("zurich"), BlockingTransaction(3, "5017", 1, 2, (touched,)))
    shown = visit(name).get(ZURICH).text.partition("<header")[2].partition("</header>")[0]
    assert re.findall(r">\s*([A-Z][^<]+?)\s*</(?:button|a)>", shown) == controls


@pytest.mark.parametrize("name", GRANTED)
def test_pages_offer_a_person_all_that_rest_lets_them_do_and_no_more(world, visit, name):
    blocked.record(world.context.store, world.pair("zurich"), BlockingTransaction(3, "5017", 1, 2))
    replications.request(world.context.store, [world.pair("geneva")], 7)
    compared(world)
    rejected_changes.keep(world.context.store, world.pair("zurich"), [REJECTED])
    shown = [visit(name).get(one).text for one in (*pages(), f"/replications/{SOURCE}/geneva")]
    offered = re.findall(r'data-(?:post|submit|json)="/sluice([^"]+)"', "".join(shown))
    commands = {one.path_regex: one for one in ROUTES if "POST" in one.methods}
    found = {route.path for regex, route in commands.items() if any(map(regex.match, offered))}
    assert found == {one.path for one in commands.values() if right(one) in GRANTED[name]}


HOSTILE = "<script>alert(1)</script>'; DROP TABLE audit; --\x1b[2J\u202e&amp;"


def test_texts_of_others_are_shown_as_texts(world, visit):
    store, pair = world.context.store, world.pair("zurich")
    replications.shut(store, pair, Hold.EXCEPTION, HOSTILE, HOSTILE)
    touched = Touched(f"public.{HOSTILE}", {"I": 1}, (HOSTILE,))
    blocked.record(store, pair, BlockingTransaction(3, HOSTILE, 1, 2, (touched,)))
    replications.record(store, pair, ReplicationEvent.BREAK, HOSTILE, who=HOSTILE)
    client = visit("admin")
    escaped = "&lt;script&gt;alert(1)&lt;/script&gt;"
    shown = client.get(ZURICH).text
    assert shown.count(escaped) >= 5
    told = [shown, client.get("/", params={"q": HOSTILE, "status": HOSTILE, "sort": HOSTILE}).text]
    told += [client.get(f"/replications/{SOURCE}/{'%3Cscript%3Ealert(1)%3C%2Fscript%3E'}").text]
    told += [client.get("/initial-update", params={"source": HOSTILE, "slave": HOSTILE}).text]
    assert "<script>alert" not in "".join(told)
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", "".join(told))
    assert visit("vera").get(f"/replications/{'a%00b'}/{'%3Cb%3E'}").status_code == 403


def test_a_page_may_ask_no_other_host_and_be_in_no_other_frame(world, visit):
    answer = visit("eva").get("/")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]
    assert not re.search(r"""(?:src|href|action)=["']?(?:https?:)?//""", answer.text)
    assert "style=" not in answer.text


def test_a_configuration_that_cannot_be_read_is_told_and_read_again_once_it_is_mended(world, visit, caplog):
    file, client = world.path / "replication.yaml", visit("eva")
    file.write_text("sources: nonsense")
    answer = client.get("/")
    assert (answer.status_code, "SLC-002" in answer.text) == (500, True)
    # Who has no role would read lines of it.
    assert "nonsense" not in answer.text
    assert "sources" in caplog.text
    file.write_text(yaml.safe_dump(world.settings))
    assert client.get("/").status_code == 200


def test_which_configuration_the_last_runs_have_is_shown_and_that_a_newer_one_is_not_in_force_yet(pages_world, visit):
    world = pages_world
    world.publish()
    world.drain("zurich")
    before = world.context.config.fingerprint

    def shown() -> str:
        page = visit("eva").get(ZURICH).text
        return re.sub(r"<[^>]+>", "", page.partition(">Configuration</dt>")[2].partition("</dd>")[0])

    assert re.fullmatch(rf"{before} drain, \S+{before} publisher, \S+", shown())
    world.configure(lambda settings: settings["replications"][0].update(alters="ask"))
    (world.path / "replication.yaml").write_text(yaml.safe_dump(world.settings))
    newer = f" not in force yet: the newer {world.context.config.fingerprint}"
    assert re.fullmatch(rf"{before} drain, \S+{newer}{before} publisher, \S+{newer}", shown())


ADDED = {"schema": "public", "table": "t", "columns": [], "key": []}
ASKED = json.dumps({"before": ADDED, "after": ADDED, "statement": "ALTER TABLE t ADD secret text DEFAULT '<b>x</b>'"})


@pytest.mark.parametrize("state", [QuestionState.WAITING, QuestionState.STOPPED])
def test_a_slave_that_waits_for_an_answer_is_shown_what_is_asked_and_not_told_to_remove_it(world, visit, state):
    store, pair = world.context.store, world.pair("zurich")
    blocked.record(store, pair, BlockingTransaction(4, "5017", 7, 7, (Touched("public.t", {"A": 1}, ("id",)),)))
    ddl_questions.put(store, pair, DdlQuestion(4, 7, Action.ALTER, "public.t", ASKED), state)
    shown = {name: visit(name).get(ZURICH).text for name in ("admin", "otto")}
    for text in shown.values():
        assert "It waits for an answer about transaction 4" in text
        asked = state is QuestionState.WAITING
        assert (f"/dags/decide/runs/{SOURCE}__zurich__7/required_actions" in text) is asked
        assert all((f"zurich {way} 7</code>" in text) is not asked for way in ("--approve", "--reject"))
        assert "Remove first" not in text
        assert (">waits for an answer</span>" in text) is asked
    assert "DEFAULT &#39;&lt;b&gt;x&lt;/b&gt;&#39;" in shown["admin"]
    assert "DEFAULT" not in shown["otto"], "a statement may have values in it"
    assert ("waits for an answer: 1" in visit("admin").get("/").text) is (state is QuestionState.WAITING)
