"""A batch that does not go as a whole: what goes of it, and which transaction is the reason."""

from __future__ import annotations

import pytest

from sluice.drain.isolate_failure import FailingTransaction, narrow
from sluice.errors import KeyConflict, SluiceError, TooSlow, TransientError

FIRM, CONFLICT = SluiceError(39, "no", "fix it"), KeyConflict(72, "no", "fix it")


def narrowed_to_the_end(last, refuse):
    """What is applied, piece by piece, and what is refused at the end; `refuse` tells it for (first, last)."""
    applied = 0

    def apply(ordinal):
        nonlocal applied
        if error := refuse(applied + 1, ordinal):
            raise error
        applied = ordinal
        return ordinal

    while not isinstance(found := narrow(range(applied + 1, last + 1), apply), FailingTransaction):
        if applied == last:
            return applied, None
    return applied, (found.ordinal, found.error)


def spans(place, error=FIRM):
    return lambda first, last: error if first <= place <= last else None


@pytest.mark.parametrize("place", [1, 2, 7, 999, 1000])
def test_the_one_transaction_is_found_and_all_before_it_goes(place):
    assert narrowed_to_the_end(1000, spans(place)) == (place - 1, (place, FIRM))


def test_one_that_needs_a_later_one_is_not_to_blame():
    def refuse(first, last):
        if first <= 9 <= last:
            return FIRM
        return CONFLICT if first <= 5 <= last < 7 else None

    assert narrowed_to_the_end(20, refuse) == (8, (9, FIRM))


@pytest.mark.parametrize("last", [20, 7], ids=["in the middle", "the last"])
def test_one_that_needs_what_does_not_go_names_that(last):
    def refuse(first, last):
        return FIRM if last >= 7 else CONFLICT if last >= 5 else None

    assert narrowed_to_the_end(last, refuse) == (4, (7, FIRM))


def test_a_key_that_nobody_frees_is_the_fault_of_who_needs_it():
    assert narrowed_to_the_end(500, spans(5, CONFLICT)) == (4, (5, CONFLICT))


@pytest.mark.parametrize("kind", [TransientError, TooSlow])
def test_what_passes_or_takes_too_long_is_not_narrowed(kind):
    with pytest.raises(kind):
        narrowed_to_the_end(9, spans(5, kind(30, "gone", "wait")))
