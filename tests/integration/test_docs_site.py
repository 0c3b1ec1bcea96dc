"""The documentation as a site: built without a warning, served on the loopback, and read without asking other hosts."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support import browser

CLI = [sys.executable, "-m", "sluice.cli", "docs"]
# The attributes by which a page has something loaded; links that a person may follow are none of them.
LOADED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}


class Loaded(HTMLParser):
    """The addresses that a page loads by itself."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value for name, value in attrs if value and name == LOADED.get(tag)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built into a directory that has a file already."""
    directory = tmp_path_factory.mktemp("site")
    (directory / "notes.txt").write_text("mine")
    built = subprocess.run([*CLI, "--build", str(directory)], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stdout + built.stderr
    return directory


def pages(site: Path) -> list[Path]:
    """All but the one that a server shows for an address that it does not have, whose own are absolute."""
    return [page for page in sorted(site.rglob("*.html")) if page.name != "404.html"]


@pytest.mark.full
def test_a_build_leaves_other_files_of_the_directory(site):
    assert (site / "notes.txt").read_text() == "mine"


@pytest.mark.full
def test_pages_and_stylesheets_load_nothing_from_other_hosts(site):
    assert site / "index.html" in pages(site)
    loaded = {address for page in site.rglob("*.html") for address in Loaded(page.read_text("utf-8")).addresses}
    for sheet in [*site.rglob("*.css"), *site.rglob("*.svg")]:
        text = sheet.read_text(encoding="utf-8")
        loaded |= set(re.findall(r"(?:url\(|@import|xlink:href=)\s*['\"]?([^'\")\s]+)", text))
    assert not [address for address in loaded if urlsplit(address).netloc]


@pytest.mark.full
def test_no_link_of_a_page_leads_to_a_file_that_the_site_lacks(site):
    missing = {
        f"{page.relative_to(site)}: {target}"
        for page in pages(site)
        for target in re.findall(r'<a [^>]*?href="([^"#]+)', page.read_text(encoding="utf-8"))
        if not urlsplit(target).scheme and not (page.parent / target).exists()
    }
    assert not missing


@pytest.mark.full
def test_every_page_opens_as_a_file_light_and_dark_fits_its_window_and_asks_no_host(site):
    asked: set[str] = set()
    with browser.opened(site.as_uri()) as page:
        page.on("request", lambda request: asked.add(urlsplit(request.url).scheme))
        # Those of decisions are plain text.
        for file in (file for file in pages(site) if file.parent == site):
            page.goto(file.as_uri())
            for width, scheme in ((360, "light"), (1400, "dark")):
                page.set_viewport_size({"width": width, "height": 900})
                page.emulate_media(color_scheme=scheme)
                browser.fits(page)
                page.wait_for_function("scheme => document.documentElement.dataset.bsTheme === scheme", arg=scheme)
    assert asked <= {"file", "data"}


@pytest.mark.full
def test_a_reader_of_the_served_site_finds_a_word_and_is_sent_to_no_other_host():
    browser.chromium()
    with subprocess.Popen(CLI, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            lines = (re.search(r"http://127\.0\.0\.1:\d+", line) for line in server.stderr)
            address = next(filter(None, lines))[0]
            asked, failed = set(), []
            with browser.opened(address) as page:
                page.on("request", lambda request: asked.add(urlsplit(request.url).netloc))
                page.on("pageerror", lambda error: failed.append(error))
                with page.expect_console_message(lambda message: "search ready" in message.text):
                    page.goto("/concepts.html")
                page.keyboard.press("s")
                page.locator("#mkdocs-search-query").press_sequentially("holdback")
                browser.expect(page.locator("#mkdocs-search-results a").first).to_be_visible()
            assert asked == {urlsplit(address).netloc}
            assert not failed
        finally:
            server.kill()
