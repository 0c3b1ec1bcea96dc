"""Calls that may hang: nobody waits for one longer than a while, and it is not begun a second time."""

from __future__ import annotations

from threading import Event

import pytest
from support.bounded import end_when, working
from support.waiting import until

from sluice.bounded_calls import BoundedCalls
from sluice.errors import TransientError

ERROR = TransientError(30, "away", "wait")


def fails() -> str:
    raise ERROR


@pytest.mark.parametrize("at_once", [1, 2, 20])
def test_each_call_has_its_result_or_its_error(at_once):
    calls = {number: (lambda number=number: str(number)) if number % 3 else fails for number in range(12)}
    found = BoundedCalls(at_once).results(calls, 30)
    assert found == {number: str(number) if number % 3 else ERROR for number in range(12)}


def test_a_call_that_hangs_is_waited_for_a_while_and_begun_once(monkeypatch):
    go_on, begun, made = Event(), [], BoundedCalls()
    end_when(monkeypatch, lambda: bool(begun) and not working("well"))

    def hangs() -> str:
        begun.append(True)
        assert go_on.wait(60)
        return "late"

    calls = {"well": lambda: "soon", "hung": hangs}
    assert made.results(calls, 60) == {"well": "soon"}
    monkeypatch.undo()
    assert made.results(calls, 60) == {"well": "soon"}, "nobody waits for what hung before"
    assert len(begun) == 1
    go_on.set()
    assert until(lambda: made.results(calls, 60).get("hung")) == "late"


def test_calls_that_were_not_begun_in_time_never_are(monkeypatch):
    go_on, begun = Event(), []
    end_when(monkeypatch, lambda: len(begun) == 2)

    def hangs() -> None:
        begun.append(True)
        go_on.wait(60)

    assert BoundedCalls(2).results(dict.fromkeys(range(9), hangs), 60) == {}
    go_on.set()
    until(lambda: not any(map(working, range(9))))
    assert len(begun) == 2
