"""The progress of loads and comparisons, on the pages and at a shell that waits."""

from __future__ import annotations

import os
import pty
import re
from contextlib import suppress
from dataclasses import replace
from threading import Thread

import pytest
from playwright.sync_api import expect
from support.browser import fits, opened, shot
from support.pages import token
from support.waiting import until
from support.world import SOURCE

from sluice.changelog import points
from sluice.cli import parser
from sluice.connections import KEY_FILE_ENV, SEALED_ENV, new_key_file, seal
from sluice.model.progress import ComparisonProgress, LoadProgress, TableProgress, TableState
from sluice.state.initial_update import UpdateEvent
from sluice.store import comparison_progress, updates

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
MB = 1_000_000
BY_TABLE = [
    TableProgress("public.flights", TableState.DONE, 8, 8, 1_250_000, bytes=512 * MB, bytes_planned=512 * MB),
    TableProgress('shop."<b>odd"', TableState.RUNNING, 6, 2, 40_000, bytes=20 * MB, bytes_planned=64 * MB),
    TableProgress("shop.prices", TableState.RUNNING, 1, 0, 30_000, rows_planned=90_000),
    *(TableProgress(f"shop.t{n:03}", TableState.WAITING, 1, 0, 0, bytes=0, bytes_planned=8192) for n in range(120)),
]
LOADING = LoadProgress(134, 10, 1_320_000, 532 * MB, 640 * MB, 21_000, 95, by_table=BY_TABLE)


@pytest.mark.full
def test_a_person_sees_which_tables_are_in_and_which_are_to_come(pages_world, people, visit, address, tmp_path_factory):
    store = pages_world.context.store
    number = updates.new(store, SOURCE)
    updates.report(store, number, LOADING)
    with store.begin() as connection:
        updates.record_event(connection, number, UpdateEvent.DUMP)
    filled = "UPDATE replication SET status = 'INITIAL', update_id = %s WHERE slave = 'zurich'"
    pages_world.session("control").execute(filled, [number])
    one = visit("eva").get(f"/api/v1/replications/{SOURCE}/zurich").json()
    assert [each["state"] for each in one["loading"]["by_table"]] == [each.state for each in BY_TABLE]
    listed = visit("eva").get("/api/v1/replications").json()
    assert [each["loading"]["by_table"] for each in listed if each["loading"]] == [[]]
    url = f"http://127.0.0.1:{address}"
    with opened(url, viewport={"width": 1300, "height": 900}) as page:
        page.context.add_cookies([{"name": "_token", "value": token(people, "eva"), "url": url}])
        page.goto(f"/sluice/replications/{SOURCE}/zurich")
        tables = page.get_by_role("region", name="Progress by table")
        expect(page.get_by_text("120 waiting")).to_be_visible()
        rows = tables.locator("tbody tr")
        expect(rows.nth(0)).to_contain_text('shop."<b>odd"')
        expect(rows.nth(0)).to_contain_text("20.0 MB of 64.0 MB")
        expect(rows.nth(1)).to_contain_text("of about 90,000 rows")
        expect(rows.nth(102)).to_contain_text("and 20 more that are waiting")
        expect(rows.nth(103)).to_contain_text("done")
        expect(page.get_by_text("1,320,000 of about 1,587,970 rows")).to_be_visible()
        # A line of what the page has seen while it is open, and the same in words.
        growth = rows.nth(0).get_by_role("img")
        page.get_by_role("button", name="Refresh").click()
        expect(growth).to_have_attribute("aria-label", re.compile(r"rows since this page was opened: \+0 in \d+ s"))
        more = replace(BY_TABLE[1], rows=41_500)
        updates.report(store, number, replace(LOADING, by_table=[BY_TABLE[0], more, *BY_TABLE[2:]]))
        page.get_by_role("button", name="Refresh").click()
        expect(rows.nth(0)).to_contain_text("+1,500 in")
        expect(growth.locator("polyline")).to_have_attribute("points", re.compile(r"^0,32 (.* )?120,0$"))
        point = points.ask(store, SOURCE, ["zurich"])
        comparison_progress.report(store, point, "verify/x", ComparisonProgress(4, 1, 300, 900, 30, 20))
        for path in ("", f"/{SOURCE}/zurich"):
            told = visit("eva").get(f"/api/v1/replications{path}").json()
            assert "'comparing': {'parts': 4, 'parts_done': 1, 'rows': 300" in str(told)
        page.get_by_role("button", name="Refresh").click()
        expect(page.get_by_text("300 of about 900 rows, 1 of 4 parts, 30 rows/s, 0:00:20 left")).to_be_visible()
        pictures = tmp_path_factory.mktemp("load")
        shot(page, pictures, "progress")
        page.set_viewport_size({"width": 360, "height": 800})
        fits(page)
        shot(page, pictures, "narrow")
        page.emulate_media(color_scheme="dark")
        shot(page, pictures, "narrow-dark")
        page.set_viewport_size({"width": 1300, "height": 900})
        shot(page, pictures, "dark")


