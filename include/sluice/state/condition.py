"""The condition of a replication, in one word: what a tired person has to know first."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal


class ReplicationCondition(StrEnum):
    """The conditions of a replication, the most important first: of several that hold, the first one is shown."""

    INCONSISTENT = "to be filled again"
    STOPPED = "stopped by an error"
    QUESTION = "waits for an answer"
    UNREACHABLE = "unreachable"
    FILES = "waits for a person"
    DIFFERENT = "differs from its master"
    INCOMPLETE = "lacks rows"
    DOUBTFUL = "to be compared"
    UNPUBLISHED = "nothing is published"
    UNCONFIGURED = "never filled"
    STANDBY = "on standby"
    FILLED = "being filled"
    CATCHING_UP = "catching up"
    LATE = "late"
    WELL = "well"

    @property
    def colour(self) -> str:
        """The lamp that shows it; the words of the status have the colours of the guide's semaphore."""
        return _COLOURS.get(self, "red")


# Somebody has to do something about these, or to know of them.
Alerting = Literal[
    ReplicationCondition.INCONSISTENT,
    ReplicationCondition.STOPPED,
    ReplicationCondition.QUESTION,
    ReplicationCondition.UNREACHABLE,
    ReplicationCondition.FILES,
    ReplicationCondition.DIFFERENT,
    ReplicationCondition.INCOMPLETE,
    ReplicationCondition.DOUBTFUL,
    ReplicationCondition.UNPUBLISHED,
    ReplicationCondition.LATE,
]
_COLOURS = {
    ReplicationCondition.QUESTION: "yellow",
    ReplicationCondition.FILES: "yellow",
    ReplicationCondition.DOUBTFUL: "yellow",
    ReplicationCondition.UNPUBLISHED: "yellow",
    ReplicationCondition.UNCONFIGURED: "grey",
    ReplicationCondition.STANDBY: "grey",
    ReplicationCondition.FILLED: "blue",
    ReplicationCondition.CATCHING_UP: "yellow",
    ReplicationCondition.LATE: "yellow",
    ReplicationCondition.WELL: "green",
}
