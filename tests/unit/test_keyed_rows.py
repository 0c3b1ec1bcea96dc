"""The rows of some keys, chosen out of lines of COPY."""

from __future__ import annotations

from sluice.values.keyed_rows import KeyedRows


def test_rows_of_the_keys_come_as_they_are_and_no_others():
    table = [b"1\ta\\tb\tx\n2\t\\N\tx\n", b"3\tc\tx\n", b"3\tc\ty\n"]
    rows = KeyedRows(table, ("id", "text", "part"), ("part", "id"), [("x", "1"), ("y", "3"), ("z", "2")])
    assert list(rows) == [b"1\ta\\tb\tx\n", b"3\tc\ty\n"]
    assert rows.rows == 2
