"""The first changes that wait for a slave in the change log, as the master wrote them.

Values, and texts of commands, are for administrators alone. Others see which tables are changed, and how.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from sluice.changelog.manifest import Segment
from sluice.context import Context
from sluice.model.action import COMMANDS, Action
from sluice.model.layout import Layout
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.model.row_image import cut, values_by_name
from sluice.store.replication_overview import overviews

MOST = 50
# A segment is copied and hashed before one row of it is believed.
_MOST_BYTES = 64 * 1024**2
# Segments that are read: the slave may have all of the first one.
_SEGMENTS = 3


@dataclass(frozen=True)
class WaitingChange:
    """A change in the log.

    Attributes:
        ordinal: of its transaction in the stream; `xid` is what the master calls it.
        table: by its name on the master; None if it belongs to none.
        action: such as UPDATE.
        old, new: the values of the row by their columns, long ones cut; None if there is none, and for who may not
            see them.
        command: the text of a command; None if it is none, and for who may not see it.
    """

    ordinal: int
    xid: str
    table: str | None
    action: str
    old: dict[str, str | None] | None
    new: dict[str, str | None] | None
    command: str | None


@dataclass(frozen=True)
class WaitingChanges:
    """The first changes that a slave lacks.

    Attributes:
        position: the slave has everything up to it, as segment/transaction.
        transactions: so many wait.
        more: there are more changes than these.
        unread: why none are here although some wait; empty if they are.
    """

    position: str
    transactions: int
    changes: Sequence[WaitingChange]
    more: bool
    unread: str = ""


def waiting(context: Context, pair: Pair, *, values: bool) -> WaitingChanges:
    """What waits for a slave. Raises UnknownName SLC-003; what reading the change log raises.

    Args:
        values: whether they may be seen.
    """
    context.config.replication(pair.source, pair.slave)
    (found,) = overviews(context.store, [pair]).values()
    position, manifest = found.known.position, context.manifest(pair.source)
    listed = manifest.since(position.segment, _SEGMENTS) if found.holdback else []
    waits = [one for one in listed if one.last_ordinal > position.ordinal]
    segments = list(takewhile(lambda one: one.file.bytes <= _MOST_BYTES, waits))
    at, count = str(position), found.holdback
    if waits and not segments:
        size = f"{waits[0].file.bytes / 1024**2:,.0f} MB"
        return WaitingChanges(at, count, [], more=True, unread=f"their segment has {size}, too much for a page")
    read_to = segments[-1].last_ordinal if segments else position.ordinal
    rows: list[dict[str, Any]] = []
    for one in _rows(context, segments, position):
        rows.append(one)
        if len(rows) > MOST:
            break
    layouts = manifest.layouts({one["layout"] for one in rows})
    shown = [_change(one, layouts, values=values) for one in rows[:MOST]]
    return WaitingChanges(at, count, shown, more=len(rows) > MOST or read_to < position.ordinal + count)


def _rows(context: Context, segments: Sequence[Segment], position: Position) -> Iterator[dict[str, Any]]:
    files = context.files()
    for segment in segments:
        for record in files.read(segment.file, position.ordinal):
            begin = int(np.searchsorted(record.column("ordinal").to_numpy(), position.ordinal, side="right"))
            for at in range(begin, len(record), MOST):
                yield from (one for one in record.slice(at, MOST).to_pylist() if one["action"] != Action.COMMIT)


def _change(one: Mapping[str, Any], layouts: Mapping[int, Layout], *, values: bool) -> WaitingChange:
    layout, is_command = layouts.get(one["layout"]), one["action"] in COMMANDS
    shown = values and not is_command
    return WaitingChange(
        one["ordinal"],
        one["trans_key"],
        str(layout.name) if layout else None,
        Action(one["action"]).name,
        values_by_name(layout, one["old"]) if shown else None,
        values_by_name(layout, one["new"]) if shown else None,
        cut("".join(filter(None, one["new"] or ()))) if values and is_command else None,
    )
