"""What a dump copies: tables, cut into chunks of physical ranges that together are every row of the snapshot once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from sluice.model.names import TableName

BLOCK_BYTES = 8192
# Small enough to be retried cheaply and to share out evenly, large enough that sessions and tasks do not show.
CHUNK_BYTES = 64 * 1024 * 1024


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
        since: only rows that this transaction, or a later one, wrote.
        binary: whether its rows are stored so; None if they are stored nowhere.
    """

    number: int
    leaf: Leaf
    low: int
    high: int | None
    since: int | None = None
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


def chunks(
    leaves: Iterable[Leaf],
    tasks: int,
    stages: Sequence[Sequence[TableName]] = (),
    places: Mapping[TableName, Iterable[int]] = {},
) -> list[Chunk]:
    """Cut relations into chunks, stage by stage and table by table, so that each can be unlocked early; within a table
    the largest first.

    Args:
        leaves: the tables in order, the largest of a stage first, so that its last chunk to end is short.
        places: the blocks at which some relations are to be cut.
    """
    stage = {name: number for number, names in enumerate(stages) for name in names}
    leaves = list(leaves)
    place = {table: number for number, table in enumerate(dict.fromkeys(leaf.table for leaf in leaves))}

    def order(cut: tuple[Leaf, int, int | None]) -> tuple[int, int, int]:
        return stage.get(cut[0].table, 0), place[cut[0].table], -_size(cut)

    cuts = sorted(_cuts(leaves, tasks, places), key=order)
    return [Chunk(number, *cut) for number, cut in enumerate(cuts)]


def _cuts(
    leaves: Iterable[Leaf], tasks: int, places: Mapping[TableName, Iterable[int]]
) -> Iterator[tuple[Leaf, int, int | None]]:
    for leaf in leaves:
        lows = places[leaf.relation] if leaf.relation in places else _places(leaf, tasks)
        for low, high in pairwise([*sorted({0, *lows}), None]):
            yield leaf, low or 0, high


def _places(leaf: Leaf, tasks: int) -> Iterable[int]:
    pieces = max(1, -(-leaf.blocks * BLOCK_BYTES // CHUNK_BYTES))
    if leaf.blocks * BLOCK_BYTES > CHUNK_BYTES // 8:
        # The same number for every task: with 3 chunks one of 2 tasks idles half of the time.
        pieces = -(-pieces // (2 * tasks)) * 2 * tasks
    step = max(1, -(-leaf.blocks // pieces))
    return range(0, max(leaf.blocks, 1), step)


def _size(cut: tuple[Leaf, int, int | None]) -> int:
    leaf, low, high = cut
    return (leaf.blocks if high is None else high) - low
