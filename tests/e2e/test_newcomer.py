"""The story of somebody who sees the pages for the first time: from the first copy to a slave that an error stopped."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import FrameLocator, Page, expect
from support.browser import quiet, ready, shot
from support.launcher import standing, wait_until

from sluice.runtime.handle import Runtime

pytestmark = [pytest.mark.full, pytest.mark.slow, pytest.mark.airflow]
# A run of Airflow's, with its scheduler and a job.
RUN_MS = 300_000.0
NOBODY = "ALTER TABLE airlines ADD CONSTRAINT no_newcomer CHECK (carrier <> 'XN')"
ANYBODY = "ALTER TABLE airlines DROP CONSTRAINT IF EXISTS no_newcomer"


@pytest.fixture
def zurich(runtime: Runtime) -> Iterator[psycopg.Connection]:
    """A session of its owner, who does not know that it is a slave; it is as its master again afterwards."""
    with (
        psycopg.connect(runtime.admin_dsn("zurich"), autocommit=True) as slave,
        psycopg.connect(runtime.admin_dsn("master"), autocommit=True) as master,
    ):
        yield slave
        slave.execute(ANYBODY)
        master.execute("DELETE FROM airlines WHERE carrier = 'XN'")
        queued = "SELECT count(*) FROM repl.repl_items"
        wait_until(lambda: master.execute(queued).fetchone() == (0,), "publishing")
        wait_until(lambda: standing("zurich")["holdback"] == 0, "the delivery")


def lamps(frame: FrameLocator, last: str) -> list[str]:
    """The colours of zurich's lamp, one after another, to somebody who looks again and again."""
    seen: list[str] = []
    end = time.monotonic() + RUN_MS / 1_000
    while (not seen or seen[-1] != last) and time.monotonic() < end:
        frame.get_by_role("button", name="Refresh").click()
        said = frame.get_by_role("row").filter(has_text="zurich").locator(".lamp").get_attribute("class") or ""
        colour = said.removeprefix("lamp ")
        seen += [colour] if [colour] != seen[-1:] else []
    return seen


def test_a_newcomer_fills_a_slave_and_puts_it_right_after_an_error(page: Page, runtime: Runtime, zurich, tmp_path):
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto("/")
    page.get_by_role("button", name="Browse").click()
    page.get_by_role("menuitem", name="Replications").click()
    frame = page.frame_locator("iframe")
    with quiet(page, runtime.ui_url, "/sluice/"):
        frame.get_by_role("link", name="Initial update").click()
        expect(frame.get_by_role("checkbox", name="zurich")).to_be_visible()
        ready(frame)
        frame.get_by_role("checkbox", name="zurich").check()
        frame.get_by_role("button", name="Begin").click()
        frame.get_by_role("dialog").get_by_role("button", name="Begin").click()
        expect(frame.locator(".lamp.blue")).to_be_visible(timeout=RUN_MS)
        shot(page, tmp_path, "blue")
        assert lamps(frame, "green") == ["blue", "yellow", "green"]

        zurich.execute(NOBODY)
        with psycopg.connect(runtime.admin_dsn("master"), autocommit=True) as master:
            master.execute("INSERT INTO airlines (carrier, name) VALUES ('XN', 'Newcomer Air')")
        row = frame.get_by_role("row").filter(has_text="zurich")
        expect(row).to_contain_text("exception", timeout=RUN_MS)
        frame.get_by_role("link", name="zurich").click()
        expect(frame.locator(".attention")).to_contain_text("no_newcomer")
        ready(frame)
        expect(frame.get_by_text("What to do").first).to_be_visible()
        shot(page, tmp_path, "stopped")
        frame.get_by_role("button", name="Remove first").click()
        frame.get_by_role("dialog").get_by_role("button", name="Remove first").click()
        expect(frame.get_by_role("button", name="Remove first")).to_have_count(0, timeout=RUN_MS)
        frame.get_by_role("button", name="Activate").click()
        expect(frame.locator("dl")).to_contain_text(re.compile(r"Holdback\s*0 transactions"), timeout=RUN_MS)
        expect(frame.locator(".gate.shut")).to_have_count(0)
        # Until a comparison finds both equal it says that it lacks something.
        expect(frame.locator(".counts")).to_contain_text("differs from its master")
        shot(page, tmp_path, "differs")

        zurich.execute(ANYBODY)
        frame.get_by_role("link", name="1 change", exact=True).click()
        frame.get_by_role("button", name="Carry out", exact=True).click()
        frame.get_by_role("dialog").get_by_role("button", name="Carry out").click()
        expect(frame.get_by_text("No change is kept")).to_be_visible(timeout=RUN_MS)
        frame.get_by_role("navigation").get_by_role("link", name="zurich").click()
        frame.get_by_role("button", name="Compare").click()
        frame.get_by_role("dialog").get_by_role("button", name="Compare").click()
        expect(frame.locator(".counts .lamp.green")).to_be_visible(timeout=RUN_MS)
        shot(page, tmp_path, "well")
