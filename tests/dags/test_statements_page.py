"""The pages of statements, and the same by REST: asked for, executed by a run of the person, answered by every node."""

from __future__ import annotations

import re
import time

import pytest
import yaml
from playwright.sync_api import expect
from support.browser import fits, opened, shot
from support.pages import ours, token
from support.world import SOURCE, result

from sluice.model.requester import REQUESTERS_ENV, Requester, to_text
from sluice.model.statement import WantedStatement
from sluice.store import statement_results

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
HOSTILE = "<script>alert(1)</script>"
SQL = f"SELECT id, '{HOSTILE}' AS \"{HOSTILE}\" FROM t ORDER BY id"


@pytest.fixture
def world(pages_world, monkeypatch):
    """Two slaves with three rows, one of which is odd in geneva; jobs are an administrator's."""
    made = pages_world
    made.master.execute("INSERT INTO t SELECT generate_series(1, 3)")
    made.catch_up()
    made.session("geneva").execute("UPDATE t SET id = 7 WHERE id = 3")
    monkeypatch.setenv(REQUESTERS_ENV, to_text([Requester("admin", ["admin"])]))
    return made


def narrow(page, pictures, name: str) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    fits(page)
    shot(page, pictures, f"{name}-narrow")
    page.set_viewport_size({"width": 1300, "height": 800})
    shot(page, pictures, name)


@pytest.mark.full
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_administrator_asks_all_nodes_and_sees_who_differs(world, people, visit, address, tmp_path_factory, theme):
    url, pictures, faults = f"http://127.0.0.1:{address}", tmp_path_factory.mktemp(theme), []
    with opened(url, viewport={"width": 1300, "height": 800}, color_scheme=theme) as page:
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.context.add_cookies([{"name": "_token", "value": token(people, "admin"), "url": url}])
        page.goto("/sluice/")
        page.get_by_role("link", name="Statements", exact=True).click()
        page.get_by_role("link", name="New statement").click()
        page.get_by_label("SQL").fill(SQL)
        page.get_by_label("Rows of each answer").fill("5")
        page.get_by_label("Answers are wanted soon").check()
        narrow(page, pictures, "form")
        page.get_by_role("button", name="Execute").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text(f"On {SOURCE} (the master), then on zurich, geneva:")
        expect(dialog).to_contain_text(SQL)
        shot(page, pictures, "asked")
        dialog.get_by_role("button", name="Execute").click()
        page.wait_for_url(re.compile(r"/statements/flights/\d+$"))
        expect(page.get_by_role("status").filter(has_text="waits for its run")).to_be_visible()
        shot(page, pictures, "waits")
        number = page.url.rpartition("/")[2]
        assert result(world.job("statement", f"--statement={number}"))["statement"] == int(number)
        world.catch_up()
        geneva = page.get_by_role("region", name="Slave geneva")
        expect(geneva).to_contain_text("FAILED")
        # The row of the master first, then the one that is only here.
        expect(geneva.locator("tbody tr")).to_have_text([re.compile(r"^.*lacking here.*3"), re.compile(r"\+.*7")])
        expect(page.get_by_role("region", name="Slave zurich")).to_contain_text("the same 3 rows as on the master")
        expect(page.get_by_role("region", name="Master", exact=True)).to_contain_text(HOSTILE)
        narrow(page, pictures, "answers")
        page.get_by_role("link", name=f"Statements of {SOURCE}").click()
        expect(page.get_by_role("row").filter(has_text="script")).to_contain_text(
            re.compile(r"FAILED geneva\s+OK zurich")
        )
        narrow(page, pictures, "list")
    assert not faults, faults
    assert "<script>alert" not in visit("admin").get(f"/statements/{SOURCE}/{number}").text
    kept = visit("admin").get(f"/api/v1/statements/{SOURCE}/{number}").json()
    assert (kept["wanted"]["hurried"], kept["wanted"]["max_rows"], kept["nodes"][1]["lacks"]) == (
        True,
        5,
        [["3", HOSTILE]],
    )
    dag, _, run = kept["run"].partition("/")
    begun = people["admin"].ask(f"/api/v2/dags/{dag}/dagRuns/{run}")
    # Airflow shows its runs to others as well.
    assert (begun["triggering_user_name"], begun["conf"]) == ("admin", {"source": SOURCE, "statement": int(number)})
    # Nor do others see its values here.
    for at in (f"/statements/{SOURCE}", f"/statements/{SOURCE}/{number}"):
        assert "script&gt;alert" not in visit("eva").get(at).text
        assert HOSTILE not in visit("otto").get(f"/api/v1{at}").text
    assert "FAILED" in visit("eva").get(f"/statements/{SOURCE}/{number}").text


