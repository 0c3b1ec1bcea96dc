"""Each page for people who see little, have a small screen, or use no mouse, as axe-core judges it in a browser."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from support.browser import opened, quiet, shot
from support.pages import REJECTED, compared, pages, token
from support.world import SOURCE

from sluice.model.blocking_transaction import BlockingTransaction, Touched
from sluice.model.statement import Answer, Statement, WantedStatement
from sluice.model.statement import compare as told
from sluice.state.dispatcher import Hold
from sluice.store import audit_trail, blocked, rejected_changes, replications, statement_results

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
LOADING = """INSERT INTO initial_update (source, state, run, chunks, chunks_done)
VALUES ('flights', 'LOADING', 'initial_update/manual__1', 8, 3) RETURNING id"""
HISTORY = """INSERT INTO history SELECT 'flights', 'zurich', false, date_trunc('minute', now()) - m * interval '1 min',
m % 7, m, 1000 - m FROM generate_series(0, 300) AS m ON CONFLICT DO NOTHING"""

# Of a picture in the documentation.
MOST_BYTES = 150_000
# Directories of this test are nobody's.
PLACES = """() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode())
        texts.currentNode.nodeValue = texts.currentNode.nodeValue.replace(/\\/\\S*\\/world0\\//g, "/srv/sluice/");
}"""
# Wider than the screen, or than the card or the cell around it, if nothing scrolls there.
STICKS_OUT = """[...document.querySelectorAll("main *")].filter(one => {
    const right = one.getBoundingClientRect().right, box = one.parentElement.closest(".card, td, th, dd");
    const edge = Math.min(innerWidth, box?.getBoundingClientRect().right ?? innerWidth);
    for (let at = one; at !== document.body; at = at.parentElement)
        if (getComputedStyle(at).overflowX !== "visible" && at.tagName !== "svg") return false;
    return right > edge + 1;
}).map(one => one.outerHTML.slice(0, 120))"""


@pytest.fixture
def eventful(pages_world):
    """One slave that an error stopped, one that is being filled: pages have all that they can have."""
    world, control, store = pages_world, pages_world.session("control"), pages_world.context.store
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()
    control.execute(HISTORY)
    compared(world)
    replications.request(store, [world.pair("geneva")], control.execute(LOADING).fetchone()[0])
    pair = world.pair("zurich")
    replications.shut(store, pair, Hold.EXCEPTION, "SLC-120: no\nHINT: fix it", "drain__flights__zurich/r/drain/1")
    blocked.record(store, pair, BlockingTransaction(1, "5017", 1, 2, (Touched("public.t", {"I": 1}, ("id",)),)))
    number = statement_results.begin(store, SOURCE, ["zurich", "geneva"], WantedStatement("SELECT 1"))
    master, odd = Answer(("id",), (("1",), (None,))), Answer(("id",), (("2",),))
    done = Statement(number, "SELECT 1", "public", reads=True, max_rows=10, answer=master)
    statement_results.record_answer(store, pair, done, told(master, odd))
    rejected_changes.keep(store, pair, [REJECTED])
    audit_trail.refuse(store, SOURCE, "zurich", "eva", "POST /sluice: eva is user here")
    return world


@pytest.fixture
def browser(eventful, address, people):
    """A page of an administrator, for whom it has all controls."""
    url = f"http://127.0.0.1:{address}"
    with opened(url) as page:
        page.context.add_cookies([{"name": "_token", "value": quote(token(people, "admin")), "url": url}])
        yield page


def faults(page: Page) -> list[str]:
    """What keeps somebody out."""
    found = Axe().run(page).response["violations"]
    said = [
        f"{one['id']} ({one['impact']}): {node['html']}: {node['failureSummary']}"
        for one in found
        for node in one["nodes"]
        if one["impact"] in ("serious", "critical")
    ]
    return said + [f"it sticks out: {one}" for one in page.evaluate(STICKS_OUT)]


def judged(page: Page, path: str, pictures: Path) -> list[str]:
    """The faults of a page in each theme, on a telephone and on a desk."""
    found = []
    for theme, width in product(("light", "dark"), (360, 1300)):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=theme)
        page.goto(f"/sluice{path}")
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        if "slave=" in path:
            expect(page.get_by_role("region", name="Preview of zurich")).to_be_visible()
        name = f"{path.strip('/').replace('/', '-') or 'list'}-{theme}-{width}"
        shot(page, pictures, name)
        found += [f"{name}: {said}" for said in faults(page)]
    return found


def pictured(page: Page, path: str, picture: Path) -> None:
    """Make the picture of a page that the documentation shows."""
    page.set_viewport_size({"width": 1200, "height": 760})
    page.emulate_media(color_scheme="light")
    page.goto(f"/sluice{path}")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.evaluate(PLACES)
    page.screenshot(path=picture)
    assert picture.stat().st_size < MOST_BYTES


@pytest.mark.full
def test_no_page_keeps_anybody_out_nor_complains_nor_asks_another_host(browser, address, tmp_path):
    found = []
    with quiet(browser, f"http://127.0.0.1:{address}"):
        ticked = f"/comparisons/{SOURCE}/zurich/1/repair?table=public.t&row=1&row=3"
        update = f"/initial-update?source={SOURCE}&slave=zurich"
        for path in (*pages(), f"/replications/{SOURCE}/geneva", update, ticked):
            found += judged(browser, path, tmp_path)
        for path, name in pages().items():
            pictured(browser, path, Path(os.environ.get("SLUICE_PICTURES", tmp_path)) / f"{name}.png")
    found += judged(browser, f"/replications/{SOURCE}/nobody", tmp_path)
    assert not found, "\n".join(found)


@pytest.mark.full
def test_a_question_and_what_came_of_it_keep_nobody_out(browser):
    page = browser
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.goto(f"/sluice/replications/{SOURCE}/zurich")
        page.get_by_role("button", name="Remove first").press("Enter")
        expect(page.get_by_role("dialog")).to_be_visible()
        assert faults(page) == []
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Remove first")).to_be_focused()
        page.get_by_role("button", name="Remove", exact=True).press("Enter")
        page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).press("Enter")
        expect(page.locator("#banner")).to_contain_text("is being removed")
        assert faults(page) == []
