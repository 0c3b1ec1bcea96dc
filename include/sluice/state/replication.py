"""The statuses of a replication, and the table of its transitions (guide: "The Replication List Page")."""

from __future__ import annotations

from enum import StrEnum


class IllegalEvent(ValueError):
    """An event that its status does not allow; names both."""

    def __init__(self, status: Status, event: ReplicationEvent) -> None:
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


class ReplicationEvent(StrEnum):
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

TRANSITIONS: dict[tuple[Status, ReplicationEvent], Status] = {
    (Status.UNCONFIGURED, ReplicationEvent.REQUEST): Status.INITIAL,
    (Status.NORMAL, ReplicationEvent.REQUEST): Status.INITIAL,
    (Status.INCONSISTENT, ReplicationEvent.REQUEST): Status.INITIAL,
    (Status.INITIAL, ReplicationEvent.DUMPED): Status.TRANSITION,
    (Status.TRANSITION, ReplicationEvent.VERIFIED): Status.NORMAL,
    (Status.INITIAL, ReplicationEvent.FAIL): Status.INCONSISTENT,
    (Status.TRANSITION, ReplicationEvent.FAIL): Status.INCONSISTENT,
    (Status.INITIAL, ReplicationEvent.CANCEL): Status.INCONSISTENT,
    (Status.TRANSITION, ReplicationEvent.CANCEL): Status.INCONSISTENT,
    (Status.NORMAL, ReplicationEvent.CLEAR): Status.INCONSISTENT,
    (Status.INCONSISTENT, ReplicationEvent.CLEAR): Status.INCONSISTENT,
    (Status.NORMAL, ReplicationEvent.BREAK): Status.INCONSISTENT,
    (Status.TRANSITION, ReplicationEvent.BREAK): Status.INCONSISTENT,
    (Status.INITIAL, ReplicationEvent.BREAK): Status.INCONSISTENT,
}


def after(status: Status, event: ReplicationEvent) -> Status:
    """The status that follows. Raises IllegalEvent, which names both, if the event is not allowed there."""
    try:
        return TRANSITIONS[status, event]
    except KeyError:
        raise IllegalEvent(status, event) from None
