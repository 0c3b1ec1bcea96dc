"""Changes that a slave did not carry out, as pages and REST show them.

Values, and texts of commands, are for administrators alone. Others see which tables and how many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sluice import shell
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.model.action import COMMANDS, Action
from sluice.model.names import Pair
from sluice.model.row_image import MOST_LETTERS, cut, values_by_name
from sluice.store import rejected_changes
from sluice.store.rejected_changes import KeptChange

PAGE = 50


@dataclass(frozen=True)
class KeptRow:
    """A change that a slave did not carry out.

    Attributes:
        number: names it.
        at: it is kept since then.
        ordinal: of its transaction in the stream.
        table: by its name on the slave; None if it belongs to none.
        action: such as UPDATE.
        why: the conflict, or that somebody removed it.
        old, new: the values of the row by their columns, long ones cut; None if there is none, and for who may not
            see them.
        command: the text of a command; None if it is none, and for who may not see it.
    """

    number: int
    at: datetime
    ordinal: int
    table: str | None
    action: str
    why: str
    old: dict[str, str | None] | None
    new: dict[str, str | None] | None
    command: str | None


@dataclass(frozen=True)
class KeptRows:
    """Changes that a slave did not carry out, in the order of the stream.

    Attributes:
        count: of all that are kept.
        newest: the number of the one that was kept last.
        next: the `after` of the next page; None if this page is the last one.
    """

    rows: Sequence[KeptRow]
    count: int
    newest: int
    next: int | None


def read_kept(context: Context, pair: Pair, after: int, *, values: bool) -> KeptRows:
    """A page of what is kept. Raises UnknownName SLC-003.

    Args:
        after: so many are passed over.
        values: whether they may be seen.
    """
    context.config.replication(pair.source, pair.slave)
    # One letter more, which says that some are left out.
    letters = MOST_LETTERS + 1 if values else 0
    changes = rejected_changes.page(context.store, pair, PAGE + 1, after, letters=letters)
    count = rejected_changes.counts(context.store, pair).get(pair, 0)
    rows = [_row(change, values=values) for change in changes[:PAGE]]
    newest = rejected_changes.newest(context.store, pair)
    return KeptRows(rows, count, newest, after + PAGE if len(changes) > PAGE else None)


def expect_kept(context: Context, pair: Pair) -> None:
    """See that there is something to carry out or to drop. Raises UnknownName SLC-003; SluiceError SLC-172."""
    context.config.replication(pair.source, pair.slave)
    if not rejected_changes.counts(context.store, pair):
        raise SluiceError(
            172,
            f"no rejected change of {pair} is kept",
            f"nothing was changed; somebody may have carried them out, or dropped them: see `{shell.status()}`",
        )


def _row(kept_change: KeptChange, *, values: bool) -> KeptRow:
    change = kept_change.change
    why = change.conflict or ("removed, as the master wrote it" if change.unseen else "removed")
    is_command = change.action in COMMANDS
    shown = values and not is_command
    return KeptRow(
        kept_change.id,
        kept_change.at,
        change.ordinal,
        str(change.layout.name) if change.layout else None,
        Action(change.action).name,
        str(why),
        values_by_name(change.layout, change.old) if shown else None,
        values_by_name(change.layout, change.new) if shown else None,
        cut("".join(filter(None, change.new or ()))) if values and is_command else None,
    )
