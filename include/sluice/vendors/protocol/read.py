"""What is read of a master in chunks and key ranges: an initial update, in tasks that may be anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sluice.model.names import TableName

BLOCK_BYTES = 8192


@dataclass(frozen=True)
class Leaf:
    """A relation that holds rows of a watched table: the table itself, or one of its partitions.

    Attributes:
        written_as: another text once its rows were written to another file, or its capture was interrupted.
    """

    table: TableName
    relation: TableName
    blocks: int
    written_as: str = ""


@dataclass(frozen=True)
class Chunk:
    """Rows of one relation whose blocks are in ``[low, high)``; `high` None has no end.

    Attributes:
        since: only rows that this transaction, or a later one, wrote; as `Visibility.since` gives it.
        binary: whether its rows are stored so; None if they are stored nowhere.
    """

    number: int
    leaf: Leaf
    low: int
    high: int | None
    since: str | None = None
    binary: bool | None = None

    @property
    def bytes(self) -> int:
        """How large it is where it is read, about; 0 if it is read for its newer rows alone."""
        high = self.leaf.blocks if self.high is None else self.high
        return 0 if self.since is not None else max(high - self.low, 0) * BLOCK_BYTES


# The values of a row's key, as texts.
Key = tuple[str, ...]


@dataclass(frozen=True)
class KeyRange:
    """Rows of a watched table whose keys lie between two, which are loaded block by block in the order of their keys.

    Attributes:
        order: of the keys, as the master has it; another text if it is another order.
        reached: it goes on beyond this key; None if it begins with the first there is.
        until: its own last key; None if it has no end. If values are missing at the end, whatever they are.
        rows: how many are in, but for those that the stream has brought.
        ended: all of it is in.
        seen: another text if the slave is to have other rows.
        first: its own first key, where that is not the first there is; values may be missing like those of `until`.
        replaces: rows that the slave has of it, and the master has not, go, and others become the master's.
    """

    number: int
    table: TableName
    order: str
    reached: Key | None = None
    until: Key | None = None
    rows: int = 0
    ended: bool = False
    seen: str = ""
    first: Key | None = None
    replaces: bool = False


class Foreseen(NamedTuple):
    """About how many rows are left of a range, and how long each is in bytes."""

    rows: int = 0
    width: int = 0
