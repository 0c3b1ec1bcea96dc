"""Changes as single rows, grouped into transactions, for slaves that get each transaction by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.changelog.schema import are_commands
from sluice.model.action import Action

Image = list[bytes | None] | None


class RowChange(NamedTuple):
    """A change of one row, with its images in UTF-8."""

    action: str
    layout: int
    ordinal: int
    repl_key: int
    new: Image
    old: Image


_BYTES = pa.list_(pa.binary())
_AT_ONCE = 2_000


@dataclass(frozen=True)
class TransactionGroup:
    """One or more whole transactions that a slave gets in one transaction.

    Attributes:
        last: the ordinal of the last of them.
        size: the number of changes.
        layouts: ids of the layouts of the changes.
        commands: whether there are commands among the changes.
        changes: in order; to be consumed before the next group is read.
    """

    last: int
    size: int
    layouts: frozenset[int]
    commands: bool
    changes: Iterator[RowChange]


def groups(changes: pa.Table, collected: int) -> Iterator[TransactionGroup]:
    """Whole transactions in order: each by itself, or together until they have `collected` changes. Columns as in
    `CHANGES`; marks are left out.
    """
    changes = changes.filter(pc.not_equal(changes["action"], Action.COMMIT))
    ordinals, layouts = changes["ordinal"].to_numpy(), changes["layout"].to_numpy()
    commands = are_commands(changes["action"]).to_numpy()
    rows = row_changes(changes)
    begin = 0
    for end in [*(np.flatnonzero(np.diff(ordinals)) + 1).tolist(), len(ordinals)]:
        if end - begin >= max(collected, 1) or begin < end == len(ordinals):
            within = slice(begin, end)
            yield TransactionGroup(
                int(ordinals[end - 1]),
                end - begin,
                frozenset(layouts[within].tolist()),
                bool(commands[within].any()),
                islice(rows, end - begin),
            )
            begin = end


def row_changes(changes: pa.Table) -> Iterator[RowChange]:
    """The changes one by one."""
    for begin in range(0, len(changes), _AT_ONCE):
        some = changes.slice(begin, _AT_ONCE)
        plain = (some[name].to_pylist() for name in ("action", "layout", "ordinal", "repl_key"))
        images = (some[side].cast(_BYTES).to_pylist() for side in ("new", "old"))
        yield from map(RowChange, *plain, *images)
