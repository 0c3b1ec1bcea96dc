"""What waits within a large transaction: for its end, or for enough to be worth a look at all of a slave's table."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sluice.changelog.schema import CHANGES, NO_LAYOUT
from sluice.drain import deferred
from sluice.drain.deferred import Deferred
from sluice.model.action import Command
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName

COLUMNS = (Column("id", "integer"),)
KEYED, DEFERRED, HEAP, PART = (
    Layout(1, TableName("public", "keyed"), COLUMNS, (0,)),
    Layout(2, TableName("public", "deferred"), COLUMNS, (0,), deferrable=True),
    Layout(3, TableName("public", "heap"), COLUMNS),
    Layout(4, TableName("public", "heap"), COLUMNS),
)
LAYOUTS = dict(enumerate((KEYED, DEFERRED, HEAP, PART), 1))


def passed(*parts, looked_through=lambda layout: not layout.key, all_wait=False):
    """The parts of a transaction, each a word of changes such as ``I1`` -> what is carried out with each of them."""
    waiting, found = Deferred(looked_through, all_wait=all_wait), []
    for place, part in enumerate(parts, 1):
        rows = [
            {"ordinal": 1, "trans_key": "7", "repl_key": 1, "layout": int(word[1:]), "action": word[0]}
            | {"new": ["x"] if word[0] in "IUS" else None, "old": ["x"] if word[0] in "UD" else None}
            for word in part.split()
        ]
        steps = waiting.steps(pa.Table.from_pylist(rows, CHANGES), LAYOUTS, last=place == len(parts))
        found.append(" ".join(word for step in steps for word in words(step)))
    return found


def words(step):
    if isinstance(step, Command):
        yield f"{step.action}{NO_LAYOUT}"
        return
    for effect in step:
        for changes in effect.changes():
            pairs = zip(changes["action"].to_pylist(), changes["layout"].to_pylist(), strict=True)
            yield from (f"{action}{layout}" for action, layout in pairs)


def test_rows_of_a_key_that_is_checked_at_commit_wait_for_the_end_or_a_command():
    assert passed("I1 U2", "I2 D1", "U1") == ["I1", "D1", "U1 U2 I2"]
    assert passed("U2", f"D2 S{NO_LAYOUT} I2 I1", "U1") == ["", f"U2 D2 S{NO_LAYOUT} I1", "U1 I2"]


def test_a_table_that_is_looked_through_waits_from_the_first_row_on_that_has_to_be_found():
    assert passed("I1 I3", "I3 D3 U1", "I4 I1", "T1") == ["I1 I3", "U1", "I1", "T1 I3 D3 I4"]
    assert passed("D3 U1", "I3", "D3", looked_through=lambda layout: False) == ["U1 D3", "I3", "D3"]


@pytest.mark.parametrize(("most", "found"), [(1, ["U1 D3", "I3", "U3"]), (1 << 30, ["U1", "", "D3 I3 U3"])])
def test_no_more_waits_than_a_batch_may_have(most, found, monkeypatch):
    monkeypatch.setattr(deferred, "MOST_BYTES", most)
    assert passed("D3 U1", "I3", "U3") == found


def test_everything_may_be_looked_through():
    assert passed("I1 I2 I3", "U1 D2", "I1", looked_through=lambda layout: True) == ["I1 I3", "", "U1 I1 I2 D2"]


def test_everything_may_have_to_wait():
    assert passed("I1 U2", "I3", f"U1 S{NO_LAYOUT} I1", "D3", all_wait=True) == [
        "",
        "",
        f"I1 U1 U2 I3 S{NO_LAYOUT}",
        "I1 D3",
    ]
