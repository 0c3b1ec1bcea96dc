"""One row in which a slave differs from its master."""

from __future__ import annotations

from dataclasses import dataclass

Values = tuple[str | None, ...]


@dataclass(frozen=True)
class RowDifference:
    """One row that is not the same on both sides.

    Attributes:
        kind: `missing`, `extra` or `changed`.
        key: the values of its key; of a row without one a digest, or all its values if values may be kept.
        columns: the names of the slave's columns whose values differ, of a changed row.
        ours, theirs: all values on the master and on the slave, if they may be kept.
    """

    kind: str
    key: Values
    columns: tuple[str, ...] = ()
    ours: Values | None = None
    theirs: Values | None = None
