"""Charts of the pages, and a list of 500 replications, which costs one query."""

from __future__ import annotations

import re

import pytest
import yaml
from playwright.sync_api import expect
from support.browser import fits, opened, quiet, shot
from support.pages import token

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
MANY = 500
# A day in minutes: waves of a backlog, and nobody at work for an hour.
MINUTES = """
INSERT INTO history SELECT 'flights', 'zurich', false, date_trunc('minute', now()) - m * interval '1 min',
    greatest(0, 40 * sin(m / 60.0) + 3 * sin(m)), greatest(0, 900 * sin(m / 60.0)),
    1999000 - 900 * m + 30000 * sin(m / 90.0)
FROM generate_series(0, 1439) AS m WHERE m NOT BETWEEN 100 AND 160
ON CONFLICT DO NOTHING"""
HOURS = """
INSERT INTO history SELECT 'flights', 'zurich', true, date_trunc('hour', now()) - h * interval '1 hour',
    20 + 15 * sin(h / 12.0), 100 * (1 + sin(h / 12.0)), 1000000 - h * 1300
FROM generate_series(25, 700) AS h"""
A_DAY_OF_ALL = """
INSERT INTO history SELECT 'flights', slave, false, date_trunc('minute', now()) - m * interval '1 min',
    m % 7, m, 1000 - m
FROM replication, generate_series(0, 1439) AS m WHERE slave LIKE 'branch%'"""
SPANS = ("6 hours", "24 hours", "7 days", "30 days")


@pytest.mark.full
def test_a_list_of_500_costs_one_query_of_the_store(pages_world, visit, asked):
    names = [f"branch_{number:03}" for number in range(MANY)]
    settings, control = pages_world.settings, pages_world.session("control")
    settings["slaves"] = {name: {"connection": f"nowhere_{name}"} for name in names}
    settings["replications"] = [{"source": "flights", "slave": name} for name in names]
    (pages_world.path / "replication.yaml").write_text(yaml.safe_dump(settings))
    made = "INSERT INTO replication (source, slave, status) SELECT 'flights', unnest(%s::text[]), 'NORMAL'"
    control.execute(made, [names])
    control.execute(A_DAY_OF_ALL)
    control.execute("ANALYZE")
    client = visit("eva")
    client.get("/")
    asked.clear()
    shown = client.get("/").text
    assert shown.count('class="spark"') == 2 * MANY
    assert [text.splitlines()[0][:32] for text in asked] == ["-- Where replications stand: one"]


@pytest.mark.full
def test_a_deployment_has_words_and_columns_and_a_form_of_its_own(pages_world, people, visit, address, tmp_path):
    pages_world.session("control").execute(MINUTES)
    own = {
        "title": "<b>Production</b>",
        "columns": ["status", "rate"],
        "names": {"zurich": "Zürich <i>hub</i>"},
        "texts": {"status": "Zustand", "standby_all": "Alle anhalten", "standby": "<u>Anhalten</u>", "name": "Wer"},
        "form": [],
        "refresh_s": 60,
    }
    file = pages_world.path / "replication.yaml"
    file.write_text(yaml.safe_dump({**pages_world.settings, "pages": own}))
    url = f"http://127.0.0.1:{address}"
    with opened(url, viewport={"width": 1300, "height": 600}) as page, quiet(page, url):
        page.context.add_cookies([{"name": "_token", "value": token(people, "otto"), "url": url}])
        page.goto("/sluice/")
        expect(page.get_by_text("<b>Production</b>", exact=True)).to_be_visible()
        expect(page).to_have_title(re.compile("<b>Production</b>"))
        expect(page.locator("body")).to_have_attribute("data-refresh", "60.0")
        heads = [re.compile(rf"^\s*{name}") for name in ("Wer", "Zustand", "Rate, 1 h")]
        expect(page.get_by_role("columnheader")).to_have_text(heads)
        expect(page.get_by_role("button", name="Alle anhalten")).to_be_visible()
        shot(page, tmp_path, "own")
        page.get_by_label("Name contains").fill("HUB")
        expect(page.get_by_role("rowheader")).to_have_text([re.compile(r"Zürich <i>hub</i>\s+zurich")])
        page.set_viewport_size({"width": 360, "height": 800})
        page.emulate_media(color_scheme="dark")
        fits(page)
        shot(page, tmp_path, "own-narrow")
        page.get_by_role("link", name="Zürich").click()
        expect(page.get_by_role("button", name="<u>Anhalten</u>")).to_be_visible()
        fits(page)
        shot(page, tmp_path, "own-details")
        # The simple form of the guide: a source and its slaves.
        page.get_by_role("link", name="Initial update").click()
        expect(page.locator("#preview")).to_contain_text("of flights")
        fields = page.locator("form [name]").evaluate_all("all => [...new Set(all.map(one => one.name))]")
        assert fields == ["source", "slaves"]
        shot(page, tmp_path, "own-form")
        page.get_by_role("link", name="Cancel").click()
        page.wait_for_url(f"{url}/sluice/")
        page.go_back()
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("dialog").get_by_role("button", name="Begin").click()
        page.wait_for_url(f"{url}/sluice/?run=initial_update*")
    begun = people["otto"].ask("/api/v2/dags/initial_update/dagRuns?order_by=-run_after&limit=1")["dag_runs"][0]["conf"]
    assert (begun["slaves"], begun["mode"], begun["cascade"], begun["resume"]) == (["zurich"], "snapshot", None, False)


@pytest.mark.full
def test_a_person_sees_how_it_was(pages_world, people, visit, address, tmp_path_factory):
    control = pages_world.session("control")
    for put in (MINUTES, HOURS):
        control.execute(put)
    control.execute("UPDATE replication SET segment = 9, ordinal = 2000000 WHERE slave = 'zurich'")
    told = visit("eva").get("/api/v1/replications/flights/zurich/history", params={"span": "1d"}).json()
    assert (told["step_s"], len(told["moments"]) > 200, told["moments"][0].keys()) == (
        300,
        True,
        {"at", "lag_s", "holdback", "ordinal"},
    )
    pictures, url = tmp_path_factory.mktemp("charts"), f"http://127.0.0.1:{address}"
    with opened(url, viewport={"width": 1300, "height": 900}) as page:
        page.context.add_cookies([{"name": "_token", "value": token(people, "eva"), "url": url}])
        faults = []
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        page.goto("/sluice/")
        row = page.get_by_role("row").filter(has_text="zurich")
        expect(row.get_by_role("img", name=re.compile("^lag, at most"))).to_be_visible()
        shot(page, pictures, "list")
        row.get_by_role("link", name="zurich").click()
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            for span in SPANS:
                page.get_by_role("link", name=span, exact=True).click()
                chart = page.get_by_role("img", name=re.compile(f"^Lag in the last {span}: now"))
                expect(chart).to_be_visible()
                assert re.search(r": now 0 s, at most 4\d s$", chart.get_attribute("aria-label"))
                shot(page, pictures, f"{theme}-{span.replace(' ', '-')}")
        expect(page.locator("rect.gap").first).to_be_attached()
        page.set_viewport_size({"width": 360, "height": 800})
        fits(page)
        shot(page, pictures, "narrow")
        assert faults == []
