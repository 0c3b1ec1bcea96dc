"""Transactions are told apart by what they changed, and not by their number alone."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sluice.changelog.schema import LOGGED
from sluice.publish.same_transactions import fingerprints

ROW = {"ordinal": 1, "trans_key": "900", "repl_key": 5, "layout": 2, "action": "I", "new": ["1", None], "old": None}


def batches(*rows):
    """Each row in a batch of its own, as a transaction may come."""
    more = {"attributes": None, "description": None}
    return [pa.RecordBatch.from_pylist([{**ROW, **more, **row}], LOGGED) for row in rows]


@pytest.mark.parametrize(
    ("other", "same"),
    [
        pytest.param([{"ordinal": 7, "repl_key": 9}, {"new": ["2", None]}], True, id="another place"),
        pytest.param([{"trans_key": "901"}, {}, {"new": ["2", None]}], True, id="others are left alone"),
        pytest.param([{}, {"new": ["3", None]}], False, id="another value"),
        pytest.param([{}, {"new": ["2", ""]}], False, id="empty is not NULL"),
        pytest.param([{"new": ["2", None]}, {}], False, id="another order"),
        pytest.param([{}], False, id="less"),
        pytest.param([{}, {"new": ["2", None]}, {}], False, id="more"),
        pytest.param([{}, {"new": ["2", None], "action": "U"}], False, id="another action"),
        pytest.param([], False, id="nothing"),
    ],
)
def test_a_transaction_is_the_same_if_its_changes_are(other, same):
    listed = fingerprints(batches({}, {"new": ["2", None]}))
    assert listed.keys() == {"900"}
    assert (fingerprints(batches(*other), listed.keys()) == listed) is same
