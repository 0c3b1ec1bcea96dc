"""Leftovers of Sluice in a database, or in Airflow, after a removal."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Leftover:
    """One thing that is left, in words for a comment, and the statement or command that ends it.

    Attributes:
        statement: empty if somebody has to look first.
    """

    what: str
    statement: str = ""
