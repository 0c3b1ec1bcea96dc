"""Commands of the pages and of REST in Airflow's own API server: what each begins, in whose name, and its refusals."""

from __future__ import annotations

import re

import pytest
import yaml
from support.pages import ours
from support.waiting import until
from support.world import SOURCE

from sluice.commands.leftovers import leftovers
from sluice.commands.remove_source import remove_source
from sluice.errors import SluiceError
from sluice.model.blocking_transaction import BlockingTransaction
from sluice.monitor import check
from sluice.state.dispatcher import Hold
from sluice.store import blocked, cascades, leases, replications

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
ZURICH = f"/replications/{SOURCE}/zurich"


@pytest.fixture
def world(pages_world):
    """Two slaves, which Airflow has the connections of."""
    return pages_world


def test_the_first_transaction_is_removed_by_a_run_of_an_administrator(world, visit, address, people):
    client = visit("admin")
    headers = ours(client, address)

    def removed(ordinal):
        return client.post(f"/api/v1{ZURICH}/remove-first", headers=headers, json={"ordinal": ordinal}).json()

    assert (removed(3)["code"], removed(3)["fact"]) == (172, "no transaction blocks zurich")
    blocked.record(world.context.store, world.pair("zurich"), BlockingTransaction(3, "5017", 1, 2))
    assert 'data-ordinal="3"' in client.get(ZURICH).text
    told = "zurich stands in front of transaction 3, and no longer of 2"
    assert (removed(2)["code"], removed(2)["fact"]) == (172, told), "another person removed that"
    dag, _, run = removed(3)["run"].partition("/")
    begun = people["admin"].ask(f"/api/v2/dags/{dag}/dagRuns/{run}")
    assert (begun["triggering_user_name"], begun["conf"]["remove_first"]) == ("admin", 3)


def test_a_queue_is_cleared_by_a_run_of_an_administrator(world, visit, address, people):
    client = visit("admin")
    headers = ours(client, address)

    def cleared():
        return client.post(f"/api/v1{ZURICH}/clear-queue", headers=headers)

    assert (cleared().status_code, cleared().json()["code"]) == (409, 20)
    assert cleared().json()["fact"].endswith(" is not cleared: no transaction waits for it")
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()
    assert "Discard the 1 transaction that waits for zurich" in client.get(ZURICH).text
    dag, _, run = cleared().json()["run"].partition("/")
    begun = people["admin"].ask(f"/api/v2/dags/{dag}/dagRuns/{run}")
    assert (begun["triggering_user_name"], begun["conf"]["clear_queue"]) == ("admin", True)
    assert world.status("zurich") == "NORMAL", "the run does it"


def test_a_replication_is_removed_by_a_run_of_an_administrator(world, visit, address, people):
    client, pair = visit("admin"), world.pair("zurich")
    headers = ours(client, address)

    def removed(**body):
        return client.post(f"/api/v1{ZURICH}/remove", headers=headers, json=body)

    assert removed(extent="everything").status_code == 422
    with leases.hold_lease(world.context.store, f"drain {pair}"):
        assert (removed(extent="tables").status_code, removed(extent="tables").json()["code"]) == (409, 387)
    dag, _, run = removed(extent="tables").json()["run"].partition("/")
    begun = people["admin"].ask(f"/api/v2/dags/{dag}/dagRuns/{run}")
    assert (begun["triggering_user_name"], begun["conf"]["remove"]) == ("admin", "tables")


def test_an_update_is_cancelled_at_once_in_the_name_of_an_administrator(world, visit, address):
    client, pair = visit("admin"), world.pair("zurich")
    headers = ours(client, address)
    refused = client.post(f"/api/v1{ZURICH}/cancel-update", headers=headers).json()
    assert (refused["code"], refused["fact"].partition(" is under way")[0]) == (172, "no initial update of zurich")
    begun = "INSERT INTO initial_update (source, state, run) VALUES ('flights', 'DUMPING', 'eva') RETURNING id"
    (number,) = world.session("control").execute(begun).fetchone()
    replications.request(world.context.store, [pair], number)
    assert "Cancel update" in client.get(ZURICH).text
    assert client.post(f"/api/v1{ZURICH}/cancel-update", headers=headers).status_code == 200
    assert (world.status("zurich"), replications.holds(world.context.store, pair)) == ("INCONSISTENT", {})
    said = "SELECT actor FROM audit WHERE slave = 'zurich' AND event = 'cancel'"
    assert world.reader("control").execute(said).fetchall() == [("admin",)]


