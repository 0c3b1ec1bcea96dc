"""Buttons of the pages in a browser, which ask before what is lost; the runs that they begin are carried out here."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import quote

import pytest
from playwright.sync_api import expect
from support.browser import fits, opened, shot
from support.pages import REJECTED, token
from support.world import SOURCE

from sluice.changelog import points
from sluice.model.progress import ComparisonProgress
from sluice.model.row_conflict import RowConflict
from sluice.store import comparison_progress, rejected_changes

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
ZURICH = f"/sluice/replications/{SOURCE}/zurich"


@pytest.fixture
def browser(pages_world, address, people):
    """A page of an administrator; nothing may complain."""
    url, faults = f"http://127.0.0.1:{address}", []
    with opened(url, viewport={"width": 1400, "height": 1000}) as page:
        page.context.add_cookies([{"name": "_token", "value": quote(token(people, "admin")), "url": url}])
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on(
            "response", lambda answer: faults.append(f"{answer.url}: {answer.text()}") if answer.status >= 500 else None
        )
        page.on("pageerror", lambda error: faults.append(str(error)))
        yield page
    assert not faults, "\n".join(faults)


@pytest.fixture
def administer(job_module, pages_world):
    """Does what the run that a button begins does; its result."""
    job = job_module("administer")

    def carry_out(*words: str):
        options = job.parser().parse_args([f"--source={SOURCE}", "--slave=zurich", *words])
        return job.call(pages_world.context, options)

    return carry_out


@pytest.mark.full
def test_a_person_settles_what_was_rejected(browser, pages_world, people, visit, administer, tmp_path):
    page, world, dialog = browser, pages_world, browser.get_by_role("dialog")
    another = replace(REJECTED, repl_key=42, old=None, new=["9"], action="I", conflict=RowConflict.DUPLICATE)
    rejected_changes.keep(world.context.store, world.pair("zurich"), [REJECTED, another])
    page.goto(ZURICH)
    page.get_by_role("link", name="2 changes").click()
    row = page.get_by_role("row").filter(has_text="UPDATE")
    expect(row).to_contain_text(re.compile(r"public.t\s+missing\s+. before\s+id\s+7\s*\+ after\s+id\s+8"))
    page.set_viewport_size({"width": 1300, "height": 330})
    shot(page, tmp_path, "rejected")
    page.set_viewport_size({"width": 360, "height": 800})
    page.emulate_media(color_scheme="dark")
    fits(page)
    shot(page, tmp_path, "rejected-narrow")
    page.set_viewport_size({"width": 1400, "height": 1000})
    page.emulate_media(color_scheme="light")
    number = row.get_by_role("rowheader").inner_text()
    row.get_by_role("button", name="Carry out").click()
    expect(dialog).to_contain_text(f"Write change {number} to zurich")
    dialog.get_by_role("button", name="Carry out").click()
    expect(page.locator("#banner")).to_contain_text("rejected changes of zurich are being carried out")
    begun = people["admin"].ask("/api/v2/dags/administer/dagRuns?order_by=-run_after&limit=1")["dag_runs"][0]["conf"]
    assert (begun["rejected"], begun["numbers"]) == ("carry_out", [number])
    done = administer("--rejected=carry_out", f"--numbers={number}", "--who=ada")
    assert done == {"carried_out": 1, "put_right": 1}
    assert world.reader("zurich").execute("SELECT id FROM t").fetchall() == [(8,)]
    assert "<b>INSERT</b>" in (seen := visit("eva").get(f"/rejected/{SOURCE}/zurich").text)
    assert (">9<" in seen, "···" in seen, "Drop" in seen) == (False, True, False)
    # One that comes meanwhile is not dropped with those that a person saw.
    page.get_by_role("button", name="Drop all").click()
    rejected_changes.keep(world.context.store, world.pair("zurich"), [replace(another, repl_key=43)])
    # A refresh goes on behind the question.
    expect(page.get_by_text("2 changes are kept")).to_be_attached()
    dialog.get_by_role("button", name="Drop all").click()
    expect(page.locator("#banner")).to_contain_text("rejected changes of zurich are being dropped")
    last = people["admin"].ask("/api/v2/dags/administer/dagRuns?order_by=-run_after&limit=1")["dag_runs"][0]["conf"]
    assert administer("--rejected=drop", f"--through={last['through']}", "--who=ada") == {"forgotten": 1}
    expect(page.get_by_text("1 change is kept")).to_be_visible()
    said = "SELECT actor, event FROM audit WHERE event LIKE 'rejected%' ORDER BY id"
    assert world.reader("control").execute(said).fetchall() == [
        ("ada", "rejected changes carried out"),
        ("ada", "rejected changes dropped"),
    ]


@pytest.mark.full
def test_a_person_sees_what_waits_clears_a_queue_and_fills_all_again(
    browser, pages_world, people, visit, administer, tmp_path
):
    page, world, dialog = browser, pages_world, browser.get_by_role("dialog")
    # Each in a segment of its own; the page reads the first three.
    for number in range(1, 5):
        world.master.execute(f"INSERT INTO t VALUES ({number})")
        world.publish()
    page.goto(ZURICH)
    page.get_by_role("link", name="Show").click()
    expect(page.get_by_role("row").nth(1)).to_contain_text(re.compile(r"INSERT\s+public.t\s+\+ after\s+id\s+1"))
    shot(page, tmp_path, "waiting")
    page.set_viewport_size({"width": 360, "height": 800})
    fits(page)
    page.set_viewport_size({"width": 1400, "height": 1000})
    masked = visit("eva").get(f"/api/v1/replications/{SOURCE}/zurich/waiting").json()
    change, *others = masked["changes"]
    assert (masked["transactions"], len(others), masked["more"]) == (4, 2, True)
    assert (change["action"], change["table"], change["new"]) == ("INSERT", "public.t", None)
    page.go_back()
    page.get_by_role("button", name="Clear queue").click()
    expect(dialog).to_contain_text("Discard the 4 transactions that wait for zurich")
    shot(page, tmp_path, "asked")
    dialog.get_by_role("button", name="No, go back").click()
    expect(page.locator("#banner")).to_be_hidden()
    page.get_by_role("button", name="Clear queue").click()
    dialog.get_by_role("button", name="Clear queue").click()
    expect(page.locator("#banner")).to_contain_text("the queue of zurich is being cleared")
    assert administer("--clear-queue", "--who=admin") == {"discarded": 4}
    expect(page.locator(".counts")).to_contain_text("INCONSISTENT")
    expect(page.get_by_role("button", name="Clear queue")).to_be_disabled()
    shot(page, tmp_path, "cleared")
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(dialog).to_contain_text("Its tables there stay as they are")
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(page.locator("#banner")).to_contain_text("is being removed")
    assert administer("--remove=position", "--who=admin")["dropped"]
    expect(page.locator(".counts")).to_contain_text("UNCONFIGURED")
    page.goto("/sluice/")
    shot(page, tmp_path, "list")
    page.get_by_role("button", name="Recreate triggers").click()
    dialog.get_by_role("button", name="Recreate triggers").click()
    expect(page.locator("#banner")).to_contain_text(f"the triggers of {SOURCE} are being made anew")
    begun = people["admin"].ask("/api/v2/dags/bootstrap/dagRuns?order_by=-run_after&limit=1")["dag_runs"][0]
    assert (begun["conf"]["recreate_triggers"], begun["triggering_user_name"]) == (True, "admin")
    page.get_by_role("button", name="Fill all again").click()
    dialog.get_by_role("button", name="Fill all again").click()
    expect(page.locator("#banner")).to_contain_text(f"all slaves of {SOURCE}: filled again")
    page.goto(f"/sluice/initial-update?source={SOURCE}&slave=zurich")
    page.get_by_label("Fill next").select_option(f"{SOURCE}/geneva")
    shot(page, tmp_path, "update")
    page.get_by_role("button", name="Begin").click()
    dialog.get_by_role("button", name="Begin").click()
    followed = page.get_by_role("region", name="The initial update that you began")
    expect(followed).to_contain_text("Airflow has queued it.")
    (begun,) = people["admin"].ask("/api/v2/dags/initial_update/dagRuns?order_by=-run_after&limit=1")["dag_runs"]
    assert begun["conf"]["cascade"] == f"{SOURCE}/geneva"
    # It follows the run by itself.
    run, store = begun["dag_run_id"], world.context.store
    point = points.ask(store, SOURCE, ["zurich"])
    comparison_progress.report(store, point, f"initial_update/{run}", ComparisonProgress(4, 1, 300, 900, 30, 20))
    expect(followed).to_contain_text("compared: 300 of about 900 rows, 1 of 4 parts, 30 rows/s, 0:00:20 left")
    page.set_viewport_size({"width": 360, "height": 800})
    page.emulate_media(color_scheme="dark")
    fits(page)
    shot(page, tmp_path, "followed")
    people["admin"].ask(f"/api/v2/dags/initial_update/dagRuns/{run}", "PATCH", {"state": "success"})
    expect(followed).to_contain_text("It has ended: success.")
    assert "30 rows/s" not in followed.inner_text()
