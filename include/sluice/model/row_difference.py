"""One row in which a slave differs from its master."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

Values = tuple[str | None, ...]
# In the order in which a repair takes them.
Kind = Literal["extra", "changed", "missing"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Where a row of a kind is, or how it differs.
WHERE: dict[Kind, str] = {
    "extra": "on the slave alone",
    "changed": "other values",
    "missing": "on the master alone",
}
# The end of such rows in a repair, behind "are".
REPAIRED: dict[Kind, str] = {
    "extra": "deleted",
    "changed": "given the master's values",
    "missing": "inserted",
}
# Keys of rows come last in what is said of a comparison, behind these words, where they can be left out.
FIRST_KEYS = "; first keys: "
# To the end of the line. Lines that a key has are indented (`sluice.errors.sanitize`).
_KEYS = re.compile(rf"{FIRST_KEYS}.*?(?=\n(?!  )|\Z)", re.DOTALL)


def without_keys(text: str) -> str:
    """Leave out the keys of rows, for readers who may not see them."""
    return _KEYS.sub(f"{FIRST_KEYS}···", text)


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