def test_an_initial_update_is_begun_in_the_name_of_the_person(world, visit, address, people):
    client = visit("otto")
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()
    compared = "INSERT INTO comparison VALUES (DEFAULT, 1, 'flights', 'zurich', 'public.t', 12345, 0, '[]')"
    world.session("control").execute(compared)
    form = client.get(f"/initial-update?source={SOURCE}&slave=geneva").text
    assert re.search(r"<span>public.t <span class=\"quiet\">12,345 rows</span>", form)
    assert re.search(r'value="geneva" checked', form)
    wanted = {"source": SOURCE, "slaves": ["geneva"], "mode": "online"}
    answer = client.post("/api/v1/initial-updates", headers=ours(client, address), json=wanted)
    dag, _, run = answer.json()["run"].partition("/")
    begun = people["admin"].ask(f"/api/v2/dags/{dag}/dagRuns/{run}")
    assert (begun["triggering_user_name"], begun["conf"]["slaves"]) == ("otto", ["geneva"])
    unknown = client.post("/api/v1/initial-updates", headers=ours(client, address), json={**wanted, "slaves": ["bern"]})
    assert (unknown.status_code, unknown.json()["code"]) == (404, 3)


def test_a_slave_and_all_of_a_source_are_filled_again_as_the_last_time(world, visit, address, people):
    client = visit("otto")
    headers, store = ours(client, address), world.context.store
    begun = "INSERT INTO initial_update (source, state, run, asked) VALUES ('flights', 'LOADED', 'x', %s) RETURNING id"
    (number,) = world.session("control").execute(begun, ['{"mode": "online", "resume": true}']).fetchone()
    world.session("control").execute("UPDATE replication SET update_id = %s WHERE slave = 'zurich'", [number])
    cascades.remember(store, world.pair("zurich"), "", world.pair("geneva"), [])
    shown = client.get(ZURICH).text
    assert "Fill zurich again, as the last time (mode: online)? What" in shown
    assert "After it flights-&gt;geneva is filled." in shown
    form = client.get(f"/initial-update?source={SOURCE}&slave=zurich").text
    assert re.search(r'value="online" selected.*as before: flights-&gt;geneva', form, re.DOTALL)

    def confs(at):
        answer = client.post(f"/api/v1{at}/restart", headers=headers)
        runs = [one.partition("/") for one in answer.json().get("runs", ())]
        asked = [people["admin"].ask(f"/api/v2/dags/{dag}/dagRuns/{run}") for dag, _, run in runs]
        return [(one["triggering_user_name"], one["conf"]) for one in asked] or answer.json()["code"]

    mine = ("otto", {"source": SOURCE, "slaves": ["zurich"], "mode": "online"})
    assert confs(ZURICH) == [mine]
    assert confs(f"/sources/{SOURCE}") == [mine, ("otto", {"source": SOURCE, "slaves": ["geneva"]})]
    replications.request(store, [world.pair("geneva")], 7)
    assert confs(f"/sources/{SOURCE}") == 20
    assert confs("/sources/nowhere") == 3


def test_a_slave_is_compared_by_a_run_in_the_name_of_the_person(world, visit, address, people):
    client = visit("otto")
    answer = client.post(f"/api/v1{ZURICH}/compare", headers=ours(client, address))
    dag, _, run = answer.json()["run"].partition("/")
    begun = people["admin"].ask(f"/api/v2/dags/{dag}/dagRuns/{run}")
    asked = begun["conf"]["source"], begun["conf"]["slaves"]
    assert (dag, begun["triggering_user_name"], asked) == ("verify", "otto", (SOURCE, ["zurich"]))
    # Both have to be there, and the slave has to come to the point of the master.
    for happen, tip in (
        (lambda: replications.shut(world.context.store, world.pair("zurich"), Hold.ADMIN, "x"), "Activate it first"),
        (lambda: replications.request(world.context.store, [world.pair("zurich")], 7), "It has to be filled first"),
    ):
        happen()
        assert re.search(rf'/compare"[^>]* title="{tip}"[^>]* disabled', client.get(ZURICH).text)


