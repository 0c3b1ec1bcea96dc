"""Texts of others as we say them: names, types, and what servers, clients and files tell. One function per medium.

An error says them by `sluice.errors.sanitize`, and a page by `visible`: its templates escape all else.
"""

from __future__ import annotations

import html
import json
import re
import sys
from typing import TextIO

# These would hide or rearrange what stands around them in a terminal or on a page, or hide themselves.
_HIDING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
# Marks of Markdown; lists do no harm. And what makes an address, of which Airflow makes a link even behind a backslash:
# of all but code.
_MARKS = re.compile(r"((?<=:)//|(?<=www)\.|@(?=[-\w]))|[\\`*_\[\]<>|~&!@#]", re.IGNORECASE)
# What makes a title, or a table, of the line before.
_UNDERLINES = re.compile(r"^(\s*)(?=[=:-][=: -]*$)", re.MULTILINE)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])|`")
_BACKTICKS = re.compile("`+")
# A spreadsheet takes what begins so for a formula.
_FORMULA = re.compile("[=+@\t\r\n\uff1d\uff0b\uff20\uff0d-]")
MOST_SAID = 20_000


def visible(text: str) -> str:
    """A text without characters that hide or rearrange what stands around them; lines and tabs stay."""
    return _HIDING.sub(lambda match: ascii(match[0])[1:-1], text)


def say(text: str = "", *, file: TextIO | None = None, end: str = "\n") -> None:
    """Print a text on a terminal. All that commands print goes through here."""
    print(visible(text), file=file, end=end, flush=True)


def say_script(script: str) -> None:
    """Print a script: for a program that reads it, letter by letter."""
    print(visible(script) if sys.stdout.isatty() else script, flush=True)


def in_one_line(text: str) -> str:
    """A text behind which a line goes on; the same if all of it is printable."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def in_log(value: object) -> str:
    """A value of an event, without a blank or a line of its own."""
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    return text if text and text.isprintable() and " " not in text else repr(text)


def in_markdown(text: str) -> str:
    """A name within a sentence or a table of Markdown, letter by letter: no link, no picture, no tag."""
    # A table's row is split at each | that stands in it, whatever is around that.
    shown = shorten(in_one_line(text)).replace("|", "\\x7c")
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(shown)), default=0))
    edge = " " if not shown or "`" in (shown[0], shown[-1]) or shown[0] == shown[-1] == " " else ""
    return f"{fence}{edge}{shown}{edge}{fence}"


def in_markdown_block(text: str) -> list[str]:
    """Lines of a block of code in Markdown."""
    return [f"    {line}" for line in shorten(visible(text)).splitlines()]


def in_note(text: str) -> str:
    """A note of a run, which Airflow shows as Markdown: none of it is a mark."""
    escaped = _MARKS.sub(lambda match: f"`{match[0]}`" if match[1] else f"\\{match[0]}", visible(text))
    return _UNDERLINES.sub(r"\1\\", escaped)


def from_note(note: str) -> str:
    """The text of `in_note`."""
    return _ESCAPED.sub(lambda match: match[1] or "", note)


def in_slack(text: str) -> str:
    """A message of Slack's, as a block of code: none of it is a mark, a link with a name, or a call of all people."""
    # Slack knows no escaped quotes.
    shown = html.escape(visible(text), quote=False).replace("```", "\\x60\\x60\\x60")
    return f"```\n{shown}\n```"


def in_json(value: object) -> str:
    """JSON of the same value, in which nothing hides or rearranges what stands around it."""
    return _HIDING.sub(lambda match: json.dumps(match[0])[1:-1], json.dumps(value, ensure_ascii=False))


def in_csv(cell: str) -> str:
    """A cell of CSV, which no spreadsheet takes for a formula."""
    shown = visible(cell)
    return f"'{shown}" if _FORMULA.match(shown) else shown


def shorten(text: str) -> str:
    """The beginning of a long text, and the number of characters behind it."""
    if len(text) <= MOST_SAID:
        return text
    more = f" ... ({len(text) - MOST_SAID:,} more characters)"
    return text[: MOST_SAID - len(more)] + more
