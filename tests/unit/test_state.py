"""The state machine of a replication, each event in each status; and the gate."""

from __future__ import annotations

from itertools import product

import pytest

from sluice.state.dispatcher import Dispatcher, Hold, dispatcher, shown
from sluice.state.replication import Event, IllegalEvent, Status, after

# What each event leads to, by the status it happens in (guide: "The Replication List Page"); all else is illegal.
LEGAL = {
    Event.REQUEST: {"UNCONFIGURED": "INITIAL", "NORMAL": "INITIAL", "INCONSISTENT": "INITIAL"},
    Event.DUMPED: {"INITIAL": "TRANSITION"},
    Event.VERIFIED: {"TRANSITION": "NORMAL"},
    Event.FAIL: {"INITIAL": "INCONSISTENT", "TRANSITION": "INCONSISTENT"},
    Event.CANCEL: {"INITIAL": "INCONSISTENT", "TRANSITION": "INCONSISTENT"},
    Event.CLEAR: {"NORMAL": "INCONSISTENT", "TRANSITION": "INCONSISTENT", "INCONSISTENT": "INCONSISTENT"},
    Event.BREAK: {"NORMAL": "INCONSISTENT", "TRANSITION": "INCONSISTENT", "INITIAL": "INCONSISTENT"},
}


@pytest.mark.parametrize(("status", "event"), list(product(Status, Event)), ids=str)
def test_every_event_in_every_status(status, event):
    expected = LEGAL[event].get(status)
    if expected:
        assert after(status, event) is Status(expected)
    else:
        with pytest.raises(IllegalEvent, match=rf"^a replication in {status} cannot {event}$") as caught:
            after(status, event)
        assert (caught.value.status, caught.value.event) == (status, event)


def test_every_status_has_the_lamp_of_the_guide():
    assert {status: status.colour for status in Status} == {
        "UNCONFIGURED": "grey",
        "INITIAL": "blue",
        "TRANSITION": "yellow",
        "NORMAL": "green",
        "INCONSISTENT": "red",
    }


@pytest.mark.parametrize(
    ("holds", "state", "text"),
    [
        ([], Dispatcher.ACTIVE, "ACTIVE"),
        ([Hold.ADMIN], Dispatcher.STANDBY, "STANDBY (ADMIN)"),
        ([Hold.INITIAL, Hold.EXCEPTION], Dispatcher.STANDBY, "STANDBY (EXCEPTION, INITIAL)"),
    ],
    ids=["open", "paused", "two reasons"],
)
def test_a_gate_is_open_only_if_nothing_holds_it(holds, state, text):
    assert dispatcher(frozenset(holds)) is state
    assert shown(frozenset(holds)) == text