def test_all_slaves_of_a_source_are_switched_but_those_that_are_being_filled(world, visit, address, people):
    client, store = visit("eva"), world.context.store
    headers = ours(client, address)
    replications.request(store, [world.pair("geneva")], 7)
    answer = client.post(f"/api/v1/sources/{SOURCE}/standby", headers=headers)
    assert answer.json()["done"].startswith("on standby: zurich; left alone: geneva (flights->geneva is INITIAL")
    told = [(one["slave"], one["done"], (one["why"] or {}).get("code")) for one in answer.json()["slaves"]]
    assert told == [("zurich", True, None), ("geneva", False, 20)]
    assert [world.standing(one).dispatcher for one in world.slaves] == ["STANDBY (ADMIN)", "STANDBY (INITIAL)"]
    assert client.post(f"/api/v1/sources/{SOURCE}/activate", headers=headers).status_code == 200
    assert [world.standing(one).dispatcher for one in world.slaves] == ["ACTIVE", "STANDBY (INITIAL)"]


def test_what_is_filled_next_is_passed_on(world, visit, address, people):
    client = visit("otto")
    headers = ours(client, address)

    def begun(cascade):
        wanted = {"source": SOURCE, "slaves": ["zurich"], "cascade": cascade}
        return client.post("/api/v1/initial-updates", headers=headers, json=wanted).json()

    dag, _, run = begun(f"{SOURCE}/geneva")["run"].partition("/")
    assert people["admin"].ask(f"/api/v2/dags/{dag}/dagRuns/{run}")["conf"]["cascade"] == f"{SOURCE}/geneva"
    assert begun("none")["run"]
    assert (begun(f"{SOURCE}/nobody")["code"], begun("nonsense")["code"]) == (3, 914)


def test_what_airflow_refuses_leaves_the_gate_as_it_was(world, visit, address):
    world.settings["pages"] = {"users": {"vera": "user"}}
    (world.path / "replication.yaml").write_text(yaml.safe_dump(world.settings))
    client = visit("vera")
    answer = client.post(f"/api/v1{ZURICH}/standby", headers=ours(client, address))
    assert (answer.status_code, answer.json()["code"]) == (409, 915)
    assert world.standing("zurich").dispatcher == "ACTIVE"


@pytest.mark.full
def test_pages_say_of_a_source_that_it_was_removed_and_airflow_what_it_still_has(world, visit, people):
    def pause(paused):
        people["admin"].ask("/api/v2/dags/publish__flights", "PATCH", {"is_paused": paused})

    pause(False)
    with pytest.raises(SluiceError, match=r"(?s)SLC-387.*pause flights --publish"):
        list(remove_source(world.context, SOURCE))
    pause(True)
    assert world.context.publish_switch(SOURCE).find_pause()
    list(remove_source(world.context, SOURCE))
    ask = people["admin"].ask
    ask("/api/v2/connections", "POST", {"connection_id": "zurich", "conn_type": "postgres"})
    ask("/api/v2/pools", "POST", {"name": "sluice_publish", "slots": 1})
    try:
        (place,) = leftovers(world.context, SOURCE)
    finally:
        ask("/api/v2/connections/zurich", "DELETE")
        ask("/api/v2/pools/sluice_publish", "DELETE")
    ended = ["connections delete zurich", "pools delete sluice_publish"]
    assert [one.statement.partition("airflow ")[2] for one in place.left] == ended
    client = visit("admin")
    until(lambda: "was removed by" in client.get("/").text)
    for page in ("/", ZURICH):
        shown = client.get(page).text
        assert "out of the configuration" in shown
        assert not re.search(r"unpause|it was never filled", shown), page
    paused = [one.text for one in check.findings(world.context) if one.subject == "pools and DAGs"]
    assert not re.search(r"publish__flights|drain__flights", paused[0].partition("paused: ")[2])
    pause(False)
