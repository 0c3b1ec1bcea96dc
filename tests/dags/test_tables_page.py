"""The page of a source's tables."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from support.browser import fits, opened, ready, shot
from support.pages import token

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
HOSTILE = '<script>alert(1)</script>"'


@pytest.mark.full
def test_a_person_sees_which_tables_are_busy_and_which_copies_are_odd(
    pages_world, people, visit, address, tmp_path_factory
):
    world, control = pages_world, pages_world.session("control")
    world.master.execute(f"""CREATE TABLE "{HOSTILE.replace('"', '""')}" (id int PRIMARY KEY)""")
    world.publish()
    world.master.execute("INSERT INTO t SELECT generate_series(1, 1500)")
    world.master.execute("DELETE FROM t WHERE id > 1400")
    world.publish()
    control.execute("INSERT INTO tolerated VALUES ('flights', 'zurich', 'public', 't', 3, 1)")
    control.execute("INSERT INTO comparison VALUES (DEFAULT, 1, 'flights', 'geneva', 'public.t', 1400, 7, '[]')")
    url = f"http://127.0.0.1:{address}"
    with opened(url, viewport={"width": 1300, "height": 700}) as page:
        page.context.add_cookies([{"name": "_token", "value": token(people, "eva"), "url": url}])
        page.goto("/sluice/")
        page.get_by_role("link", name="Tables", exact=True).click()
        row = page.get_by_role("row").filter(has_text="public.t")
        expect(row).to_contain_text(re.compile(r"1,500\s*0\s*100\s*1,600\s*1,600\s*1,600\s*4\s*0\s*7 of 1,400 differ"))
        expect(row.get_by_role("link")).to_have_text(["zurich", "geneva"])
        expect(page.get_by_role("row").filter(has_text="script")).to_be_visible()
        shot(page, tmp_path_factory.mktemp("tables"), "wide")
        ready(page)
        page.get_by_role("searchbox").fill("script")
        expect(row).to_have_count(0)
        page.set_viewport_size({"width": 360, "height": 800})
        fits(page)
    busiest = visit("eva").get("/tables/flights?sort=total").text
    assert busiest.index("public.t<") < busiest.index("&lt;script")
    assert "<script>alert" not in busiest
    assert visit("eva").get("/tables/nowhere").status_code == 404
    told = {one["name"]: one for one in visit("eva").get("/api/v1/sources/flights/tables").json()}
    assert told["public.t"]["activity"]["ever"] == {"inserts": 1500, "updates": 0, "deletes": 100}
    assert [one["conflicts"] for one in told["public.t"]["copies"]] == [4, 0]
    assert visit("eva").get("/api/v1/sources/nowhere/tables").status_code == 404
