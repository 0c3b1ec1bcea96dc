"""Each control, column and property of a page says in a tooltip what it is for, as the guide's pages do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sluice.pages import html

TEMPLATES = sorted((html.HERE / "templates").glob("*.html"))
ITEM = re.compile(
    r'<(?:button|dt|th scope="col"|a class="button|select|textarea|input(?! type="hidden"))'
    r"(?:[^>{]|\{[{%].*?[%}]\})*>[^<]*(?:<a [^>]*>)?",
    re.DOTALL,
)
# Buttons that stand in for script, names of columns that an answer has, and columns whose name is heard alone.
PLAIN = re.compile(
    r"<noscript>.*?</noscript>|\{% macro (?:head|heading)\(node.*?endmacro %\}|<th scope=\"col\"><span class=\"sr\">",
    re.DOTALL,
)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda one: one.stem)
def test_every_control_column_and_property_says_what_it_is_for(template: Path):
    items = ITEM.findall(PLAIN.sub("", template.read_text(encoding="utf-8")))
    assert [one for one in items if "title=" not in one] == []
