"""The estimated size of a table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TableSize:
    """About how many rows and bytes a table has, by its server's statistics; None if it does not know."""

    rows: int | None = None
    bytes: int | None = None
