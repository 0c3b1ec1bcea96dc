"""The gate of a slave: ACTIVE, or STANDBY for one or several reasons, each of which is lifted by its own means."""

from __future__ import annotations

from enum import StrEnum


class Hold(StrEnum):
    """Why a gate is shut. ADMIN: a person paused the drain DAG. EXCEPTION: a terminal error. INITIAL: an update.

    APPROVAL: a command of the master waits for somebody's decision.
    """

    ADMIN = "ADMIN"
    EXCEPTION = "EXCEPTION"
    INITIAL = "INITIAL"
    APPROVAL = "APPROVAL"


class Dispatcher(StrEnum):
    """What the gate is doing."""

    ACTIVE = "ACTIVE"
    STANDBY = "STANDBY"


def dispatcher(holds: frozenset[Hold]) -> Dispatcher:
    """A gate is open only if nothing holds it: one pause bit could not tell the reasons apart."""
    return Dispatcher.STANDBY if holds else Dispatcher.ACTIVE


def shown(holds: frozenset[Hold]) -> str:
    """The gate as people read it: ``ACTIVE``, ``STANDBY (ADMIN)``."""
    if not holds:
        return Dispatcher.ACTIVE
    return f"{Dispatcher.STANDBY} ({', '.join(sorted(holds))})"
