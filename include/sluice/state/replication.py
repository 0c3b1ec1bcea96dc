"""The statuses of a replication, and the table of its transitions (guide: "The Replication List Page")."""

from __future__ import annotations

from enum import StrEnum


class IllegalEvent(ValueError):
    """An event that its status does not allow; names both."""

    def __init__(self, status: Status, event: Event) -> None:
        super().__init__(f"a replication in {status} cannot {event}")
        self.status = status
        self.event = event


class Status(StrEnum):
    """The status of a replication; the colour is the guide's semaphore."""

    UNCONFIGURED = "UNCONFIGURED"
    INITIAL = "INITIAL"
    TRANSITION = "TRANSITION"
    NORMAL = "NORMAL"
    INCONSISTENT = "INCONSISTENT"

    @property
    def colour(self) -> str:
        """The lamp that shows this status."""
        return _COLOURS[self]


class Event(StrEnum):
    """An event of a replication."""

    REQUEST = "request"
    DUMPED = "dumped"
    VERIFIED = "verified"
    FAIL = "fail"
    CANCEL = "cancel"
    CLEAR = "clear"
    BREAK = "break"


# Changes reach the slave.
DELIVERING = frozenset({Status.NORMAL, Status.TRANSITION})
# No other update may begin.
UNDER_WAY = frozenset({Status.INITIAL, Status.TRANSITION})

_COLOURS = {
    Status.UNCONFIGURED: "grey",
    Status.INITIAL: "blue",
    Status.TRANSITION: "yellow",
    Status.NORMAL: "green",
    Status.INCONSISTENT: "red",
}

TRANSITIONS: dict[tuple[Status, Event], Status] = {
    (Status.UNCONFIGURED, Event.REQUEST): Status.INITIAL,
    (Status.NORMAL, Event.REQUEST): Status.INITIAL,
    (Status.INCONSISTENT, Event.REQUEST): Status.INITIAL,
    (Status.INITIAL, Event.DUMPED): Status.TRANSITION,
    (Status.TRANSITION, Event.VERIFIED): Status.NORMAL,
    (Status.INITIAL, Event.FAIL): Status.INCONSISTENT,
    (Status.TRANSITION, Event.FAIL): Status.INCONSISTENT,
    (Status.INITIAL, Event.CANCEL): Status.INCONSISTENT,
    (Status.TRANSITION, Event.CANCEL): Status.INCONSISTENT,
    (Status.NORMAL, Event.CLEAR): Status.INCONSISTENT,
    (Status.INCONSISTENT, Event.CLEAR): Status.INCONSISTENT,
    (Status.NORMAL, Event.BREAK): Status.INCONSISTENT,
    (Status.TRANSITION, Event.BREAK): Status.INCONSISTENT,
    (Status.INITIAL, Event.BREAK): Status.INCONSISTENT,
}


def after(status: Status, event: Event) -> Status:
    """The status that follows. Raises IllegalEvent, which names both, if the event is not allowed there."""
    try:
        return TRANSITIONS[status, event]
    except KeyError:
        raise IllegalEvent(status, event) from None
