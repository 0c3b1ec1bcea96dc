"""A question whether a slave carries a command of the master out: open until somebody decides it, once. And what people
can answer."""

from __future__ import annotations

from enum import StrEnum


class QuestionState(StrEnum):
    """How far it is. WAITING: people are asked, and the gate is shut. STOPPED: it ended the drain as an error does."""

    WAITING = "WAITING"
    STOPPED = "STOPPED"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"


class Decision(StrEnum):
    """What somebody says. What is rejected is passed over, and kept."""

    APPROVE = "approve"
    REJECT = "reject"


class Reactivation(StrEnum):
    """What somebody says of a slave whose initial data was carried by hand."""

    RELEASE = "Release"
    LEAVE = "Leave it waiting"


_OPEN = (QuestionState.WAITING, QuestionState.STOPPED)
_AFTER = {Decision.APPROVE: QuestionState.APPROVED, Decision.REJECT: QuestionState.REJECTED}
TRANSITIONS = {(state, answer): after for state in _OPEN for answer, after in _AFTER.items()}
