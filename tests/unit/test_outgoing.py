"""What is withheld becomes a mark at its place; every other change goes as it came."""

from __future__ import annotations

from threading import Event

import pyarrow as pa
import pytest

from sluice import extensions
from sluice.changelog.schema import ATTRIBUTES, SWEPT
from sluice.errors import SluiceError, TransientError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.publish.change_filter import PublishFilter
from sluice.publish.transformer import Transformed

UPDATES = [
    pytest.param(["1", "a"], ["1", "a"], True, id="equal"),
    pytest.param(["1", None], ["1", None], True, id="equal with a NULL"),
    pytest.param([None, None], [None, None], True, id="NULLs alone"),
    pytest.param([], [], True, id="no columns"),
    pytest.param(["1", None], ["1", ""], False, id="NULL is not ''"),
    pytest.param(["1", "a"], ["1", "b"], False, id="another value"),
    pytest.param(["1", "a"], ["1", None], False, id="a value that became NULL"),
    pytest.param(["1", "a "], ["1", "a"], False, id="a blank more"),
    pytest.param(["1"], ["1", None], False, id="a column more"),
    pytest.param(None, ["1", "a"], False, id="no old image"),
]


def swept(*changes):
    """A batch of changes (action, new, old) of one transaction."""
    rows = [
        {"last": 99, "trans_key": "7", "repl_key": 10 + n, "layout": 1, "action": action, "new": new, "old": old}
        for n, (action, new, old) in enumerate(changes)
    ]
    return pa.RecordBatch.from_pylist(rows, SWEPT)


class Said:
    """A transformer that always says the same."""

    def __init__(self, transformed):
        self.transformed = transformed

    def transform(self, changes, layouts):
        if isinstance(self.transformed, Exception):
            raise self.transformed
        return self.transformed() if callable(self.transformed) else self.transformed


def actions(batch):
    return batch.column("action").to_pylist()


@pytest.mark.parametrize(("old", "new", "unchanged"), UPDATES)
def test_an_update_is_withheld_only_if_its_images_are_equal(old, new, unchanged):
    batch = swept(("I", ["0", "x"], None), ("U", new, old), ("D", None, ["0", "x"]))
    sent = PublishFilter(unchanged_updates=False).apply(batch, {})
    assert actions(sent) == ["I", "C" if unchanged else "U", "D"]
    assert sent.column("repl_key").to_pylist() == [10, 11, 12]
    assert sent.to_pylist()[1]["new"] == (None if unchanged else new)
    assert [row["new"] for row in sent.to_pylist()[::2]] == [["0", "x"], None]
    assert actions(PublishFilter().apply(batch, {})) == ["I", "U", "D"]


def test_a_row_with_more_text_than_is_allowed_is_withheld_and_its_table_named():
    """The text of its values counts, of both images the longer. What the capture left out has none."""
    fits, long = ["1" * 60, "2" * 40], ["1" * 60, None, "2" * 41]
    changes = [
        ("I", fits, None),
        ("I", long, None),
        ("U", fits, fits),
        ("U", fits, long),
        ("D", None, long),
        ("L", None, None),
    ]
    batch = swept(*changes, ("N", ["3" * 200], None), ("T", None, None))
    bounded = PublishFilter(max_row_bytes=100)
    table = Layout(1, TableName("public", "t"), (Column("id", "integer"),), ())
    assert actions(bounded.apply(batch, {})) == ["I", "C", "U", "C", "C", "C", "N", "T"]
    assert bounded.find_lost(batch, {1: table}) == {table.name: None}
    assert bounded.find_lost(swept(("L", ["why"], None)), {1: table}) == {table.name: "why"}
    assert bounded.find_lost(batch.slice(2, 1), {1: table}) == bounded.find_lost(batch.slice(6), {1: table}) == {}
    assert actions(bounded.apply(batch.slice(3, 1), {})) == ["C"]


def test_several_updates_are_judged_one_by_one():
    batch = swept(("U", ["1"], ["1"]), ("U", ["2"], ["1"]), ("I", ["3"], None), ("U", ["3"], ["3"]), ("T", None, None))
    assert actions(PublishFilter(unchanged_updates=False).apply(batch, {})) == ["C", "U", "I", "C", "T"]


def test_a_transformer_withholds_and_attaches():
    batch = swept(("I", ["1"], None), ("I", ["2"], None))
    said = Transformed(
        keep=pa.array([True, False]),
        attributes=pa.array([[("origin", "till")], None], ATTRIBUTES),
        description=pa.array([[("day", None)], []], ATTRIBUTES),
    )
    first, second = PublishFilter(transformer=Said(said)).apply(batch, {}).to_pylist()
    assert (first["action"], first["attributes"], first["description"]) == ("I", [("origin", "till")], [("day", None)])
    assert (second["action"], second["new"], second["attributes"]) == ("C", None, None)


WRONG = [
    pytest.param(ZeroDivisionError("by zero"), "ZeroDivisionError: by zero", id="it raises"),
    pytest.param(Transformed(keep=pa.array([True])), "1 entries for 2 changes", id="too short"),
    pytest.param(Transformed(keep=pa.array([True, None])), "`keep` is null", id="no answer"),
    pytest.param(Transformed(keep=[True, True]), "list is no Arrow array", id="a list"),
    pytest.param(Transformed(attributes=pa.array(["a", "b"])), "ArrowNotImplementedError", id="no map"),
    pytest.param(
        Transformed(attributes=pa.array([[("action", "x")], None], ATTRIBUTES)), "action is Sluice's own", id="our name"
    ),
    pytest.param(None, "AttributeError", id="nothing at all"),
]


@pytest.mark.parametrize(("transformed", "why"), WRONG)
def test_what_a_transformer_does_wrong_stops_publishing_and_says_where(transformed, why):
    batch = swept(("I", ["1"], None), ("I", ["2"], None))
    with pytest.raises(SluiceError, match=f"SLC-054.*2 changes from key 10 on.*{why}") as failed:
        PublishFilter(transformer=Said(transformed)).apply(batch, {})
    assert not isinstance(failed.value, TransientError)


def test_a_transformer_that_waits_for_something_is_asked_again():
    waiting = TransientError(999, "not yet", "wait")
    with pytest.raises(TransientError, match="not yet"):
        PublishFilter(transformer=Said(waiting)).apply(swept(("I", ["1"], None)), {})


def test_a_transformer_that_does_not_answer_is_not_waited_for_without_end(monkeypatch):
    monkeypatch.setattr(extensions, "PATIENCE_S", 0.1)
    answers = Event()
    with pytest.raises(SluiceError, match=r"SLC-054: .* no answer for 0.1 s"):
        PublishFilter(transformer=Said(answers.wait)).apply(swept(("I", ["1", "a"], None)), {})
    answers.set()
