"""The plan of a dump: tables cut into chunks of physical ranges, which have each row of the snapshot exactly once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from sluice.model.names import TableName
from sluice.vendors.protocol.read import Chunk, Leaf

# Small enough to be retried cheaply and to share out evenly, large enough that sessions and tasks do not show.
CHUNK_BYTES = 64 * 1024 * 1024


def chunks(
    leaves: Iterable[Leaf],
    tasks: int,
    stages: Sequence[Sequence[TableName]] = (),
    boundaries: Mapping[TableName, Iterable[int]] = {},
) -> list[Chunk]:
    """Cut relations into chunks, stage by stage and table by table, so that each can be unlocked early; within a table
    the largest first.

    Args:
        leaves: the tables in order, the largest of a stage first, so that its last chunk to end is short.
        boundaries: the addresses at which some relations are to be cut.
    """
    stage = {name: number for number, names in enumerate(stages) for name in names}
    leaves = list(leaves)
    table_number = {table: number for number, table in enumerate(dict.fromkeys(leaf.table for leaf in leaves))}

    def order(chunk: Chunk) -> tuple[int, int, int]:
        table = chunk.leaf.table
        return stage.get(table, 0), table_number[table], -chunk.bytes

    cuts = sorted(_cuts(leaves, tasks, boundaries), key=order)
    return [replace(chunk, number=number) for number, chunk in enumerate(cuts)]


def _cuts(leaves: Iterable[Leaf], tasks: int, boundaries: Mapping[TableName, Iterable[int]]) -> Iterator[Chunk]:
    for leaf in leaves:
        lows = boundaries[leaf.relation] if leaf.relation in boundaries else _boundaries(leaf, tasks)
        for low, high in pairwise([*sorted({0, *lows}), None]):
            yield Chunk(0, leaf, low or 0, high)


def _boundaries(leaf: Leaf, tasks: int) -> Iterable[int]:
    pieces = max(1, -(-leaf.bytes // CHUNK_BYTES))
    if leaf.bytes > CHUNK_BYTES // 8:
        # The same number for every task: with 3 chunks one of 2 tasks idles half of the time.
        pieces = -(-pieces // (2 * tasks)) * 2 * tasks
    step = max(1, -(-leaf.extent // pieces))
    return range(0, max(leaf.extent, 1), step)
