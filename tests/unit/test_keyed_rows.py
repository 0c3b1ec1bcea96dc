"""The rows of some keys, chosen out of lines of COPY."""

from __future__ import annotations

import pytest

from sluice.values.keyed_rows import KeyedRows, spelled_alike


def test_rows_of_the_keys_come_as_they_are_and_no_others():
    table = [b"1\ta\\tb\tx\n2\t\\N\tx\n", b"3\tc\tx\n", b"3\tc\ty\n"]
    rows = KeyedRows(table, ("id", "text", "part"), ("part", "id"), [("x", "1"), ("y", "3"), ("z", "2")])
    assert list(rows) == [b"1\ta\\tb\tx\n", b"3\tc\ty\n"]
    assert rows.rows == 2


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("integer", "bigint", True),
        ("numeric(20,0)", "bigint", True),
        ("numeric(10,2)", "numeric(12,2)", True),
        ("numeric(10,2)", "numeric(12,4)", False),
        ("numeric", "numeric", False),
        ("numeric(5,2)", "numeric", False),
        ("character varying(9)", "text", True),
        ("character(9)", "character(9)", False),
        ("double precision", "double precision", False),
        ("timestamp(3) with time zone", "timestamp(3) with time zone", True),
        ("timestamp(3) with time zone", "timestamp(3) without time zone", False),
        ("bit(3)", "bit(3)", True),
        ("interval", "interval", False),
        ("own.kind", "own.kind", False),
    ],
)
def test_texts_find_keys_only_of_types_that_are_spelled_in_one_way(one, other, alike):
    assert spelled_alike(one, other) is spelled_alike(other, one) is alike
