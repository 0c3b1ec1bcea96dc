"""Sluice's pages inside Airflow, as a person sees and uses them in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest
from playwright.sync_api import Page, expect
from support.browser import fits, ready, shot

from sluice.runtime.handle import Runtime

# What a run of a DAG does is waited for so long.
RUN_MS = 300_000.0
pytestmark = [pytest.mark.slow, pytest.mark.airflow]


@pytest.fixture
def watched(page: Page, runtime: Runtime) -> Iterator[Page]:
    """The page of a person; nothing of ours may complain, or ask another host."""
    faults: list[str] = []
    ours = urlsplit(runtime.ui_url).netloc

    def complained(message) -> None:
        if message.type == "error" and "/sluice/" in message.location.get("url", ""):
            faults.append(message.text)

    def asked(request) -> None:
        if urlsplit(request.url).netloc not in (ours, ""):
            faults.append(request.url)

    page.on("console", complained)
    page.on("request", asked)
    yield page
    page.remove_listener("console", complained)
    page.remove_listener("request", asked)
    assert faults == []


def test_a_person_sees_where_replications_stand_and_switches_a_dispatcher(watched, runtime, api, tmp_path_factory):
    page, pictures = watched, tmp_path_factory.mktemp("pages")
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto("/")
    page.get_by_role("button", name="Browse").click()
    page.get_by_role("menuitem", name="Replications").click()
    frame = page.frame_locator("iframe")
    row = frame.get_by_role("row").filter(has_text="zurich")
    expect(row).to_contain_text("NORMAL")
    expect(row).to_contain_text("active")
    expect(row).to_contain_text("ok")
    shot(page, pictures, "list")
    frame.get_by_role("link", name="zurich").click()
    expect(frame.get_by_role("heading", level=1)).to_contain_text("zurich")
    ready(frame)
    frame.get_by_role("button", name="Standby").click()
    expect(frame.locator(".gate.shut").first).to_contain_text("admin")
    assert api.ask("/api/v2/dags/drain__flights__zurich")["is_paused"]
    with psycopg.connect(runtime.admin_dsn("master"), autocommit=True) as master:
        master.execute("UPDATE airlines SET name = name || '.' WHERE carrier = 'UA'")
    expect(frame.locator("dl")).to_contain_text(re.compile(r"Holdback\s*1 transaction"), timeout=RUN_MS)
    expect(frame.get_by_text("What to do").first).to_be_visible()
    shot(page, pictures, "standby")
    frame.get_by_role("button", name="Activate").click()
    expect(frame.locator(".gate.shut")).to_have_count(0)
    expect(frame.locator("dl")).to_contain_text("0 transactions", timeout=RUN_MS)
    assert not api.ask("/api/v2/dags/drain__flights__zurich")["is_paused"]
    frame.get_by_role("link", name="Runs and logs of its drain").click()
    page.wait_for_url("**/dags/drain__flights__zurich**")


def test_a_refresh_leaves_focus_and_filter_alone(watched):
    watched.goto("/sluice/")
    field = watched.get_by_role("searchbox")
    field.fill("gen")
    expect(watched.get_by_role("row").filter(has_text="zurich")).to_have_count(0)
    clock = watched.locator("[data-clock]")
    before = clock.get_attribute("datetime")
    expect(clock).not_to_have_attribute("datetime", before)
    expect(field).to_be_focused()
    expect(field).to_have_value("gen")
    expect(watched.get_by_role("row").filter(has_text="geneva")).to_have_count(1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pages_are_as_narrow_as_a_telephone_and_as_dark_as_airflow(watched, tmp_path_factory, theme):
    pictures = tmp_path_factory.mktemp(theme)
    watched.goto("/")
    watched.evaluate("theme => localStorage.setItem('theme', theme)", theme)
    watched.goto("/plugin/replications")
    frame = watched.frame_locator("iframe")
    expect(frame.get_by_role("row").filter(has_text="zurich")).to_be_visible()
    expect(frame.locator("html")).to_have_attribute("data-theme", theme)
    shot(watched, pictures, "list")
    watched.set_viewport_size({"width": 360, "height": 800})
    watched.emulate_media(color_scheme=theme)
    for name, path in {
        "list": "/",
        "details": "/replications/flights/zurich",
        "update": "/initial-update",
        "health": "/health",
    }.items():
        watched.goto(f"/sluice{path}")
        expect(watched.get_by_role("heading", level=1)).to_be_visible()
        fits(watched)
        shot(watched, pictures, f"narrow-{name}")
        watched.set_viewport_size({"width": 1300, "height": 800})
        shot(watched, pictures, f"wide-{name}")
        watched.set_viewport_size({"width": 360, "height": 800})
    watched.set_viewport_size({"width": 1400, "height": 1300})
