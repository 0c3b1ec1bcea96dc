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
_CUT = {("numeric", "numeric"), ("text", "character varying"), ("character varying", "character varying")}
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


def cuts(master: str, slave: str) -> bool:
    """Whether values of type `master` are rounded or cut, and not read as something else, to be of type `slave`."""
    ours, theirs = _SIZED.fullmatch(master), _SIZED.fullmatch(slave)
    return theirs is not None and (ours[1] if ours else master, theirs[1]) in _CUT


def lost(master: str, slave: str) -> str:
    """What a column of type `slave` does not keep of values of type `master`, in words."""
    ours, theirs = _SIZED.fullmatch(master), _SIZED.fullmatch(slave)
    if not theirs or theirs[1] not in (master, ours and ours[1], "character varying"):
        return f"what is no {slave}"
    size, scale = int(theirs[2]), int(theirs[3] or 0)
    if theirs[1] != "numeric":
        return f"what is longer than {size}"
    behind = ours is None or int(ours[3] or 0) > scale
    before = ours is None or int(ours[2]) - int(ours[3] or 0) > size - scale
    losses = [f"digits behind the point from number {scale + 1} on"] * behind
    return " and ".join([*losses, *[f"numbers with more than {size - scale} digits before it"] * before])
