"""Explains errors by the page of errors, which people, this command and tests read."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from sluice import paths
from sluice.errors import SluiceError

PAGE = paths.PROJECT / "include" / "docs" / "errors.md"
_ROW = re.compile(r"^\| (SLC-\d{3}) \| (.*) \| (.*) \| (.*) \|$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_WIDTH = 100


@dataclass(frozen=True)
class ErrorEntry:
    """One row of the page, as plain text.

    Attributes:
        safe: the state in which the error leaves things, and whether the run tries again by itself.
        remedy: the commands to type, or the steps to take.
    """

    code: str
    meaning: str
    safe: str
    remedy: str

    def __str__(self) -> str:
        parts = ((self.code, self.meaning), ("Safe", self.safe), ("To do", self.remedy))
        return "\n".join(
            textwrap.fill(f"{title}: {text}", _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
            for title, text in parts
        )


def entries(page: Path = PAGE) -> dict[str, ErrorEntry]:
    """Every error by its code."""
    rows = _ROW.findall(page.read_text(encoding="utf-8"))
    return {row[0]: ErrorEntry(*(_LINK.sub(r"\1", cell) for cell in row)) for row in rows}


def explain(word: str) -> ErrorEntry:
    """The entry of a code, which may be written as `SLC-041`, `slc-41` or `41`.

    Raises:
        SluiceError: SLC-343, there is no error of that code.
    """
    number = re.fullmatch(r"(?:slc-)?0*(\d{1,3})", word.strip(), re.IGNORECASE)
    if number and (found := entries().get(f"SLC-{int(number[1]):03d}")):
        return found
    raise SluiceError(343, f"there is no error with the code {word!r}", f"name one such as SLC-041; {PAGE} lists all")
