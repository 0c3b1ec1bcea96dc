"""Bisects a failing batch to the one transaction that the slave refuses; those before it are delivered (R8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from sluice.changelog.schema import NO_LAYOUT
from sluice.errors import SluiceError, TooSlow, TransientError, Unready
from sluice.model.action import Action
from sluice.model.blocking_transaction import BlockingTransaction, Touched
from sluice.model.layout import Layout

# A transaction that fails alone is tried with so many of those that follow it (R1).
_FOLLOWING = 64

T = TypeVar("T")


@dataclass(frozen=True)
class FailingTransaction:
    """The ordinal of the transaction that fails, and its error."""

    ordinal: int
    error: SluiceError


def narrow(ordinals: Sequence[int], apply: Callable[[int], T]) -> T | FailingTransaction:
    """Apply the longest of the halved prefixes that succeeds. The caller calls again for the rest.

    Args:
        ordinals: the transactions, in their order; one at least.
        apply: applies them up to one of them, whole or not at all.

    Returns:
        the result of `apply` for the first prefix that succeeded; or the transaction that fails
        alone, and together with later ones.

    Raises:
        TransientError, TooSlow: what `apply` met.
    """
    refused: dict[int, SluiceError] = {}

    def attempt(count: int) -> list[T]:
        try:
            return [apply(ordinals[count - 1])]
        except (TransientError, TooSlow):
            raise
        except SluiceError as error:
            refused[count] = error
            return []

    count = len(ordinals)
    while count > 1 or not refused:
        count = max(count // 2, 1)
        if done := attempt(count):
            return done[0]
    if not isinstance(refused[1], Unready):
        return FailingTransaction(ordinals[0], refused[1])
    for count in range(2, min(len(ordinals), _FOLLOWING) + 1):
        if count not in refused and (done := attempt(count)):
            return done[0]
        if not isinstance(refused[count], Unready):
            return FailingTransaction(ordinals[count - 1], refused[count])
    return FailingTransaction(ordinals[0], refused[1])


def describe(parts: Iterable[pa.Table], layouts: Callable[[set[int]], Mapping[int, Layout]]) -> BlockingTransaction:
    """Describe a transaction without its values.

    Args:
        parts: its changes, some at a time; columns as in `CHANGES`.
        layouts: as the master has them.
    """
    ordinal, xid, keys = 0, "", list[int]()
    counted: Counter[tuple[int, str]] = Counter()
    for changes in parts:
        if len(changes):
            ordinal, xid = changes["ordinal"][0].as_py(), changes["trans_key"][0].as_py()
            keys += pc.min_max(changes["repl_key"]).as_py().values()
            counted.update(zip(changes["layout"].to_pylist(), changes["action"].to_pylist(), strict=True))
    known = layouts({number for number, _ in counted} - {NO_LAYOUT})
    tables: dict[tuple[str, tuple[str, ...]], Counter[str]] = {}
    for (number, action), times in counted.items():
        if action != Action.COMMIT:
            layout = known.get(number)
            what = (str(layout.name), layout.key_names) if layout else ("", ())
            tables.setdefault(what, Counter())[action] += times
    touched = tuple(Touched(table, dict(actions), key) for (table, key), actions in tables.items())
    return BlockingTransaction(ordinal, xid, min(keys), max(keys), touched)
