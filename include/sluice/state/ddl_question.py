"""States of a question about a command of the master, which is open until it is decided once, and the answers."""

from __future__ import annotations

from enum import StrEnum


class QuestionState(StrEnum):
    """WAITING: people are asked, and the gate is shut. STOPPED: the question ended the drain, as an error does."""

    WAITING = "WAITING"
    STOPPED = "STOPPED"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"


class Decision(StrEnum):
    """An answer. A rejected command is skipped, and kept in the control store."""

    APPROVE = "approve"
    REJECT = "reject"


class Reactivation(StrEnum):
    """An answer to the question whether a slave whose initial data was carried by hand is released."""

    RELEASE = "Release"
    LEAVE = "Leave it waiting"


_OPEN = (QuestionState.WAITING, QuestionState.STOPPED)
_AFTER = {Decision.APPROVE: QuestionState.APPROVED, Decision.REJECT: QuestionState.REJECTED}
TRANSITIONS = {(state, answer): after for state in _OPEN for answer, after in _AFTER.items()}
