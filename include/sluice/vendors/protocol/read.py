"""Reading a master in chunks and key ranges: an initial update, in tasks that may be anywhere."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from sluice.errors import SluiceError

if TYPE_CHECKING:
    from sluice.model.names import TableName

# The name of a format in which rows stand in buffers.
RowFormat = str
# One row a line as COPY writes it, each value in its canonical text (`include/docs/types.md`): every vendor reads it.
TEXT: RowFormat = "text"


@dataclass
class TakenFormats:
    """The formats in which a slave takes rows: `TEXT`, and those that its vendor knows beside it.

    Attributes:
        as_text: tables that take `TEXT` alone, since the types of their columns are not the master's.
    """

    known: Collection[RowFormat] = ()
    as_text: set[TableName] = field(default_factory=set)

    def takes(self, table: TableName, form: RowFormat) -> bool:
        """Whether rows of a table may come in a format."""
        return form == TEXT or (form in self.known and table not in self.as_text)


def agreed(table: TableName, offered: Sequence[RowFormat], slaves: Collection[TakenFormats]) -> RowFormat:
    """The first of the formats which the master offers for a table that all slaves take."""
    return next((form for form in offered if all(slave.takes(table, form) for slave in slaves)), TEXT)


@dataclass(frozen=True)
class Leaf:
    """A relation that holds rows of a watched table: the table itself, or one of its partitions.

    Attributes:
        bytes: about how large it is where it is read.
        extent: its rows lie at the addresses ``[0, extent)``, and later ones beyond. Only the vendor knows what an
            address is; a relation that cannot be cut has one.
        written_as: another text once its rows were written to another file, or its capture was interrupted.
    """

    table: TableName
    relation: TableName
    bytes: int
    extent: int
    written_as: str = ""


@dataclass(frozen=True)
class Chunk:
    """Rows of one relation whose addresses are in ``[low, high)``; `high` None has no end.

    Attributes:
        since: only rows that this transaction, or a later one, wrote; as `Visibility.since` gives it.
        stored: the format in which its rows are stored; None if they are stored nowhere.
    """

    number: int
    leaf: Leaf
    low: int
    high: int | None
    since: str | None = None
    stored: RowFormat | None = None

    @property
    def bytes(self) -> int:
        """About how large it is where it is read; 0 if it is read for its newer rows alone."""
        if self.since is not None:
            return 0
        high = self.leaf.extent if self.high is None else self.high
        return max(high - self.low, 0) * self.leaf.bytes // max(self.leaf.extent, 1)


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


def another_key(table: TableName) -> SluiceError:
    """The keys of a range are sorted otherwise than when it was begun."""
    return SluiceError(
        79,
        f"{table} has another primary key since it began to be loaded in blocks",
        "trigger initial_update again, it begins anew",
    )


class Foreseen(NamedTuple):
    """About how many rows are left of a range, and how long each is in bytes."""

    rows: int = 0
    width: int = 0
