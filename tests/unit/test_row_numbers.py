"""Numbers of rows are read as people write them, and nothing else is."""

from __future__ import annotations

import pytest

from sluice.model.row_numbers import RowNumbers


@pytest.mark.parametrize(
    ("text", "written", "count"),
    [
        ("7", "7", 1),
        (" 3,5 , 10 - 20", "3, 5, 10-20", 13),
        ("5,3,4,4", "3-5", 3),
        ("1-4,2,6,5-9", "1-9", 9),
        ("0-2147483647", "0-2147483647", 2**31),
    ],
)
def test_they_are_written_in_the_fewest_words(text, written, count):
    found = RowNumbers.parse(text)
    assert (str(found), len(found)) == (written, count)
    assert RowNumbers.parse(written) == found


@pytest.mark.parametrize("text", ["", " ", ",", "1,", "1;2", "1..3", "a", "-1", "1-", "3-2", "2147483648", "٣", "1 2"])
def test_no_other_text_is_taken_for_numbers(text):
    with pytest.raises(ValueError, match=r"numbers|number"):
        RowNumbers.parse(text)


@pytest.mark.parametrize(
    ("all_", "others", "left"),
    [("1-9", "3,5-6,9-12", "1-2, 4, 7-8"), ("1-9", "0-20", ""), ("4,8", "5-7", "4, 8"), ("1-3", "1,3", "2")],
)
def test_those_that_are_lacking_are_found(all_, others, left):
    found = RowNumbers.parse(all_).without(RowNumbers.parse(others))
    assert str(found) == left
    assert bool(found) == bool(left)
