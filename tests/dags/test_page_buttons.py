"""Buttons of the pages in a browser, which ask before what is lost; the runs that they begin are carried out here."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import expect
from support.browser import opened, shot
from support.pages import token
from support.world import SOURCE, result

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


def test_a_person_clears_a_queue_and_fills_all_again(browser, pages_world, people, tmp_path):
    page, world, dialog = browser, pages_world, browser.get_by_role("dialog")
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()
    page.goto(ZURICH)
    page.get_by_role("button", name="Clear queue").click()
    expect(dialog).to_contain_text("Discard the 1 transaction that waits for zurich")
    shot(page, tmp_path, "asked")
    dialog.get_by_role("button", name="No, go back").click()
    expect(page.locator("#banner")).to_be_hidden()
    page.get_by_role("button", name="Clear queue").click()
    dialog.get_by_role("button", name="Clear queue").click()
    expect(page.locator("#banner")).to_contain_text("the queue of zurich is being cleared")
    assert result(world.job("administer", "--slave=zurich", "--clear-queue", "--who=admin")) == {"discarded": 1}
    expect(page.locator(".counts")).to_contain_text("INCONSISTENT")
    expect(page.get_by_role("button", name="Clear queue")).to_be_disabled()
    shot(page, tmp_path, "cleared")
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(dialog).to_contain_text("Its tables there stay as they are")
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(page.locator("#banner")).to_contain_text("is being removed")
    assert result(world.job("administer", "--slave=zurich", "--remove=position", "--who=admin"))["dropped"]
    expect(page.locator(".counts")).to_contain_text("UNCONFIGURED")
    page.goto("/sluice/")
    shot(page, tmp_path, "list")
    page.get_by_role("button", name="Fill all again").click()
    dialog.get_by_role("button", name="Fill all again").click()
    expect(page.locator("#banner")).to_contain_text(f"all slaves of {SOURCE}: filled again")
    page.goto(f"/sluice/initial-update?source={SOURCE}&slave=zurich")
    page.get_by_label("Fill next").select_option(f"{SOURCE}/geneva")
    shot(page, tmp_path, "update")
    page.get_by_role("button", name="Begin").click()
    dialog.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/sluice/")
    runs = people["admin"].ask("/api/v2/dags/initial_update/dagRuns?order_by=-run_after&limit=1")["dag_runs"]
    assert runs[0]["conf"]["cascade"] == f"{SOURCE}/geneva"
