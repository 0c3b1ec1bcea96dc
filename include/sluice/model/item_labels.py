"""The labels of a source in ITEMS, and the widths of its text columns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ItemLabels:
    """The labels of a source in ITEMS, and the widths (in characters) of its columns of names and of short texts.

    Attributes:
        db_id: the id of the database; None for the database's name.
        char_width: the least width of names; the longest name that the database allows always fits.
    """

    db_id: str | None = None
    version: str = "0.0"
    char_width: int = 50
    char_width_small: int = 10
