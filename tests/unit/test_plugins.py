"""A slave's plugin makes rows of rows; whatever else it does is an error that names it."""

from __future__ import annotations

import time

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sluice import extensions
from sluice.apply.transform.plugin import RowByRow, Rows, load_plugin
from sluice.errors import ConfigError, SluiceError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName

COLUMNS = (Column("id", "integer"), Column("tags", "text"))
LAYOUT = Layout(7, TableName("shop", "items"), COLUMNS, (0,))
GIVEN = [["1", "a,b"], ["2", None], ["3", "c"]]


class Split(RowByRow):
    """A row for each tag; none where there is none."""

    def __init__(self, layout):
        super().__init__(layout)
        self.columns = (layout.columns[0], Column("tag", "text"))
        self.key = ("id", "tag")

    def row(self, row):
        return [{"id": row["id"], "tag": tag} for tag in (row["tags"] or "").split(",") if tag]


class Louder:
    """Whole batches."""

    def __init__(self, layout):
        self.columns, self.key = layout.columns, ("id",)

    def rows(self, rows):
        return Rows(rows.set_column(1, "tags", pc.utf8_upper(rows["tags"])))


class Wrong(Louder):
    """Answers what a test tells it to."""

    answer = None

    def rows(self, rows):
        return self.answer(rows)


class Poor(Louder):
    def __init__(self, layout):
        self.columns, self.key = (), ()


class Odd(Louder):
    def __init__(self, layout):
        self.columns, self.key = ("id", 5), 7


class Endless(Louder):
    def __init__(self, layout):
        self.columns, self.key = None, ()


def named(kind):
    return f"{__name__}:{kind.__name__}"


def rows(of=GIVEN):
    return pa.array(of, pa.list_(pa.string()))


def test_a_row_becomes_several_or_none():
    shape = load_plugin(named(Split), LAYOUT)
    made = shape.transform(rows())
    assert (made.rows.to_pylist(), made.of.tolist()) == ([["1", "a"], ["1", "b"], ["3", "c"]], [0, 0, 2])
    assert (shape.columns[1].name, shape.layout.key, shape.layout.name) == ("tag", (0, 1), LAYOUT.name)
    assert shape.transform(rows([])).rows.to_pylist() == []


def test_a_batch_is_one_call():
    made = load_plugin(named(Louder), LAYOUT).transform(rows())
    assert (made.rows.to_pylist(), made.of.tolist()) == ([["1", "A,B"], ["2", None], ["3", "C"]], [0, 1, 2])


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda rows: 1 / 0, "ZeroDivisionError"),
        (lambda rows: None, "NoneType, not Rows"),
        (lambda rows: Rows(rows.select(["id"])), "have the columns"),
        (lambda rows: Rows(rows.slice(1)), "2 rows for 3"),
        (lambda rows: Rows(rows.slice(1), [0, 3]), "`of` does not name"),
        (lambda rows: Rows(rows, [2, 1, 0]), "`of` does not name"),
        (lambda rows: Rows(rows.set_column(0, "id", pa.array([1.5, 2, 3]))), "Arrow type double"),
        (lambda rows: exec("raise SystemExit(1)"), "ended by SystemExit"),
        (lambda rows: time.sleep(3), "no answer for 0.2 s"),
    ],
)
def test_a_plugin_that_fails_or_hangs_or_answers_nonsense_is_named(answer, why, monkeypatch):
    monkeypatch.setattr(extensions, "PATIENCE_S", 0.2 if why == "no answer for 0.2 s" else 60)
    monkeypatch.setattr(Wrong, "answer", staticmethod(answer))
    with pytest.raises(SluiceError, match=rf"SLC-162: the plugin .*:Wrong failed on 3 rows of shop.items: .*{why}"):
        load_plugin(named(Wrong), LAYOUT).transform(rows())


@pytest.mark.parametrize(
    ("plugin", "why"),
    [
        ("nobody", "not enough values"),
        ("nowhere:Plugin", "No module named 'nowhere'"),
        (f"{__name__}:rows", "lacks `columns`|TypeError"),
        (f"{__name__}:Poor", "its columns are none"),
        (f"{__name__}:Odd", "AttributeError"),
        (f"{__name__}:Endless", "TypeError"),
    ],
)
def test_a_plugin_that_is_none_is_refused_before_any_row(plugin, why):
    with pytest.raises(ConfigError, match=rf"SLC-161: .*cannot be used for shop.items: .*({why})"):
        load_plugin(plugin, LAYOUT)
