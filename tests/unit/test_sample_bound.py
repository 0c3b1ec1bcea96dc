"""The bound of a sample: exact by rational numbers, right for every small table, and as tables of books have it."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sluice.errors import TransientError
from sluice.model.key_sample import PARTS, KeySample
from sluice.model.names import TableName
from sluice.model.sample_bound import (
    LEAST_CONFIDENCE,
    SampleBound,
    sample_bound,
    sample_size,
    share,
    statement,
    weakest,
)
from sluice.verify.difference import Difference
from sluice.verify.record import expect_enough, table_bound


def exactly_at_most(different: int, drawn: int, probability: float) -> Fraction:
    p = Fraction(probability)
    return sum((comb(drawn, k) * p**k * (1 - p) ** (drawn - k) for k in range(different + 1)), Fraction(0))


# Drawn, different, confidence of one side: the upper end in tables of intervals of two sides, and the rule of three.
KNOWN = {
    (10, 1, 0.975): 0.4450,
    (10, 5, 0.975): 0.8129,
    (20, 2, 0.975): 0.3170,
    (100, 10, 0.975): 0.1762,
    (300, 0, 0.95): 0.009936,
    (459, 0, 0.99): 0.009983,
}


@pytest.mark.parametrize(("drawn", "different", "confidence"), KNOWN)
def test_it_is_that_of_the_books(drawn, different, confidence):
    below = sample_bound(drawn, different, confidence).below
    assert below == pytest.approx(KNOWN[drawn, different, confidence], abs=5e-5)


@pytest.mark.parametrize(("drawn", "different"), [(1, 0), (2, 1), (7, 3), (60, 59), (500, 0), (500, 1), (300, 140)])
@pytest.mark.parametrize("confidence", [LEAST_CONFIDENCE, 0.99, 0.999999])
def test_it_is_exact_by_rational_numbers(drawn, different, confidence):
    below, risk = sample_bound(drawn, different, confidence).below, 1 - confidence
    assert exactly_at_most(different, drawn, below * (1 - 1e-9)) > risk
    assert exactly_at_most(different, drawn, min(1.0, below * (1 + 1e-9))) < risk


@pytest.mark.full(but=["0.95"])
@pytest.mark.parametrize("confidence", [LEAST_CONFIDENCE, 0.99])
def test_it_holds_for_every_table_of_some_rows(confidence):
    """Of all samples of a table the bound is wrong for no larger a part than it may be."""
    for rows in range(1, 31):
        for drawn in range(1, rows + 1):
            limits = [sample_bound(drawn, found, confidence).below for found in range(drawn + 1)]
            for different in range(rows + 1):
                wrong = sum(
                    comb(different, found) * comb(rows - different, drawn - found)
                    for found in range(min(drawn, different) + 1)
                    if different / rows >= limits[found] and limits[found] < 1
                )
                assert Fraction(wrong, comb(rows, drawn)) <= 1 - Fraction(confidence) + Fraction(1, 10**12)


@pytest.mark.parametrize("one_in", [2, 3, 100, 10_000, 999_999_999])
@pytest.mark.parametrize("confidence", [LEAST_CONFIDENCE, 0.999999])
def test_the_keys_that_are_needed_suffice_and_no_fewer_do(one_in, confidence):
    below = share(f"1/{one_in}")
    count = sample_size(below, confidence)
    assert sample_bound(count, 0, confidence).below <= below
    assert count == 1 or sample_bound(count - 1, 0, confidence).below > below * (1 - 1e-12)


def test_a_sample_that_needs_so_many_keys_has_them_and_few_more():
    count = sample_size(share("1/10000"), 0.99)
    assert count == 46_050
    assert KeySample.of_at_least(count, 30_000).whole
    sample = KeySample.of_at_least(count, 100_000_000)
    assert 46_050 < 100_000_000 * sample.parts / PARTS < 47_500
    few = KeySample.of_at_least(100, 20_000)
    for number in range(20):
        again = KeySample(few.parts, number)
        assert sum(again.takes(str(key).encode()) for key in range(20_000)) >= 100


TEXTS = {
    (0.99, 0.0001): "with 99 % confidence fewer than 1 row in 10,000 differs",
    (0.99, 0.00009999): "with 99 % confidence fewer than 1 row in 10,001 differs",
    (0.999, 0.3331): "with 99.9 % confidence fewer than 33.4 % of the rows differ",
    (0.95, 1): "with 95 % confidence nothing can be said",
}


@pytest.mark.parametrize(("confidence", "below"), TEXTS)
def test_people_read_it_rounded_to_the_sure_side(confidence, below):
    assert SampleBound(confidence, below).text == TEXTS[confidence, below]


def test_nothing_drawn_says_nothing_and_more_different_rows_than_keys_neither():
    assert sample_bound(0, 0, 0.99).below == sample_bound(3, 5, 0.99).below == sample_bound(3, 3, 0.99).below == 1


def test_rows_that_are_the_slaves_alone_say_nothing_of_the_masters():
    keyed = SimpleNamespace(master=SimpleNamespace(name=TableName("public", "t")), layout=SimpleNamespace(key=(0,)))
    job = cast(Any, SimpleNamespace(sample=KeySample.draw(5), slave="zurich", view=keyed))
    assert table_bound(job, Difference(compared=50_050, own=50_000), 0.99) == sample_bound(50, 0, 0.99)


def test_tables_without_a_bound_are_told_beside_the_weakest():
    some = SampleBound(0.99, 0.0001)
    assert statement(some, 0) == some.text
    assert statement(some, 1) == f"{some.text}; of 1 table without a key nothing can be said"
    assert statement(None, 2) == "of 2 tables without a key nothing can be said"
    assert not statement(None, 0)


def test_the_weakest_bound_is_that_of_each_table():
    assert weakest([None, SampleBound(0.99, 0.1), SampleBound(0.99, 0.2)]) == SampleBound(0.99, 0.2)
    assert weakest([None]) is None


@pytest.mark.parametrize("text", ["1/1", "1/0", "2/3", "0.1", "1/1e4", "1/", "", "1/10,000", "1/1234567890", "1/5\n"])
def test_other_texts_are_no_share(text):
    with pytest.raises(ValueError, match="is not 1/N"):
        share(text)


def test_a_sample_that_says_too_little_is_drawn_again():
    found = Difference(compared=900, bound=sample_bound(900, 0, 0.99))
    results = {"zurich": {"public.t": found, "public.u": Difference(compared=7)}}
    expect_enough(None, results)
    expect_enough(1 / 100, results)
    with pytest.raises(TransientError, match=r"SLC-575: the sample of public.t on zurich had too few keys: 900; with"):
        expect_enough(1 / 1000, results)
