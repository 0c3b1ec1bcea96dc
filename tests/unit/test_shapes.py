"""What a slave sees of a row decides what it sees of a change of it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sluice.apply.transform.transform import (
    ColumnTransform,
    RowFilter,
    TransformChain,
    TransformedRows,
    copy_column,
    transform_changes,
)
from sluice.changelog.schema import CHANGES
from sluice.expressions import parse
from sluice.model.layout import Column

COLUMNS = (Column("id", "integer"), Column("n", "integer"))
LARGE = RowFilter(COLUMNS, parse("n > 4").condition(COLUMNS))
DOUBLED = ColumnTransform(
    (COLUMNS[0], Column("twice", "bigint")), (copy_column(0), parse("n * 2").value(COLUMNS).texts)
)


def changes(*of):
    """Changes of one layout, given as action, new row, old row; their keys count from 1."""
    rows = [(1, "9", key, 7, *change) for key, change in enumerate(of, 1)]
    return pa.Table.from_pylist([dict(zip(CHANGES.names, row, strict=True)) for row in rows], CHANGES)


def seen(shape, *of):
    found = transform_changes(changes(*of), shape.transform)
    assert found.schema == CHANGES
    return [(row["repl_key"], row["action"], row["new"], row["old"]) for row in found.to_pylist()]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("I", ["1", "5"], None), [("I", ["1", "10"], None)]),
        (("I", ["1", "4"], None), []),
        (("D", None, ["1", "5"]), [("D", None, ["1", "10"])]),
        (("D", None, ["1", None]), []),
        (("U", ["1", "6"], ["1", "5"]), [("U", ["1", "12"], ["1", "10"])]),
        (("U", ["1", "6"], ["1", "1"]), [("I", ["1", "12"], None)]),
        (("U", ["1", "1"], ["1", "6"]), [("D", None, ["1", "12"])]),
        (("U", ["1", "1"], ["1", "2"]), []),
        (("T", None, None), [("T", None, None)]),
    ],
    ids=lambda value: str(value[0]) if isinstance(value, tuple) else None,
)
def test_a_row_that_begins_to_meet_a_condition_comes_and_one_that_ceases_to_goes(change, expected):
    assert [row[1:] for row in seen(TransformChain((LARGE, DOUBLED)), change)] == expected


class Copies:
    """As many rows as `n` says."""

    columns = COLUMNS

    def transform(self, rows):
        given = [(place, row) for place, row in enumerate(rows.to_pylist()) for _ in range(int(row[1]))]
        return TransformedRows(
            pa.array([row for _, row in given], rows.type),
            pa.array([place for place, _ in given], pa.int64()).to_numpy(),
        )


def test_of_a_change_what_goes_comes_before_what_comes_and_changes_stay_in_their_order():
    two, one = ["1", "2"], ["1", "1"]
    assert seen(Copies(), ("I", two, None), ("U", one, two), ("U", one, one), ("D", None, one)) == [
        (1, "I", two, None),
        (1, "I", two, None),
        (2, "D", None, two),
        (2, "D", None, two),
        (2, "I", one, None),
        (3, "U", one, one),
        (4, "D", None, one),
    ]


def test_nothing_of_nothing():
    assert seen(LARGE) == []
    assert (
        seen(
            TransformChain((DOUBLED, RowFilter(DOUBLED.columns, parse("twice = 0").condition(DOUBLED.columns)))),
            ("I", ["1", "5"], None),
        )
        == []
    )
