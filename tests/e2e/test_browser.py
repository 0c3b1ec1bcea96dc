"""Airflow's pages as a person sees them: forms that can be sent, and runs that tell the truth."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

import psycopg
import pytest
from playwright.sync_api import Page, expect
from support.browser import TriggerForm, outcome, shot
from support.launcher import standing, wait_until

from sluice.airflow_api.client import AirflowApi

pytestmark = [pytest.mark.slow, pytest.mark.airflow]

Fill = Callable[[TriggerForm], None]


def some_tables_and_blanks(form: TriggerForm) -> None:
    form.pick("slaves", "zurich")
    form.pick("tables", "public.airlines", "public.planes")
    form.open("Advanced")
    form.write("version", "  ")
    form.write("key_ranges", "\n \n")


def a_sample(form: TriggerForm) -> None:
    form.pick("slaves", "geneva")
    form.write("at_most", "1/100")
    form.write("confidence", "0.95")


def some_kinds(form: TriggerForm) -> None:
    form.pick("slave", "geneva")
    form.pick("kinds", "missing")
    form.pick("rule", "source: the source's row wins")


def a_transaction(form: TriggerForm) -> None:
    form.pick("slave", "geneva")
    form.write("remove_first", "3")


def a_command(form: TriggerForm) -> None:
    form.pick("slave", "geneva")
    form.write("change", "7")


# What a person fills in, how the run ends, and what its note says.
FORMS: dict[str, tuple[Fill, str, str]] = {
    "initial_update": (some_tables_and_blanks, "Success", "verify: zurich: "),
    "verify": (a_sample, "Success", "geneva: "),
    "repair": (some_kinds, "Success", "geneva: nothing differs"),
    "bootstrap": (lambda form: form.switch("recreate_triggers"), "Success", ""),
    "cancel_update": (lambda form: form.pick("slaves", "geneva"), "Success", ""),
    "administer": (a_transaction, "Failed", "SLC-172: flights->geneva does not stand in front of"),
    "decide": (a_command, "Failed", "question: SLC-172: nobody asks"),
    "approve_losses": (lambda form: form.pick("slave", "geneva"), "Failed", "losses: SLC-221: "),
    "receive_initial_files": (
        lambda form: form.pick("slave", "geneva"),
        "Failed",
        "expected: SLC-172: slave geneva waits for no files",
    ),
    "statement": (lambda form: form.write("statement", "7"), "Failed", "SLC-003: there is no statement"),
    "upgrade_master": (
        lambda form: form.pick("step", "after: go on with the new server"),
        "Failed",
        "SLC-961: no upgrade: flights waits for no upgrade",
    ),
    "housekeeping": (lambda form: None, "Success", "deleted 0 runs"),
}


@pytest.fixture(scope="module")
def sent(page: Page, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every form, opened, filled in and sent; the runs that began. Pictures are kept beside the files of the tests."""
    pictures = tmp_path_factory.mktemp("forms")
    runs = {}
    for dag, (fill, _, _) in FORMS.items():
        form = TriggerForm(page, dag)
        shot(page, pictures, dag)
        fill(form)
        shot(page, pictures, f"{dag}-filled")
        runs[dag] = form.send()
    return runs


@pytest.mark.full
@pytest.mark.parametrize("dag", FORMS)
def test_every_form_can_be_sent_and_its_run_does_what_was_asked_for(sent, page, dag):
    _, badge, note = FORMS[dag]
    ended = outcome(page, dag, sent[dag])
    assert ended.badge == badge, ended.note
    assert ended.note.startswith(note)


@pytest.mark.full
def test_what_was_left_blank_reached_no_job(sent, page, api):
    run = api.ask(f"/api/v2/dags/initial_update/dagRuns/{quote(sent['initial_update'])}")
    assert (run["conf"]["version"], run["conf"]["tables"]) == ("  ", ["public.airlines", "public.planes"])
    assert outcome(page, "initial_update", sent["initial_update"]).badge == "Success"
    assert (standing("zurich")["status"], standing("zurich")["different"]) == ("NORMAL", 0)


