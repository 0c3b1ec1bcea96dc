"""The worked examples of the guides to plugins and vetoes do what the guides say."""

from __future__ import annotations

import re
import sys
from types import ModuleType

import pyarrow as pa
import pytest
from support.guides import example_of, guide

from sluice.apply.transform.plugin import load_plugin
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName

PLUGINS = guide("plugins.md")
ORDERS = Layout(1, TableName("public", "orders"), (Column("id", "integer"), Column("tags", "text")), (0,))
PEOPLE = Layout(1, TableName("public", "people"), (Column("id", "integer"), Column("name", "text")), (0,))


@pytest.fixture(scope="module", autouse=True)
def example():
    module = sys.modules["guide"] = ModuleType("guide")
    for code in re.findall(r"```python\n(.*?)```", PLUGINS, re.DOTALL):
        exec(code, module.__dict__)
    yield
    del sys.modules["guide"]


def test_the_example_makes_the_rows_of_its_table():
    given, wanted = example_of(PLUGINS)
    assert load_plugin("guide:PerTag", ORDERS).transform(given).rows.to_pylist() == wanted


def test_the_example_that_takes_batches_drops_rows_and_changes_others():
    people = pa.array([["1", "ann"], ["2", None], ["3", "bo"]], pa.list_(pa.string()))
    made = load_plugin("guide:Louder", PEOPLE).transform(people)
    assert (made.rows.to_pylist(), made.of.tolist()) == ([["1", "ANN"], ["3", "BO"]], [0, 2])


def test_the_veto_keeps_what_the_guide_says():
    veto = sys.modules["guide"].keeps_large_orders(ORDERS)
    large, small = {"id": "1", "amount": "1000.5"}, {"id": "2", "amount": "7"}
    assert [veto("D", None, large), veto("D", None, small), veto("U", small, large)] == [True, False, False]
