"""Cutting tables into chunks: together they are every block once, and tasks end at about the same time."""

from __future__ import annotations

import pytest

from sluice.initial_update.chunks.plan import CHUNK_BYTES, chunks
from sluice.model.names import TableName
from sluice.vendors.protocol.read import TEXT, Chunk, Leaf, TakenFormats, agreed

NAME = TableName("public", "t")
BLOCK_BYTES = 8192
WHOLE = CHUNK_BYTES // BLOCK_BYTES


def leaf(blocks: int, table: str = "t") -> Leaf:
    return Leaf(NAME, TableName("public", table), blocks * BLOCK_BYTES, blocks)


def covered(cut: list[Chunk]) -> bool:
    """Whether the ranges follow each other from block 0 without gap or overlap, the last one without an end."""
    ranges = sorted((one.low, one.high) for one in cut if one.high is not None)
    last = [one.low for one in cut if one.high is None]
    ends = [0, *(high for _, high in ranges)]
    return [low for low, _ in ranges] + last == ends


@pytest.mark.parametrize("tasks", [1, 2, 16])
@pytest.mark.parametrize("blocks", [0, 1, 7, WHOLE // 8, WHOLE // 8 + 1, WHOLE, WHOLE + 1, 10 * WHOLE + 3, 1_000_003])
def test_the_chunks_of_a_table_are_all_of_it_once(blocks, tasks):
    assert covered(chunks([leaf(blocks)], tasks))


@pytest.mark.parametrize(
    ("blocks", "pieces"),
    [(0, 1), (1, 1), (WHOLE // 8, 1), (WHOLE // 2, 4), (WHOLE, 4), (WHOLE + 1, 4), (10 * WHOLE, 12)],
)
def test_a_small_table_is_one_chunk_and_a_middling_one_keeps_all_tasks_busy(blocks, pieces):
    assert len(chunks([leaf(blocks)], 2)) == pieces


def test_chunks_are_numbered_largest_first_over_all_tables():
    cut = chunks([leaf(5, "small"), leaf(3 * WHOLE, "large"), leaf(50, "middling")], 2)
    assert [one.number for one in cut] == list(range(len(cut)))
    assert [one.leaf.relation.table for one in cut] == ["large"] * 4 + ["middling", "small"]


def test_a_large_relation_that_cannot_be_cut_is_one_chunk():
    whole = Leaf(NAME, NAME, 10 * CHUNK_BYTES, 1)
    assert [(one.low, one.high, one.bytes) for one in chunks([whole], 2)] == [(0, None, 10 * CHUNK_BYTES)]


def test_relations_with_other_addresses_are_ordered_by_their_bytes():
    rows = Leaf(NAME, TableName("public", "by_rows"), 1000, 1_000_000)
    cut = chunks([rows, leaf(50, "by_blocks")], 2)
    assert [one.leaf.relation.table for one in cut] == ["by_blocks", "by_rows"]


def test_rows_travel_in_the_fastest_format_that_all_slaves_take():
    offered, other = ["fast", "slow", TEXT], TableName("public", "other")
    both, slow, none = TakenFormats({"fast", "slow"}, {other}), TakenFormats({"slow"}), TakenFormats()
    assert agreed(NAME, offered, [both]) == "fast"
    assert agreed(NAME, offered, [both, slow]) == "slow"
    assert agreed(NAME, offered, [both, slow, none]) == agreed(other, offered, [both]) == TEXT
    assert agreed(NAME, [TEXT], [both]) == agreed(NAME, ["unknown", TEXT], [both]) == TEXT


def test_no_table_is_no_chunk():
    assert chunks([], 2) == []


def test_what_has_a_lower_sequence_is_cut_first_however_small():
    late = Leaf(TableName("public", "late"), TableName("public", "late"), 50 * BLOCK_BYTES, 50)
    cut = chunks([late, leaf(1)], 2, [[NAME], [late.table]])
    assert [one.leaf.relation.table for one in cut] == ["t", "late"]
