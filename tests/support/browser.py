"""Pages in a real browser; Airflow's: a person who logs in, fills trigger forms, and looks how runs ended."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from playwright.sync_api import ConsoleMessage, Error, FrameLocator, Locator, Page, Request, expect, sync_playwright
from support.installing import installed

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Nothing but the page is to be asked for.
_QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)
PATIENCE_MS = 60_000.0
expect.set_options(timeout=PATIENCE_MS)


def chromium() -> str:
    """The browser of this machine."""
    return installed(lambda: next(filter(None, map(shutil.which, _NAMES)), None), "chromium")


@contextmanager
def opened(url: str, **context: Any) -> Iterator[Page]:
    """A page of a browser that has just been started; `context` as Playwright's new_context has it."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*_QUIET, *sandbox])
        try:
            page = browser.new_context(base_url=url, **context).new_page()
            page.set_default_timeout(PATIENCE_MS)
            yield page
        finally:
            browser.close()


@contextmanager
def logged_in(url: str, login: str, password: str) -> Iterator[Page]:
    """A page of a person who has logged in to Airflow."""
    with opened(url, viewport={"width": 1400, "height": 1300}) as page:
        page.goto("/auth/login")
        page.fill("input[name=username]", login)
        page.fill("input[name=password]", password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{url}/")
        yield page


@dataclass(frozen=True)
class Outcome:
    """How a run ended, as its page shows it: the badge, and the note's first line."""

    badge: str
    note: str


class TriggerForm:
    """The form by which a person triggers a DAG."""

    def __init__(self, page: Page, dag: str) -> None:
        self._page = page
        self.dag = dag
        page.goto(f"/dags/{dag}")
        page.locator("button", has_text="Trigger").first.click()
        self.dialog = page.get_by_role("dialog").filter(has_text="Single Run")
        expect(self.dialog).to_be_visible()

    @property
    def button(self) -> Locator:
        """What sends it."""
        return self.dialog.locator("button", has_text="Trigger").last

    @property
    def text(self) -> str:
        """All that it says."""
        return self.dialog.inner_text()

    def field(self, name: str) -> Locator:
        """Where a param is filled in."""
        return self.dialog.locator(f"#element_{name}, [name=element_{name}]").first

    def open(self, section: str) -> None:
        """Unfold a section."""
        self.dialog.get_by_role("button", name=section, exact=True).click()

    def pick(self, name: str, *labels: str) -> None:
        """Choose from a list."""
        for label in labels:
            self.field(name).locator("input").first.fill(label)
            self._page.get_by_role("option", name=label, exact=True).click()

    def write(self, name: str, text: str) -> None:
        """Type into a field."""
        field = self.field(name)
        box = field if field.evaluate("one => 'value' in one") else field.locator("input, textarea").first
        box.fill(text)

    def switch(self, name: str) -> None:
        """Flip a switch."""
        self.dialog.locator(f"label:has(input[name=element_{name}])").click()

    def send(self) -> str:
        """Press the button; Airflow shows the run that begins, which is returned."""
        expect(self.button).to_be_enabled()
        self.button.click()
        self._page.wait_for_url(f"**/dags/{self.dag}/runs/*")
        return unquote(self._page.url.partition("/runs/")[2].partition("?")[0])


def outcome(page: Page, dag: str, run: str, seconds: float = 240) -> Outcome:
    """Look at a run's page until it has ended."""
    page.goto(f"/dags/{dag}/runs/{quote(run, safe='')}")
    # Those of the tasks come behind it.
    badge = page.get_by_test_id("state-badge").first
    expect(page.get_by_role("button", name="Edit note").first).to_be_visible()
    expect(badge).to_have_text(re.compile("^(Success|Failed)$"), timeout=seconds * 1_000)
    # The note came with the page, and is not read again by itself.
    page.reload()
    expect(badge).to_be_visible()
    note = page.get_by_role("button", name="Edit note").first.locator("..")
    expect(note).to_be_visible()
    return Outcome(badge.inner_text(), note.inner_text().strip().removesuffix("Add a note..."))


def shot(page: Page, directory: Path, name: str) -> Path:
    """Keep what the page looks like.

    A picture of the whole page scrolls it, and the browser scrolls it back when the focus moves: between the press and
    the release of a button, which then misses it. So it is put back at once.
    """
    file = directory / f"{name}.png"
    place = page.evaluate("[scrollX, scrollY]")
    page.screenshot(path=file, full_page=True)
    page.evaluate("place => scrollTo(...place)", place)
    return file


def ready(where: Page | FrameLocator) -> None:
    """The script of a page of ours, which is deferred, has run: it says the theme, and listens."""
    expect(where.locator("html")).to_have_attribute("data-theme", re.compile("^(light|dark)$"))


def fits(page: Page) -> None:
    """Nothing sticks out of its window; a page is laid out anew a moment after the window's size has changed."""
    size = page.viewport_size
    assert size
    expect(page.locator("html")).to_have_js_property("scrollWidth", size["width"])


@contextmanager
def quiet(page: Page, url: str, ours: str = "") -> Iterator[None]:
    """Nothing complains meanwhile, nor is another host asked.

    Args:
        url: the host that may be asked.
        ours: only what has this in its address may not complain.
    """
    faults: list[str] = []

    def complained(message: ConsoleMessage) -> None:
        if message.type == "error" and ours in message.location.get("url", ""):
            faults.append(message.text)

    def asked(request: Request) -> None:
        if urlsplit(request.url).netloc not in (urlsplit(url).netloc, ""):
            faults.append(request.url)

    def broke(error: Error) -> None:
        faults.append(str(error))

    listeners = {"console": complained, "request": asked, **({} if ours else {"pageerror": broke})}
    for name, listener in listeners.items():
        page.on(name, listener)
    yield
    for name, listener in listeners.items():
        page.remove_listener(name, listener)
    assert not faults, "\n".join(faults)
