"""What is left of Sluice in a database, or in Airflow, after it removed what is its own."""

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
