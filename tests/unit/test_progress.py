"""How far a load is, its rate and what is left: what an earlier attempt brought is in, and was not brought now."""

from __future__ import annotations

from sluice.initial_update.progress import Done, progress
from sluice.model.names import TableName
from sluice.vendors.protocol.read import Chunk, Leaf

MB = 1_000_000


def test_rate_and_time_left_are_those_of_this_attempt():
    found = progress(Done(100 * MB, 10), Done(60 * MB, 6, 6000), Done(70 * MB, 7, 7000), 10)
    assert (found.rows, found.rows_per_s) == (7000, 100)
    assert (found.bytes, found.bytes_planned, found.chunks_done) == (70 * MB, 100 * MB, 7)
    assert found.seconds_left == 30
    assert found.summary == "7,000 rows, 70.0 of 100.0 MB, 100 rows/s, 0:00:30 left"


def test_nobody_knows_the_time_left_before_anything_came():
    found = progress(Done(100 * MB, 10), Done(60 * MB, 6, 6000), Done(60 * MB, 6, 6000), 10)
    assert (found.rows_per_s, found.seconds_left) == (0, None)
    assert progress(Done(), Done(), Done(), 10).seconds_left == 0


def test_tables_without_rows_are_some_work():
    assert progress(Done(0, 4), Done(), Done(0, 1), 5).seconds_left == 15


def test_a_chunk_is_as_large_as_its_blocks():
    leaf = Leaf(TableName("public", "t"), TableName("public", "t"), 100 * 8192, 100)
    assert Chunk(0, leaf, 0, 40).bytes == 40 * 8192
    assert Chunk(1, leaf, 40, None).bytes == 60 * 8192
    assert Chunk(2, leaf, 0, None, since=7).bytes == 0
    assert Chunk(3, leaf, 120, None).bytes == 0
