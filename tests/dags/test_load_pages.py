"""The pages of initial updates: how far each table is."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from support.browser import opened, shot
from support.pages import token
from support.world import SOURCE

from sluice.model.progress import LoadProgress, TableProgress, TableState
from sluice.state.initial_update import UpdateEvent
from sluice.store import updates

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
MB = 1_000_000
BY_TABLE = [
    TableProgress("public.flights", TableState.DONE, 8, 8, 1_250_000, bytes=512 * MB, bytes_planned=512 * MB),
    TableProgress('shop."<b>odd"', TableState.RUNNING, 6, 2, 40_000, bytes=20 * MB, bytes_planned=64 * MB),
    TableProgress("shop.prices", TableState.RUNNING, 1, 0, 30_000, rows_planned=90_000),
    *(TableProgress(f"shop.t{n:03}", TableState.WAITING, 1, 0, 0, bytes=0, bytes_planned=8192) for n in range(120)),
]
LOADING = LoadProgress(134, 10, 1_320_000, 532 * MB, 640 * MB, 21_000, 95, by_table=BY_TABLE)


def test_a_person_sees_which_tables_are_in_and_which_are_to_come(pages_world, people, visit, address, tmp_path_factory):
    store = pages_world.context.store
    number = updates.new(store, SOURCE)
    updates.report(store, number, LOADING)
    with store.begin() as connection:
        updates.happen(connection, number, UpdateEvent.DUMP)
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
        pictures = tmp_path_factory.mktemp("load")
        shot(page, pictures, "progress")
        page.set_viewport_size({"width": 360, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        shot(page, pictures, "narrow")