def test_what_cannot_be_executed_is_refused_and_what_waits_is_withdrawn(world, visit, address, people):
    client = visit("admin")
    headers = ours(client, address)

    def asked(source: str = SOURCE, **body):
        answer = client.post(f"/api/v1/statements/{source}", headers=headers, json=body)
        return answer.status_code, answer.json()

    for code, body in [
        (100, {"sql": f"SELECT 1; {HOSTILE}"}),
        (100, {"sql": "COPY t TO PROGRAM 'true'"}),
        (101, {"sql": "VACUUM t"}),
        (914, {"sql": "SELECT 1", "max_entries": 11}),
        (422, {"sql": "SELECT '\x00'"}),
        (422, {"sql": "SELECT 1", "schema": ""}),
        (422, {"sql": "SELECT 1", "prio": "<b>"}),
        (422, {"sql": ""}),
        (422, {"sql": "SELECT 1", "who": "eva"}),
    ]:
        assert asked(**body)[1]["code"] == code, body
    half = '{"sql": "SELECT \'\\ud800\'"}'
    told = client.post(
        f"/api/v1/statements/{SOURCE}", content=half, headers=headers | {"Content-Type": "application/json"}
    )
    assert told.status_code == 422
    assert asked("nowhere", sql="SELECT 1")[0] == 404
    assert client.get(f"/statements/{SOURCE}/{2**70}").status_code == 404
    assert client.get(f"/statements/{SOURCE}/1.5").status_code == 422
    assert client.get(f"/api/v1/statements/{SOURCE}").json() == {"statements": [], "older": None}
    # A run that Airflow refuses leaves nothing that could be executed later.
    people["admin"].ask("/api/v2/dags/statement", "PATCH", {"is_paused": True})
    assert asked(sql="SELECT 1")[1]["code"] == 919
    people["admin"].ask("/api/v2/dags/statement", "PATCH", {"is_paused": False})
    (left,) = client.get(f"/api/v1/statements/{SOURCE}").json()["statements"]
    assert [one["status"] for one in left["nodes"]] == ["FAILED"]
    number = asked(sql="SELECT 1", schema=HOSTILE)[1]["number"]
    path = f"/api/v1/statements/{SOURCE}/{number}/withdraw"
    assert visit("otto").post(path, headers=ours(visit("otto"), address)).status_code == 403
    assert client.post(path, headers=headers).json()["done"] == f"statement {number} is withdrawn"
    refused = client.post(path, headers=headers).json()
    assert (refused["code"], "cannot be withdrawn" in refused["fact"]) == (363, True)
    told = f"SLC-363: this run does not execute statement {number}: "
    assert told in world.job("statement", f"--statement={number}").stderr
    assert "admin withdrew it" in client.get(f"/statements/{SOURCE}/{number}").text
    events = "SELECT event FROM audit WHERE actor IN ('admin', 'otto') ORDER BY id"
    assert [event for (event,) in world.reader("control").execute(events)] == [
        "statement",
        "withdraw",
        "statement",
        "refused",
        "withdraw",
    ]


def test_statements_are_listed_page_by_page_also_after_the_store_was_away(world, visit, connect):
    client, store = visit("eva"), world.context.store
    numbers = [statement_results.begin(store, SOURCE, ["zurich"], WantedStatement(SQL), "ada") for _ in range(30)]
    first = client.get(f"/api/v1/statements/{SOURCE}").json()
    rest = client.get(f"/api/v1/statements/{SOURCE}?before={first['older']}").json()
    assert [one["id"] for page in (first, rest) for one in page["statements"]] == numbers[::-1]
    assert (len(first["statements"]), rest["older"]) == (25, None)
    assert f"?before={first['older']}" in client.get(f"/statements/{SOURCE}").text

    def lead(port: int) -> None:
        control = world.infos["control"]
        own = {"host": control.host, "schema": control.database, "login": control.login, "password": control.password}
        connect("control", conn_type="postgres", port=port, **own)
        (world.path / "replication.yaml").write_text(yaml.safe_dump(world.settings) + f"\n# {time.monotonic()}\n")

    lead(1)
    for at in (f"/statements/{SOURCE}", f"/statements/{SOURCE}/{numbers[0]}"):
        away = client.get(at)
        assert (away.status_code, "SLC-060" in away.text) == (503, True)
    lead(world.infos["control"].port)
    assert client.get(f"/statements/{SOURCE}/{numbers[0]}").status_code == 200
