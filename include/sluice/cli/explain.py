"""Explains an error by its code."""

from __future__ import annotations

import re
import textwrap

from sluice.error_codes import ErrorEntry, entries
from sluice.errors import SluiceError

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_WIDTH = 100


def explain(word: str) -> str:
    """Explain a code, which may be written as `SLC-041`, `slc-41` or `41`.

    Raises:
        SluiceError: SLC-003, there is no error of that code.
    """
    number = re.fullmatch(r"(?:slc-)?0*(\d{1,3})", word.strip(), re.IGNORECASE)
    if number and (entry := entries().get(f"SLC-{int(number[1]):03d}")):
        return _in_lines(entry)
    raise SluiceError(3, f"there is no error with the code {word!r}", "name one such as SLC-041, as an error has it")


def _in_lines(entry: ErrorEntry) -> str:
    parts = {entry.code: entry.meaning, "Safe": entry.safe, "To do": entry.remedy}
    texts = [_LINK.sub(r"\1", f"{title}: {text}") for title, text in parts.items()]
    return "\n".join(textwrap.fill(text, _WIDTH, subsequent_indent="  ", break_on_hyphens=False) for text in texts)
