"""The states of an initial update, which several slaves may share, and the table of its transitions."""

from __future__ import annotations

from enum import StrEnum


class UpdateState(StrEnum):
    """A state of an initial update."""

    REQUESTED = "REQUESTED"
    # Refused before anything was changed for it.
    REFUSED = "REFUSED"
    # Put off until the slave can be reached.
    PUT_OFF = "PUT OFF"
    DUMPING = "DUMPING"
    # From files that were carried to the slave.
    LOADING = "LOADING"
    # In blocks, while the stream goes on: before the first block, and from then on.
    TO_LOAD_BLOCKS = "TO LOAD BLOCKS"
    LOADING_BLOCKS = "LOADING BLOCKS"
    LOADED = "LOADED"
    # The data is in files.
    STORED = "STORED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    # A later update can resume after the loaded blocks.
    CANCELLED_IN_BLOCKS = "CANCELLED IN BLOCKS"


class UpdateEvent(StrEnum):
    """An event of an initial update."""

    DUMP = "dump"
    LOAD = "load"
    MADE_TABLES = "made tables"
    LOAD_BLOCKS = "load blocks"
    LOADED = "loaded"
    STORED = "stored"
    FAIL = "fail"
    PUT_OFF = "put off"
    CANCEL = "cancel"


class IllegalUpdateEvent(ValueError):
    """An event that the update's state does not allow; names both."""

    def __init__(self, state: UpdateState, event: UpdateEvent) -> None:
        super().__init__(f"an initial update that is {state} cannot {event}")


IN_BLOCKS = frozenset({UpdateState.TO_LOAD_BLOCKS, UpdateState.LOADING_BLOCKS})
CANCELLED = frozenset({UpdateState.CANCELLED, UpdateState.CANCELLED_IN_BLOCKS})
# The data is loaded, or stored in files: a cancellation later does not undo that.
WHOLE = frozenset({UpdateState.LOADED, UpdateState.STORED})
# A later update can resume.
RESUMABLE = IN_BLOCKS | CANCELLED | {UpdateState.DUMPING, UpdateState.FAILED}

# Airflow retries tasks, so an ended update can begin once more.
_BEGUN = frozenset(UpdateState) - CANCELLED - {UpdateState.REFUSED}
_GOES_TO = {
    UpdateEvent.DUMP: UpdateState.DUMPING,
    UpdateEvent.LOAD: UpdateState.LOADING,
    UpdateEvent.MADE_TABLES: UpdateState.TO_LOAD_BLOCKS,
    UpdateEvent.LOAD_BLOCKS: UpdateState.LOADING_BLOCKS,
    UpdateEvent.LOADED: UpdateState.LOADED,
    UpdateEvent.STORED: UpdateState.STORED,
    UpdateEvent.FAIL: UpdateState.FAILED,
    UpdateEvent.PUT_OFF: UpdateState.PUT_OFF,
    UpdateEvent.CANCEL: UpdateState.CANCELLED,
}

TRANSITIONS: dict[tuple[UpdateState, UpdateEvent], UpdateState] = {
    **{(state, event): to for event, to in _GOES_TO.items() for state in _BEGUN},
    **{(state, UpdateEvent.CANCEL): UpdateState.CANCELLED_IN_BLOCKS for state in IN_BLOCKS},
    **{(state, UpdateEvent.CANCEL): state for state in WHOLE},
    # A late task of a cancelled update changes nothing.
    **{(state, event): state for state in CANCELLED for event in UpdateEvent},
}


def after(state: UpdateState, event: UpdateEvent) -> UpdateState:
    """The state that follows. Raises IllegalUpdateEvent, which names both, if the event is not allowed there."""
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise IllegalUpdateEvent(state, event) from None
