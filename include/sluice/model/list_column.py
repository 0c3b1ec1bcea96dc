"""The columns that the list of replications may have."""

from __future__ import annotations

from enum import StrEnum


class ListColumn(StrEnum):
    """A column beside the name, which is always there; in the order that they have if nothing is configured."""

    HOLDBACK = "holdback"
    LAG = "lag"
    RATE = "rate"
    COUNTER = "counter"
    STATUS = "status"
    DISPATCHER = "dispatcher"
    CONNECTION = "connection"
