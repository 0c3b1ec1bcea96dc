"""What is to be typed after an error of a drain."""

from __future__ import annotations

import pytest

from sluice import hints
from sluice.errors import SluiceError
from sluice.model.blocking_transaction import BlockingTransaction, Touched
from sluice.model.names import Pair

HEALTHY, TROUBLED = Touched("public.free", {"I": 1}), Touched("public.fre", {"I": 1})


@pytest.mark.parametrize(
    ("touched", "fact", "skipped"),
    [
        ((TROUBLED,), "a row is in the way", "public.fre"),
        ((HEALTHY, TROUBLED), "writing to public.fre: a row is in the way", "public.fre"),
        ((HEALTHY, TROUBLED), "public.fre and public.free are in the way of each other", None),
        ((HEALTHY, TROUBLED), "a row is in the way", None),
        ((HEALTHY, TROUBLED), "public.fres or a.public.fre is none of them", None),
        ((Touched("", {"C": 1}),), "a row is in the way", None),
    ],
)
def test_only_the_table_that_has_the_trouble_is_to_be_skipped(touched, fact, skipped):
    error = SluiceError(140, fact, "fix it")
    hints.for_drain(error, Pair("flights", "zurich"), BlockingTransaction(3, "7", 1, 2, touched))
    assert "--remove-first 3`" in error.hint
    assert ("--skip" in error.hint, f"`--skip {skipped}`" in error.hint) == (bool(skipped), bool(skipped))


@pytest.mark.parametrize(("count", "named"), [(1, True), (2, True), (30, False)])
def test_tables_that_differ_are_filled_alone_where_repair_is_refused(count, named):
    tables = [f"public.t{number}" for number in range(count)]
    repaired, filled = hints.by_repair({Pair("flights", "zurich"): tables}).split("Where that is refused")
    assert "public" not in repaired, "a repair takes what the last report names"
    assert all((table in filled) is named for table in tables)
    assert ("fill all again" in filled) is not named
