"""Which type of a slave's column holds every value of a master's (R7). What is not listed is refused.

Source: PostgreSQL manual, chapter "Data Types".
"""

from __future__ import annotations

import re

from sluice.model.logical_type import logical_type

_CUT = {("numeric", "numeric"), ("text", "character varying"), ("character varying", "character varying")}
_SIZED = re.compile(r"(character varying|numeric|bit varying)\((\d+)(?:,(\d+))?\)")


def holds(master: str, slave: str) -> bool:
    """Whether a column of type `slave` keeps every value of type `master` exactly; as the catalog writes them, which
    is how the log names types.
    """
    return master == slave or logical_type(slave).holds(logical_type(master))


def cuts(master: str, slave: str) -> bool:
    """Whether values of type `master` are rounded or cut, and not read as something else, to be of type `slave`."""
    ours, theirs = _SIZED.fullmatch(master), _SIZED.fullmatch(slave)
    return theirs is not None and (ours[1] if ours else master, theirs[1]) in _CUT


def lost(master: str, slave: str) -> str:
    """The loss of values of type `master` in a column of type `slave`, in words."""
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
