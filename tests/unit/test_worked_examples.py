"""The worked examples of the guides to plugins, vetoes and stylesheets do what the guides say."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest

from sluice.apply.plugins import plugged
from sluice.apply.styled import styled
from sluice.apply.stylesheets import Stylesheet
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName

DOCS = Path(__file__).resolve().parents[2] / "include" / "docs"
PLUGINS, STYLESHEETS = ((DOCS / name).read_text(encoding="utf-8") for name in ("plugins.md", "stylesheets.md"))
ORDERS = Layout(1, TableName("public", "orders"), (Column("id", "integer"), Column("tags", "text")), (0,))
PLANES = Layout(
    1,
    TableName("public", "planes"),
    (Column("tailnum", "text", True), Column("seats", "integer"), Column("status", "text")),
    (0,),
)
PEOPLE = Layout(1, TableName("public", "people"), (Column("id", "integer"), Column("name", "text")), (0,))


@pytest.fixture(scope="module", autouse=True)
def example():
    module = sys.modules["guide"] = ModuleType("guide")
    for code in re.findall(r"```python\n(.*?)```", PLUGINS, re.DOTALL):
        exec(code, module.__dict__)
    yield
    del sys.modules["guide"]


def cells(text):
    return [value.strip("`") for value in re.findall(r"`\w+` ([^,;|`]+(?:,[^ ,;|`]+)*)", text)]


def example_of(guide):
    """Rows of the master, and rows that the guide says the slave has of them."""
    table = re.search(r"\| a row of the master \|.*?\n\n", guide, re.DOTALL)[0].splitlines()[2:]
    given, wanted = [], []
    for line in filter(None, table):
        _, master, slave, _ = line.split("|")
        given.append([None if value.strip() == "NULL" else value.strip() for value in cells(master)])
        wanted += [[value.strip() for value in cells(one)] for one in slave.split(";") if one.strip()]
    assert len(given) == 3
    return pa.array(given, pa.list_(pa.string())), wanted


def test_the_example_makes_the_rows_of_its_table():
    given, wanted = example_of(PLUGINS)
    assert plugged("guide:PerTag", ORDERS).made(given).rows.to_pylist() == wanted


def test_the_stylesheet_makes_the_rows_of_its_table():
    given, wanted = example_of(STYLESHEETS)
    text = re.search(r"```xml\n(<xsl:stylesheet.*?)```", STYLESHEETS, re.DOTALL)[1]
    shape = styled(Stylesheet("REPL_0_5_0_3.xsl", text.encode()), PLANES)
    assert shape.made(given).rows.to_pylist() == wanted
    assert [(one.name, one.type) for one in shape.columns] == [
        ("tailnum", "text"),
        ("places", "integer"),
        ("size", "text"),
    ]
    assert (shape.layout.key, styled(Stylesheet("other", text.encode()), PEOPLE).layout) == ((0,), PEOPLE)


def test_the_example_that_takes_batches_drops_rows_and_changes_others():
    people = pa.array([["1", "ann"], ["2", None], ["3", "bo"]], pa.list_(pa.string()))
    made = plugged("guide:Louder", PEOPLE).made(people)
    assert (made.rows.to_pylist(), made.of.tolist()) == ([["1", "ANN"], ["3", "BO"]], [0, 2])


def test_the_veto_keeps_what_the_guide_says():
    veto = sys.modules["guide"].keeps_large_orders(ORDERS)
    large, small = {"id": "1", "amount": "1000.5"}, {"id": "2", "amount": "7"}
    assert [veto("D", None, large), veto("D", None, small), veto("U", small, large)] == [True, False, False]
