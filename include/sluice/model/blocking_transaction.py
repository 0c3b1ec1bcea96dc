"""The transaction that a slave is blocked by, described without any of its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice.model.action import Action

_MOST = 5


@dataclass(frozen=True)
class Touched:
    """The changes of a transaction to one table of the master: counts by action, and the columns of the table's key.

    `table` is empty for changes that belong to no table.
    """

    table: str
    actions: Mapping[str, int]
    key: tuple[str, ...] = ()

    def __str__(self) -> str:
        done = ", ".join(f"{count} {Action(action).name}" for action, count in self.actions.items())
        by = ", ".join(self.key)
        return done + (f" of {self.table}" if self.table else "") + (f" by {by}" if by else "")


@dataclass(frozen=True)
class BlockingTransaction:
    """One transaction: its ordinal, its xid on the source, the range of its keys, and what it does."""

    ordinal: int
    trans_key: str
    first_key: int
    last_key: int
    touched: tuple[Touched, ...] = ()

    def __str__(self) -> str:
        more = f"; {len(self.touched) - _MOST} more" if len(self.touched) > _MOST else ""
        done = "; ".join(map(str, self.touched[:_MOST]))
        where = f"xid {self.trans_key}, keys {self.first_key} to {self.last_key}"
        return f"transaction {self.ordinal} ({where}: {done}{more})"

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> BlockingTransaction:
        """The inverse of `asdict`."""
        touched = (Touched(values["table"], values["actions"], tuple(values["key"])) for values in plain["touched"])
        return cls(**{**plain, "touched": tuple(touched)})
