"""How the DbResources present their source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Appearance:
    """What ITEMS says of a source, and how wide the columns of names and of short texts are.

    Attributes:
        db_id: None stands for the database's name.
        char_width: least width; a name as long as the database allows always fits.
    """

    db_id: str | None = None
    version: str = "0.0"
    char_width: int = 50
    char_width_small: int = 10
