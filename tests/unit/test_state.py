"""The state machines of a replication and of an initial update, each event in each state; and the gate."""

from __future__ import annotations

from itertools import product

import pytest

from sluice.state import initial_update
from sluice.state.dispatcher import Dispatcher, Hold, dispatcher, gate_text
from sluice.state.initial_update import IllegalUpdateEvent, UpdateEvent, UpdateState
from sluice.state.replication import IllegalEvent, ReplicationEvent, Status, after

# What each event leads to, by the status it happens in (guide: "The Replication List Page"); all else is illegal.
LEGAL = {
    ReplicationEvent.REQUEST: {"UNCONFIGURED": "INITIAL", "NORMAL": "INITIAL", "INCONSISTENT": "INITIAL"},
    ReplicationEvent.DUMPED: {"INITIAL": "TRANSITION"},
    ReplicationEvent.VERIFIED: {"TRANSITION": "NORMAL"},
    ReplicationEvent.FAIL: {"INITIAL": "INCONSISTENT", "TRANSITION": "INCONSISTENT"},
    ReplicationEvent.CANCEL: {"INITIAL": "INCONSISTENT", "TRANSITION": "INCONSISTENT"},
    ReplicationEvent.CLEAR: {"NORMAL": "INCONSISTENT", "INCONSISTENT": "INCONSISTENT"},
    ReplicationEvent.BREAK: {"NORMAL": "INCONSISTENT", "TRANSITION": "INCONSISTENT", "INITIAL": "INCONSISTENT"},
}


@pytest.mark.parametrize(("status", "event"), list(product(Status, ReplicationEvent)), ids=str)
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
    assert gate_text(frozenset(holds), Status.NORMAL) == text


@pytest.mark.parametrize(
    ("status", "holds", "text"),
    [
        (Status.TRANSITION, [], "ACTIVE"),
        (Status.INITIAL, [Hold.INITIAL], "STANDBY (INITIAL)"),
        (Status.INCONSISTENT, [], "STANDBY (INCONSISTENT)"),
        (Status.INCONSISTENT, [Hold.ADMIN], "STANDBY (ADMIN, INCONSISTENT)"),
        (Status.UNCONFIGURED, [], "STANDBY (UNCONFIGURED)"),
    ],
)
def test_a_slave_that_has_to_be_filled_gets_nothing_and_says_so(status, holds, text):
    assert gate_text(frozenset(holds), status) == text


# What each event leads to; a cancelled update stays as it is, and one that was refused never began.
UPDATE_EVENTS = {
    UpdateEvent.DUMP: "DUMPING",
    UpdateEvent.LOAD: "LOADING",
    UpdateEvent.MADE_TABLES: "TO LOAD BLOCKS",
    UpdateEvent.LOAD_BLOCKS: "LOADING BLOCKS",
    UpdateEvent.LOADED: "LOADED",
    UpdateEvent.STORED: "STORED",
    UpdateEvent.FAIL: "FAILED",
    UpdateEvent.PUT_OFF: "PUT OFF",
    UpdateEvent.CANCEL: "CANCELLED",
}
CANCELLED_INTO = {
    "TO LOAD BLOCKS": "CANCELLED IN BLOCKS",
    "LOADING BLOCKS": "CANCELLED IN BLOCKS",
    "LOADED": "LOADED",
    "STORED": "STORED",
}


@pytest.mark.parametrize(("state", "event"), list(product(UpdateState, UpdateEvent)), ids=str)
def test_every_event_in_every_state_of_an_update(state, event):
    if state is UpdateState.REFUSED:
        with pytest.raises(IllegalUpdateEvent, match=rf"^an initial update that is REFUSED cannot {event}$"):
            initial_update.after(state, event)
        return
    expected = UPDATE_EVENTS[event]
    if event is UpdateEvent.CANCEL:
        expected = CANCELLED_INTO.get(state, expected)
    if state.startswith("CANCELLED"):
        expected = state
    assert initial_update.after(state, event) is UpdateState(expected)
