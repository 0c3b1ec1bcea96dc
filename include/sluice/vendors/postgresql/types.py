"""Which type of a slave's column holds every value of a master's (R7). What is not listed is refused.

Source: PostgreSQL manual, chapter "Data Types".
"""

from __future__ import annotations

import re

_WIDER = {
    "smallint": {"integer", "bigint", "numeric"},
    "integer": {"bigint", "numeric"},
    "bigint": {"numeric"},
    "real": {"double precision"},
    "date": set(),
    "json": {"text"},
    "uuid": {"text"},
}
_SIZED = re.compile(r"(character varying|numeric|bit varying)\((\d+)(?:,(\d+))?\)")


def holds(master: str, slave: str) -> bool:
    """Whether a column of type `slave` keeps every value of type `master` exactly; as the catalog writes them."""
    if master == slave or slave in _WIDER.get(master, ()):
        return True
    ours, theirs = _SIZED.fullmatch(master), _SIZED.fullmatch(slave)
    family = ours[1] if ours else master
    if slave == family or (family, slave) == ("character varying", "text"):
        return True
    if not (ours and theirs) or ours[1] != theirs[1]:
        return False
    size, wide = int(ours[2]), int(theirs[2])
    fraction, wide_fraction = int(ours[3] or 0), int(theirs[3] or 0)
    return wide_fraction >= fraction and wide - wide_fraction >= size - fraction
