"""The gate of a slave: ACTIVE, or STANDBY for one or more reasons (holds), each of which is lifted separately."""

from __future__ import annotations

from enum import StrEnum

from sluice.state.replication import DELIVERING, Status


class Hold(StrEnum):
    """Why a gate is shut. ADMIN: a person paused the drain DAG. EXCEPTION: a terminal error. INITIAL: an update.

    APPROVAL: a command of the master waits for a decision.
    """

    ADMIN = "ADMIN"
    EXCEPTION = "EXCEPTION"
    INITIAL = "INITIAL"
    APPROVAL = "APPROVAL"


class Dispatcher(StrEnum):
    """The state of the gate."""

    ACTIVE = "ACTIVE"
    STANDBY = "STANDBY"


def dispatcher(holds: frozenset[Hold]) -> Dispatcher:
    """ACTIVE only if there is no hold. A single pause bit could not distinguish the reasons."""
    return Dispatcher.STANDBY if holds else Dispatcher.ACTIVE


def gate_text(holds: frozenset[Hold], status: Status) -> str:
    """The gate as people read it: ``ACTIVE``, ``STANDBY (ADMIN)``; or with a status that lets nothing through."""
    reasons = {*map(str, holds), *(() if status in DELIVERING else (str(status),))}
    return f"{Dispatcher.STANDBY} ({', '.join(sorted(reasons))})" if reasons else Dispatcher.ACTIVE