@pytest.mark.full
def test_a_slave_is_filled_in_the_mode_that_a_person_picks(sent, page, api, tmp_path_factory):
    pictures = tmp_path_factory.mktemp("modes")
    form = TriggerForm(page, "initial_update")
    form.pick("slaves", "geneva")
    form.open("Advanced")
    form.field("mode").locator("input").first.click()
    shot(page, pictures, "modes")
    form.pick("mode", "online: block by block, while changes are delivered")
    shot(page, pictures, "online")
    run = form.send()
    assert outcome(page, "initial_update", run).badge == "Success"
    shot(page, pictures, "ended")
    tasks = api.ask(f"/api/v2/dags/initial_update/dagRuns/{quote(run)}/taskInstances")["task_instances"]
    assert {one["task_id"]: one["state"] for one in tasks}["blocks"] == "success"
    assert (standing("geneva")["status"], standing("geneva")["different"]) == ("NORMAL", 0)


@pytest.mark.parametrize(
    ("dag", "missing"),
    [
        pytest.param("initial_update", ["Slaves"], id="slaves"),
        pytest.param("administer", ["Slave"], id="slave"),
        pytest.param("decide", ["Slave", "Command"], id="slave-and-command"),
    ],
)
def test_a_form_says_beside_the_field_what_is_missing_and_marks_no_other(page, dag, missing):
    form = TriggerForm(page, dag)
    expect(form.button).to_be_disabled()
    lines = form.text.splitlines()
    assert lines.count("This field is required") == len(missing)
    starred = [lines[index - 1] for index, line in enumerate(lines) if line.strip() == "*"]
    assert starred == ["Source", *missing]


def test_a_form_has_no_field_that_is_not_for_people(page):
    for dag, hidden in (("initial_update", "after"), ("approve_losses", "refused")):
        form = TriggerForm(page, dag)
        assert hidden not in form.text.lower().split()
        form.dialog.get_by_role("button", name="Close").click()


def test_the_list_of_dags_tells_what_matters_from_commands_for_rare_moments(page):
    page.goto("/dags?tags=sluice%3Apipeline")
    expect(page.get_by_role("link", name="publish__flights", exact=True)).to_be_visible()
    assert page.get_by_role("link", name=re.compile("^(sluice command|initial_update)")).count() == 0
    page.goto("/dags?tags=sluice%3Acommand")
    expect(page.get_by_role("link", name="sluice command: bootstrap", exact=True)).to_be_visible()
    assert page.get_by_role("link", name=re.compile("^(publish|drain)__")).count() == 0


@pytest.mark.full
def test_a_run_of_a_drain_says_where_the_slave_stands(page, runtime, api):
    before = standing("zurich")["position"]
    with psycopg.connect(runtime.admin_dsn("master"), autocommit=True) as master:
        master.execute("UPDATE airlines SET name = name || '!' WHERE carrier = 'AA'")
    wait_until(lambda: standing("zurich")["position"] != before, "the change")
    (run,) = newest(api, "zurich")
    ended = outcome(page, "drain__flights__zurich", run["dag_run_id"])
    assert ended.badge == "Success"
    assert re.match(r"NORMAL, ACTIVE: position \S+, holdback 0, lag 0 s", ended.note)


def newest(api: AirflowApi, slave: str) -> list[dict[str, object]]:
    """The newest run that has begun: one that is queued waits for the DAG to be unpaused."""
    begun = "state=running&state=success&state=failed"
    runs = api.ask(f"/api/v2/dags/drain__flights__{slave}/dagRuns?order_by=-run_after&limit=1&{begun}")
    return list(runs["dag_runs"])


def paused(page: Page, slave: str) -> bool:
    page.goto(f"/dags/drain__flights__{slave}")
    switch = page.locator("label:has(input[type=checkbox])").first
    expect(switch).to_be_visible()
    return not switch.locator("input").is_checked()


def flip(page: Page, slave: str) -> None:
    """Click the pause switch of a drain."""
    page.goto(f"/dags/drain__flights__{slave}")
    page.locator("label:has(input[type=checkbox])").first.click()


