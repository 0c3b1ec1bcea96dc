"""The worked example of the plugin guide does what the guide says, and so does its other one."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest

from sluice.apply.plugins import plugged
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName

GUIDE = (Path(__file__).resolve().parents[2] / "include" / "docs" / "plugins.md").read_text(encoding="utf-8")
ORDERS = Layout(1, TableName("public", "orders"), (Column("id", "integer"), Column("tags", "text")), (0,))
PEOPLE = Layout(1, TableName("public", "people"), (Column("id", "integer"), Column("name", "text")), (0,))


@pytest.fixture(scope="module", autouse=True)
def example():
    module = sys.modules["guide"] = ModuleType("guide")
    for code in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL):
        exec(code, module.__dict__)
    yield
    del sys.modules["guide"]


def cells(text):
    return [value.strip("`") for value in re.findall(r"`\w+` ([^,;|`]+(?:,[^ ,;|`]+)*)", text)]


def test_the_example_makes_the_rows_of_its_table():
    table = re.search(r"\| a row of the master \|.*?\n\n", GUIDE, re.DOTALL)[0].splitlines()[2:]
    given, wanted = [], []
    for line in filter(None, table):
        _, master, slave, _ = line.split("|")
        given.append([None if value.strip() == "NULL" else value.strip() for value in cells(master)])
        wanted += [[value.strip() for value in cells(one)] for one in slave.split(";") if one.strip()]
    assert len(given) == 3
    made = plugged("guide:PerTag", ORDERS).made(pa.array(given, pa.list_(pa.string())))
    assert made.rows.to_pylist() == wanted


def test_the_example_that_takes_batches_drops_rows_and_changes_others():
    people = pa.array([["1", "ann"], ["2", None], ["3", "bo"]], pa.list_(pa.string()))
    made = plugged("guide:Louder", PEOPLE).made(people)
    assert (made.rows.to_pylist(), made.of.tolist()) == ([["1", "ANN"], ["3", "BO"]], [0, 2])
