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


def read_waiting(context: Context, pair: Pair, *, values: bool) -> WaitingChanges:
    """Read the changes that wait for a slave. Raises UnknownName SLC-003; what reading the change log raises.

    Args:
        values: whether they may be seen.
    """
    context.config.replication(pair.source, pair.slave)
    (overview,) = overviews(context.store, [pair]).values()
    position, manifest = overview.known.position, context.manifest(pair.source)
    behind = manifest.since(position.segment, _SEGMENTS) if overview.holdback else []
    unread = [segment for segment in behind if segment.last_ordinal > position.ordinal]
    segments = list(takewhile(lambda segment: segment.file.bytes <= _MOST_BYTES, unread))
    at, count = str(position), overview.holdback
    if unread and not segments:
        size = f"{unread[0].file.bytes / 1024**2:,.0f} MB"
        return WaitingChanges(at, count, [], more=True, unread=f"their segment has {size}, too much for a page")
    read_to = segments[-1].last_ordinal if segments else position.ordinal
    rows: list[dict[str, Any]] = []
    for row in _rows(context, segments, position):
        rows.append(row)
        if len(rows) > MOST:
            break
    layouts = manifest.layouts({row["layout"] for row in rows})
    shown = [_change(row, layouts, values=values) for row in rows[:MOST]]
    return WaitingChanges(at, count, shown, more=len(rows) > MOST or read_to < position.ordinal + count)


def _rows(context: Context, segments: Sequence[Segment], position: Position) -> Iterator[dict[str, Any]]:
    files = context.files()
    for segment in segments:
        for record in files.read(segment.file, position.ordinal):
            begin = int(np.searchsorted(record.column("ordinal").to_numpy(), position.ordinal, side="right"))
            for at in range(begin, len(record), MOST):
                yield from (row for row in record.slice(at, MOST).to_pylist() if row["action"] != Action.COMMIT)


def _change(row: Mapping[str, Any], layouts: Mapping[int, Layout], *, values: bool) -> WaitingChange:
    layout, is_command = layouts.get(row["layout"]), row["action"] in COMMANDS
    shown = values and not is_command
    return WaitingChange(
        row["ordinal"],
        row["trans_key"],
        str(layout.name) if layout else None,
        Action(row["action"]).name,
        values_by_name(layout, row["old"]) if shown else None,
        values_by_name(layout, row["new"]) if shown else None,
        cut("".join(filter(None, row["new"] or ()))) if values and is_command else None,
    )
