"""Refuses stylesheets that call functions without a repeatable result: a row is transformed more than once, by the
stream, an initial update, a comparison, or the retry of a batch (R3, R8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_DATES = "http://exslt.org/dates-and-times"
_RANDOM = ("http://exslt.org/math", "random")
# They evaluate texts that are known at run time only.
_EVALUATING = {"http://exslt.org/dynamic", "http://icl.com/saxon"}
_TEXT = re.compile(r"\"[^\"]*\"|'[^']*'")
_CALL = re.compile(r"([\w.-]+)\s*:\s*([\w.-]+)\s*\((\s*\))?")


def unrepeatable(sheet: Any) -> list[str]:
    """The functions that a stylesheet calls although their answers differ, as it writes them.

    Args:
        sheet: its root, as lxml has it. Calls stand in attributes alone, and what is called is never computed.
    """
    return sorted({call for element in sheet.iter("*") for call in _calls(element)})


def _calls(element: Any) -> Iterator[str]:
    for value in element.attrib.values():
        for prefix, name, nothing in _CALL.findall(_TEXT.sub("''", value)):
            space = element.nsmap.get(prefix)
            # Functions of dates take the present where no date is given.
            if (space == _DATES and nothing) or (space, name) == _RANDOM or space in _EVALUATING:
                yield f"{prefix}:{name}()"
