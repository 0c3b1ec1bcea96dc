"""Comparisons in rounds: what was compared stays, what broke off is tried again once, and the master may rest."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from sluice.errors import SluiceError, TransientError
from sluice.model.names import TableName
from sluice.vendors.protocol.compare import Comparison, Side
from sluice.verify import rounds
from sluice.verify.difference import Difference
from sluice.verify.rounds import Pace, compare_in_rounds

LOST = TransientError(30, "the session was lost", "wait")
GONE = TransientError(95, "the snapshot is gone", "wait")
DENIED = SluiceError(33, "permission denied", "grant it")
AT_ONCE = Pace()


def job(slave: str, table: str) -> Comparison:
    shown = cast(Any, SimpleNamespace(master=SimpleNamespace(name=TableName("s", table))))
    return Comparison("", slave, shown, Side("any", "m", "1"), Side("any", slave, "2"))


JOBS = [job("zurich", "a"), job("zurich", "b"), job("geneva", "a"), job("geneva", "b")]


@pytest.fixture
def clock(monkeypatch):
    """Time passes by sleeping alone."""
    found = SimpleNamespace(now=100.0)
    found.monotonic = lambda: found.now
    found.sleep = lambda seconds: setattr(found, "now", found.now + seconds)
    monkeypatch.setattr(rounds, "time", found)
    return found


def run(outcomes, pace=AT_ONCE):
    """(slave, table) of each round; those compared; and the slaves that were not, with their errors."""
    asked, late = [], {}
    left = {key: list(some) for key, some in outcomes.items()}

    def compare_all(some):
        names = [(one.slave, one.view.master.name.table) for one in some]
        asked.append(names)
        return [left[name].pop(0) if left.get(name) else Difference(compared=1000) for name in names]

    found = compare_in_rounds(list(JOBS), compare_all, pace, late)
    return asked, [(one.slave, one.view.master.name.table) for one, _ in found], late


ALL = [(one.slave, one.view.master.name.table) for one in JOBS]
CASES = {
    "all is well": ({}, [ALL], ALL, {}),
    "one is lost": ({("zurich", "b"): [LOST]}, [ALL, [("zurich", "b")]], ALL, {}),
    "lost twice: the first error counts": (
        {("zurich", "b"): [LOST, GONE]},
        [ALL, [("zurich", "b")]],
        ALL[2:],
        {"zurich": LOST},
    ),
    "no right on one": ({("geneva", "a"): [DENIED]}, [ALL], ALL[:2], {"geneva": DENIED}),
    "no right, and one is lost": (
        {("geneva", "a"): [LOST], ("geneva", "b"): [DENIED], ("zurich", "a"): [LOST]},
        [ALL, [("zurich", "a")]],
        ALL[:2],
        {"geneva": DENIED},
    ),
    "lost, and then no right": (
        {("zurich", "a"): [LOST, DENIED]},
        [ALL, [("zurich", "a")]],
        ALL[2:],
        {"zurich": DENIED},
    ),
}


@pytest.mark.parametrize(("outcomes", "asked", "compared", "late"), CASES.values(), ids=CASES)
def test_what_was_compared_stays_and_what_broke_off_is_tried_again(clock, outcomes, asked, compared, late):
    assert run(outcomes) == (asked, compared, late)


def test_an_error_of_all_is_one_of_each_slave(clock):
    def broken(some):
        raise LOST

    late: dict[str, SluiceError] = {}
    assert compare_in_rounds(list(JOBS), broken, AT_ONCE, late) == []
    assert late == {"zurich": LOST, "geneva": LOST}


def test_rounds_have_their_size_and_a_busy_master_is_waited_for(clock):
    reasons = iter(["", "busy", "busy", ""])
    asked, compared, _ = run({("zurich", "a"): [LOST]}, Pace(2, None, lambda: next(reasons, "")))
    assert asked == [ALL[:2], ALL[2:], ALL[:1]]
    assert compared == ALL
    assert next(reasons, "none") == "none"


def test_rows_are_compared_at_a_rate(clock):
    run({}, Pace(1, 500))
    assert clock.now == 100 + 3 * 1000 / 500, "before each round but the first"


def test_a_slave_that_was_given_up_is_not_read_in_later_rounds(clock):
    asked, compared, late = run({("zurich", "a"): [DENIED]}, Pace(1))
    assert asked == [ALL[:1], ALL[2:3], ALL[3:]]
    assert (compared, late) == (ALL[2:], {"zurich": DENIED})
