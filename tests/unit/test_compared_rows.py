"""Rows of a report with the names of their values, and without these for who may not see them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from sluice.errors import RowsDiffer, SluiceError
from sluice.model.names import Pair, TableName
from sluice.model.position import Position
from sluice.model.row_difference import FIRST_KEYS, RowDifference, without_keys
from sluice.monitor.comparison_status import name_values
from sluice.store.comparisons import TableReport
from sluice.verify.difference import Difference
from sluice.verify.outcome import raise_if_different

T = TableName("public", "t")
TABLE = TableReport(
    1, 2, Pair("s", "z"), T, datetime.now(UTC), 9, 1, Position(1, 1), "", {}, [], 1.0, 1, T, ("id",), ("id", "note")
)
CHANGED = RowDifference("changed", ("7",), ("note",), ("7", "a"), ("7", None))


def test_a_row_has_the_names_of_its_key_and_values():
    row = name_values(TABLE, 3, CHANGED, values=True)
    assert (row.number, row.kind, row.key, row.columns) == (3, "changed", {"id": "7"}, ("note",))
    assert (row.master, row.slave) == ({"id": "7", "note": "a"}, {"id": "7", "note": None})


def test_who_may_not_see_them_has_neither_key_nor_values():
    row = name_values(TABLE, 3, CHANGED, values=False)
    assert (row.key, row.columns, row.master, row.slave) == (None, ("note",), None, None)


def test_a_row_without_a_key_has_a_digest_or_all_its_values():
    keyless = replace(TABLE, key=())
    assert name_values(keyless, 0, RowDifference("missing", ("ab12",)), values=True).key == {"digest": "ab12"}
    whole = RowDifference("missing", ("7", "a"), (), ("7", "a"))
    assert name_values(keyless, 0, whole, values=True).key == {"id": "7", "note": "a"}


def test_values_of_a_report_without_names_are_counted():
    old = replace(TABLE, columns=())
    assert name_values(old, 0, CHANGED, values=True).slave == {"1": "7", "2": None}


def test_keys_are_left_out_of_what_is_said_and_nothing_else():
    error = SluiceError(90, f"public.t on z: 1 missing{FIRST_KEYS}public.t on z missing (k1\nHINT: k2; k3)", "fix it")
    assert without_keys(f"INCONSISTENT since now: {error}\nafter it") == (
        f"INCONSISTENT since now: SLC-090: public.t on z: 1 missing{FIRST_KEYS}···\nHINT: fix it\nafter it"
    )
    assert without_keys(f"{error.message}.\nIt gets no changes").endswith("···\nIt gets no changes")
    assert without_keys("a fact\n  of two lines") == "a fact\n  of two lines"


@pytest.mark.parametrize("key", ["a\n\nSECRET", "a\n SECRET", "a\n\tSECRET", "a\rSECRET", "a\x85SECRET", "a; SECRET"])
def test_all_of_a_key_is_left_out_whatever_it_has(key):
    found = Difference(compared=1, changed=1, sample=[("changed", key)])
    with pytest.raises(RowsDiffer) as told:
        raise_if_different("s", 1, {"z": {"public.t": found}}, {}, initial=False)
    assert "SECRET" in str(told.value)
    assert "SECRET" not in without_keys(str(told.value))


OTHER, COMPUTED = Difference(changed=1, rows=[CHANGED]), Difference(changed=1, rows=[CHANGED], computed=("said",))
FILL, LEAVE_OUT, REPAIR, LOOK = "initial_update", "s.c.said itself", "'repair'|repair ", "who else writes"


@pytest.mark.parametrize(
    ("tables", "initial", "named", "silent"),
    [
        ({"s.t": OTHER}, True, [LOOK, FILL], [LEAVE_OUT, REPAIR]),
        ({"s.t": OTHER}, False, [LOOK, REPAIR, "s.t"], [LEAVE_OUT]),
        ({"s.c": COMPUTED}, True, [LEAVE_OUT, "exclude_columns", FILL], [LOOK]),
        ({"s.c": COMPUTED}, False, [LEAVE_OUT, "exclude_columns", "verify"], [LOOK, FILL, REPAIR]),
        ({"s.t": OTHER, "s.c": COMPUTED}, False, [LEAVE_OUT, REPAIR, "s.t"], ["s.c[^.]"]),
    ],
)
def test_the_smallest_remedy_that_helps_is_named(tables, initial, named, silent):
    with pytest.raises(RowsDiffer) as told:
        raise_if_different("s", 1, {"z": tables}, {}, initial=initial)
    assert [text for text in named if not re.search(text, told.value.hint)] == []
    assert [text for text in silent if re.search(text, told.value.hint)] == []


def test_rows_that_differ_in_computed_columns_alone_are_told_from_others():
    assert COMPUTED.only_in({"note": "said"}) == ["said"]
    assert COMPUTED.only_in({"other": "said"}) == replace(COMPUTED, missing=1).only_in({"note": "said"}) == []