@pytest.fixture
def terminal(monkeypatch):
    """A terminal to write to, and all that it was given."""
    ours, theirs = pty.openpty()
    shown = []

    def read() -> None:
        with suppress(OSError):
            while text := os.read(ours, 4096):
                shown.append(text.decode())

    Thread(target=read, daemon=True).start()
    monkeypatch.setenv("COLUMNS", "200")
    with os.fdopen(theirs, "w") as stream:
        yield stream, lambda: "".join(shown)


def test_a_person_who_waits_for_a_run_sees_rows_rate_and_time_left(
    pages_world, people, terminal, monkeypatch, tmp_path, capsys
):
    world, admin, store = pages_world, people["admin"], pages_world.context.store
    stream, shown = terminal
    monkeypatch.setattr("sys.stderr", stream)
    new_key_file(tmp_path / "seal.key")
    monkeypatch.setenv(KEY_FILE_ENV, str(tmp_path / "seal.key"))
    monkeypatch.setenv(SEALED_ENV, seal(world.infos))
    asked = ["trigger", "verify", f"source={SOURCE}", "slaves=zurich", "--wait"]
    newest = "/api/v2/dags/verify/dagRuns?order_by=-run_after&limit=1"
    codes = []
    waiting = Thread(target=lambda: codes.append(parser.main(asked)), daemon=True)
    waiting.start()
    until(lambda: "verify" in shown())
    (run,) = (one["dag_run_id"] for one in admin.ask(newest)["dag_runs"])
    number = points.ask(store, SOURCE, ["zurich"])
    for progress, line in (
        (ComparisonProgress(4, 1, 300, 900, 30, 20), "300 of about 900 rows, 1 of 4 parts, 30 rows/s, 0:00:20 left"),
        (ComparisonProgress(4, 3, 600, 900, 60, 5), "600 of about 900 rows, 3 of 4 parts, 60 rows/s, 0:00:05 left"),
    ):
        comparison_progress.report(store, number, f"verify/{run}", progress)
        points.keep_up(store, number)
        until(lambda line=line: f"verify (compared: {line}" in shown(), shown())
    points.close(store, number)
    admin.ask(f"/api/v2/dags/verify/dagRuns/{run}", "PATCH", {"state": "success"})
    waiting.join(60)
    assert codes == [0]
    # One line was written again and again.
    assert shown().count("\n") <= 1
    assert capsys.readouterr().out.splitlines() == [f"triggered: {run}", f"success: {run}"]


@pytest.mark.full
def test_a_person_sees_what_an_initial_update_brings_and_replaces(pages_world, people, visit, address, tmp_path):
    world = pages_world
    world.master.execute("INSERT INTO t SELECT generate_series(1, 5000); ANALYZE t")
    world.reader("geneva").execute("ALTER TABLE t ALTER id TYPE smallint; INSERT INTO t VALUES (1), (2); ANALYZE t")
    asked = {"source": SOURCE, "slave": ["zurich", "geneva"]}
    found = visit("otto").get("/api/v1/initial-updates/preview", params=asked).json()
    assert [(one["table"], one["rows"]) for one in found["tables"]] == [("public.t", 5000)]
    assert [(one["slave"], [loss["column"] for loss in one["losses"]]) for one in found["slaves"]] == [
        ("zurich", []),
        ("geneva", ["id"]),
    ]
    refused = visit("otto").get("/api/v1/initial-updates/preview", params={**asked, "slave": "<b>"})
    assert (refused.status_code, refused.json()["code"]) == (404, 3)
    url = f"http://127.0.0.1:{address}"
    with opened(url, viewport={"width": 1300, "height": 900}) as page:
        page.context.add_cookies([{"name": "_token", "value": token(people, "otto"), "url": url}])
        faults = []
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        page.goto(f"/sluice/initial-update?source={SOURCE}&slave=zurich")
        preview = page.locator("#preview")
        expect(preview).to_contain_text("about 5,000 rows")
        expect(page.get_by_role("region", name="Preview of zurich")).to_contain_text("public.t about 0 rows")
        page.get_by_role("checkbox", name="geneva").check()
        geneva = page.get_by_role("region", name="Preview of geneva")
        expect(geneva).to_contain_text("It would be refused: SLC-220")
        expect(geneva).to_contain_text("public.t.id integer → smallint")
        shot(page, tmp_path, "preview")
        page.set_viewport_size({"width": 360, "height": 800})
        fits(page)
        shot(page, tmp_path, "narrow-preview")
        page.get_by_role("checkbox", name="geneva").uncheck()
        expect(geneva).to_have_count(0)
        assert faults == []


def test_a_master_that_does_not_answer_leaves_the_sizes_unknown(pages_world, visit, connect):
    connect(SOURCE, conn_type="postgres", host="127.0.0.1", port=1, schema="d", login="u", password="p")
    connect("master", conn_type="postgres", host="127.0.0.1", port=1, schema="d", login="u", password="p")
    with (pages_world.path / "replication.yaml").open("a") as file:
        file.write("\n# another\n")
    shown = visit("otto").get("/parts/preview", params={"source": SOURCE, "slave": "zurich"}).text
    assert "is not known: SLC-030" in shown
    assert "its master has to answer first" in shown
