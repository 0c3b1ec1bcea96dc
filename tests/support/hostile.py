"""Names of others that would be more than letters: in HTML, Markdown, a spreadsheet, a terminal or a log."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

from sluice.outside_text import visible

# As PostgreSQL takes them, of 63 bytes at most.
NAMES = (
    "<img src=x onerror=alert(1)><script>alert(1)</script>",
    "![p](http://evil.example/p) [l](http://evil.example)",
    "http://evil.example www.evil.example eva@evil.example",
    "=cmd()|' /C calc'!A0",
    "x\n# t\n===\nHINT: type evil\nSLC-000: well",
    "x\x1b[2J\x1b]0;e\x07\x9b1m\u202e\r",
    "\"'`&amp;{{ conn.x }}\\",
)
_LEADING = ("href", "src", "action", "formaction", "data-post", "data-json", "data-submit", "data-reload")
_HARMFUL = {"img", "iframe", "object", "embed", "base", "style", "video", "audio", "template", "math"}
# A line, and a tab, are ours as well.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


class Page(HTMLParser):
    """A page of ours: what would not be, as `faults`, and its `text` with that of tooltips and questions."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.faults = [f"a control character: {found[0]!r}" for found in CONTROL.finditer(page)]
        self._texts: list[str] = []
        self.feed(page)
        self.close()
        self.text = "".join(self._texts)

    @property
    def named(self) -> set[str]:
        """The names of others that are on it."""
        return named(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in _HARMFUL or (tag == "script" and not given.get("src", "").endswith("/static/pages.js")):
            self.faults.append(f"a tag: {self.get_starttag_text()}")
        self.faults += [f"{tag} {name}={value}" for name, value in given.items() if name.startswith("on")]
        for name in _LEADING:
            url = given.get(name, "/")
            # A link to a place on the page, and one with a query alone, stay here.
            if urlsplit(url).netloc or urlsplit(url).scheme or url[:1] not in "/#?":
                self.faults.append(f"{tag} {name}={url}")
        self._texts += given.values()

    def handle_data(self, data: str) -> None:
        self._texts.append(data)


def named(text: str) -> set[str]:
    """The names of others that a text has, as a reader sees them."""
    flat = "".join(text.split())
    return {name for name in NAMES if "".join(visible(name).split()) in flat}
