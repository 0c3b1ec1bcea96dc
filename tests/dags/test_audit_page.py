"""The page of the audit trail, and the same by REST."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from support.browser import fits, opened, ready, shot
from support.pages import token

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
HOSTILE = "<script>alert(1)</script>'; DROP TABLE audit; --"


def test_an_administrator_finds_who_did_what(pages_world, people, visit, address, tmp_path_factory):
    control = pages_world.session("control")
    told = "INSERT INTO audit (at, source, slave, actor, event, detail) "
    control.execute(
        f"{told} SELECT now() - interval '40 days', 'past', 'old', 'erin', 'x', n FROM generate_series(1, 230) n"
    )
    control.execute(f"{told} VALUES (now(), 'flights', 'zurich', %s, 'refused', %s)", (HOSTILE, HOSTILE))
    control.execute(f"{told} VALUES (now(), 'flights', NULL, 'per_cent', 'standby', '')")
    client = visit("admin")

    def rest(**query):
        answer = client.get("/api/v1/audit", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    # Page by page, every entry once, although others come in meanwhile.
    seen, before = [], {}
    while True:
        page = rest(person="erin", **before)
        seen += [int(one["detail"]) for one in page["entries"]]
        control.execute(f"{told} VALUES (now(), 'past', 'old', 'erin', 'x', '0')")
        if page["older"] is None:
            break
        before = {"before": page["older"]}
    assert seen == list(range(230, 0, -1))
    for query, count in [
        ({"source": "past", "days": 30}, 3),
        ({"slave": "zurich", "event": "refu"}, 1),
        ({"person": "r_c"}, 1),
        ({"person": "%"}, 0),
        ({"source": HOSTILE, "slave": "\x00\ud800".encode(errors="replace").decode(), "event": HOSTILE}, 0),
    ]:
        assert len(rest(**query)["entries"]) == count, query
    assert client.get("/api/v1/audit?days=0").status_code == 422
    assert client.get("/audit?source=&days=&before=").status_code == 200
    assert client.get(f"/audit?before={2**63}").status_code == 422

    url = f"http://127.0.0.1:{address}"
    with opened(url, viewport={"width": 1300, "height": 700}, timezone_id="Asia/Tokyo", locale="en-GB") as page:
        page.context.add_cookies([{"name": "_token", "value": token(people, "admin"), "url": url}])
        page.goto("/sluice/")
        page.get_by_role("link", name="Audit", exact=True).click()
        rows = page.locator("tbody tr")
        expect(rows).to_have_count(100)
        expect(rows.filter(has_text="DROP TABLE")).to_contain_text("refused")
        expect(page.locator("tbody time").first).to_have_attribute("title", re.compile(r"GMT\+0900"))
        shot(page, tmp_path_factory.mktemp("audit"), "wide")
        page.get_by_role("link", name="Older").press("Enter")
        expect(page.get_by_role("link", name="Newest")).to_be_visible()
        ready(page)
        page.get_by_label("Person contains").fill("per_c")
        expect(rows).to_have_count(1)
        page.get_by_label("Person contains").fill("<script>")
        expect(rows.filter(has_text="<script>alert(1)</script>")).to_have_count(1)
        page.set_viewport_size({"width": 360, "height": 800})
        fits(page)
        shot(page, tmp_path_factory.mktemp("audit"), "narrow")
    assert "<script>alert" not in client.get("/audit").text
    assert ">Audit</a>" not in visit("eva").get("/").text