@pytest.mark.full
def test_an_error_stops_a_drain_visibly_and_a_click_lets_it_go_on(page, runtime, api):
    dag = "drain__flights__geneva"
    with psycopg.connect(runtime.admin_dsn("geneva"), autocommit=True) as slave:
        slave.execute("ALTER TABLE branch.planes RENAME COLUMN seats TO places")
        with psycopg.connect(runtime.admin_dsn("master"), autocommit=True) as master:
            master.execute("UPDATE planes SET seats = seats + 1 WHERE tailnum = (SELECT min(tailnum) FROM planes)")
        wait_until(lambda: "EXCEPTION" in str(standing("geneva")["dispatcher"]), "the standby")
        assert standing("zurich")["dispatcher"] == "ACTIVE"
        wait_until(lambda: newest(api, "geneva")[0]["state"] == "failed", "a failed run that no other one hides")
        run = str(newest(api, "geneva")[0]["dag_run_id"])
        ended = outcome(page, dag, run)
        assert ended.badge == "Failed"
        assert ended.note.startswith("SLC-073: the slave's table branch.planes lacks the column seats")
        assert paused(page, "geneva")
        page.goto(f"/dags/{dag}/runs/{run}/tasks/drain")
        expect(page.get_by_text("SLC-073: ").first).to_be_visible()
        lines = page.locator("[data-testid^=virtualized-item]").all_inner_texts()
        assert not [line for line in lines if "Traceback" in line or 'File "' in line]
        slave.execute("ALTER TABLE branch.planes RENAME COLUMN places TO seats")
    flip(page, "geneva")
    wait_until(lambda: standing("geneva")["holdback"] == 0, "catching up", seconds=180)
    assert not paused(page, "geneva")


@pytest.mark.full
def test_a_click_on_the_switch_is_standby_and_looks_like_no_error(page, runtime, api):
    flip(page, "geneva")
    try:
        wait_until(lambda: "STANDBY (ADMIN)" in str(standing("geneva")["dispatcher"]), "the standby")
        # A drain that is at work looks at the switch every few seconds.
        wait_until(lambda: newest(api, "geneva")[0]["state"] != "running", "the end of the drain", seconds=180)
        with psycopg.connect(runtime.admin_dsn("master"), autocommit=True) as master:
            master.execute("UPDATE airlines SET name = name || '?' WHERE carrier = 'AA'")
        wait_until(lambda: standing("geneva")["holdback"] == 1, "what is held back")
        assert newest(api, "geneva")[0]["state"] == "success"
        assert paused(page, "geneva")
    finally:
        flip(page, "geneva")
    wait_until(lambda: standing("geneva")["holdback"] == 0, "catching up", seconds=180)


@pytest.mark.full
def test_a_slave_that_does_not_answer_does_not_look_busy(page, runtime, api):
    # A drain that is at work has its session already.
    wait_until(lambda: newest(api, "geneva")[0]["state"] != "running", "the end of the drain")
    where = "/api/v2/connections/sluice_geneva?update_mask=port"
    port = api.ask("/api/v2/connections/sluice_geneva")["port"]
    named = {"connection_id": "sluice_geneva", "conn_type": "postgres"}
    api.ask(where, "PATCH", {**named, "port": 1})
    try:
        with psycopg.connect(runtime.admin_dsn("master"), autocommit=True) as master:
            master.execute("UPDATE airlines SET name = name || '.' WHERE carrier = 'AA'")

        def skipped() -> str | None:
            run = newest(api, "geneva")[0]["dag_run_id"]
            tasks = api.ask(f"/api/v2/dags/drain__flights__geneva/dagRuns/{run}/taskInstances")["task_instances"]
            return run if [task["state"] for task in tasks] == ["skipped"] else None

        # Kept: the next run is asked for soon, and is the newest then.
        seen: list[str | None] = []
        wait_until(lambda: seen.append(skipped()) or seen[-1] is not None, "a run that gives up", seconds=180)
        ended = outcome(page, "drain__flights__geneva", str(seen[-1]))
        assert ended.note.startswith("SLC-030: ")
        assert not paused(page, "geneva")
    finally:
        api.ask(where, "PATCH", {**named, "port": port})
    wait_until(lambda: standing("geneva")["holdback"] == 0, "catching up", seconds=240)
