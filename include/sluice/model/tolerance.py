"""Rows of a slave that are not as the master's changes expect them; what a slave does about them is its own affair."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

from sluice.model.names import TableName


class Oddity(StrEnum):
    """How a row was found: not there, although it changes or goes; there, although it comes."""

    MISSING = "missing"
    DUPLICATE = "duplicate"


# How many rows of each of the slave's tables.
Tolerated = Counter[tuple[TableName, Oddity]]


def oddities(table: TableName, missing: int = 0, duplicate: int = 0) -> Tolerated:
    """The count of one table; fewer than none missing are so many too many."""
    found = {Oddity.MISSING: max(missing, 0), Oddity.DUPLICATE: duplicate + max(-missing, 0)}
    return Counter({(table, oddity): rows for oddity, rows in found.items() if rows})
