"""Conditions for ranges of keys of a MariaDB master: each value is written so that no text of it is taken for SQL."""

from __future__ import annotations

import pytest

from sluice.model.names import TableName
from sluice.vendors.mariadb.read.key_order import KeyColumn, KeyOrder, cut_evenly
from sluice.vendors.protocol.read import KeyRange

NAME = TableName("shop", "t")
ORDER = KeyOrder(
    (
        KeyColumn("a`b", "int", None, None),
        KeyColumn("c", "varchar", "latin1", "latin1_bin"),
        KeyColumn("d", "timestamp", None, None),
    )
)


def test_a_range_of_keys_is_a_condition_whose_first_column_has_an_index():
    within = KeyRange(0, NAME, ORDER.sign, reached=("1", "x'", "2024-01-01 00:00:00.5+00"), until=("7",))
    assert ORDER.between(within) == (
        "(`a``b` > 1 OR (`a``b` = 1 AND (`c` > _utf8mb4 X'7827' OR "
        "(`c` = _utf8mb4 X'7827' AND `d` > '2024-01-01 00:00:00.5')))) AND `a``b` <= 7"
    )
    assert ORDER.between(KeyRange(0, NAME, "", first=("1",)), ("2", "y")) == (
        "`a``b` >= 1 AND (`a``b` < 2 OR (`a``b` = 2 AND `c` <= _utf8mb4 X'79'))"
    )
    assert ORDER.between(KeyRange(0, NAME, "")) == "TRUE"
    assert ORDER.sign == "`a``b` number, `c` text latin1_bin, `d` moment in utc"
    assert ORDER.columns[1].value("x") == "CONVERT(_utf8mb4 X'78' USING latin1) COLLATE latin1_bin"


@pytest.mark.parametrize(
    ("kind", "text"),
    [("int", "1 OR 1"), ("date", "2024-01-01' --"), ("binary", r"\x0g"), ("binary", "00"), ("uuid", "x" * 36)],
)
def test_a_text_that_is_no_value_of_its_type_is_not_written(kind, text):
    with pytest.raises(ValueError, match="no"):
        KeyColumn("a", kind, None, None).literal(text)


@pytest.mark.parametrize(("first", "last", "parts"), [(1, 900, 4), (-5, -5, 3), (0, 2**64 - 1, 7), (1, 5, 8)])
def test_cuts_are_inside_of_the_ends_and_one_fewer_than_parts(first, last, parts):
    cuts = [int(cut) for (cut,) in cut_evenly(first, last, parts)]
    assert cuts == sorted(set(cuts))
    assert all(first <= cut < last for cut in cuts)
    assert len(cuts) == max(min(parts - 1, last - first), 0)
