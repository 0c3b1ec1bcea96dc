"""Ranges of keys are told by texts: of numbers and days, in their own order."""

from __future__ import annotations

import pytest

from sluice.model.key_choice import KeyChoice
from sluice.model.key_range import KeyInterval

NAMES = ("a", "b", "c")


def choice(*texts, types=("bigint", "date", "text")):
    return KeyChoice.from_ranges(NAMES, types, [KeyInterval.parse(f"s.t: {text}") for text in texts])


@pytest.mark.parametrize(
    ("texts", "key", "taken"),
    [
        (["9 .. 10"], ("10", "2013-01-01", "x"), True),
        (["9 .. 10"], ("100", "2013-01-01", "x"), False),
        (["9 .. 10"], ("8", "2013-01-01", "x"), False),
        (["-10 .. -9"], ("-9", "2013-01-01", "x"), True),
        ([".. -9"], ("-8", "2013-01-01", "x"), False),
        (["9, 2013-01-02 .. 9"], ("9", "2013-01-01", "x"), False),
        (["9, 2013-01-02 .. 9"], ("9", "2013-01-02", "x"), True),
        ([".. 9, 2013-01-02"], ("9", "10000-01-01", "x"), False),
        (["9, 2013-01-02 .."], ("9", "infinity", "x"), True),
        (["9, 0001-01-01 .. 9"], ("9", "0044-03-15 BC", "x"), False),
        (["9, 0001-01-01 .. 9"], ("9", "0000-00-00", "x"), False),
        (["1 .. 1", "3 .. 3"], ("2", "2013-01-01", "x"), False),
        (["1 .. 1", "3 .. 3"], ("3", "2013-01-01", "x"), True),
        ([".."], ("3", "2013-01-01", "x"), True),
        (["9 .. 10"], (None, "2013-01-01", "x"), True),
        (["9 .. 10"], ("1x", "2013-01-01", "x"), True),
    ],
)
def test_a_row_is_in_a_range_or_not_and_one_without_such_a_key_is_never_hidden(texts, key, taken):
    assert choice(*texts).takes(key) == taken


@pytest.mark.parametrize(
    ("texts", "types", "error", "why"),
    [
        (["'x' .."], ("text",) * 3, TypeError, "its key a is a text, and only whole numbers and days are sorted alike"),
        (["1, 2 .."], ("integer", "numeric(9,2)", "text"), TypeError, r"its key b is a numeric\(9,2\)"),
        (["1 .."], ("double precision",) * 3, TypeError, "double precision"),
        (["1.5 .."], ("integer",) * 3, ValueError, "no whole number"),
        (["1_0 .."], ("integer",) * 3, ValueError, "no whole number"),
        (["2013-02-30 .."], ("date",) * 3, ValueError, "day"),
        (["20130201 .."], ("date",) * 3, ValueError, "no day"),
        (["10 .. 9"], ("integer",) * 3, ValueError, "9 is before 10"),
        (["1, 2 .. 1, 1"], ("integer",) * 3, ValueError, "is before"),
        (["1, 2, 3, 4 .."], ("integer",) * 3, ValueError, "fewer values than 4"),
    ],
)
def test_what_is_no_key_or_sorted_otherwise_elsewhere_is_refused(texts, types, error, why):
    with pytest.raises(error, match=why):
        choice(*texts, types=types)


def test_columns_behind_the_bounds_may_have_any_type():
    assert choice("1 .. 2", types=("numeric(20,0)", "text", "text")).kinds == ("number",)
