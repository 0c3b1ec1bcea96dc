"""How far a load is, its rate and what is left: what an earlier attempt brought is in, and was not brought now."""

from __future__ import annotations

import pytest

from sluice.initial_update.progress import LoadedAmount, by_table, progress
from sluice.model.names import TableName
from sluice.model.progress import ComparisonProgress, LoadProgress, TableState
from sluice.vendors.protocol.read import Chunk, Leaf

MB = 1_000_000


def test_rate_and_time_left_are_those_of_this_attempt():
    found = progress(LoadedAmount(100 * MB, 10), LoadedAmount(60 * MB, 6, 6000), LoadedAmount(70 * MB, 7, 7000), 10)
    assert (found.rows, found.rows_per_s) == (7000, 100)
    assert (found.bytes, found.bytes_planned, found.chunks_done) == (70 * MB, 100 * MB, 7)
    assert found.seconds_left == 30
    assert found.rows_planned == 10_000
    shown = "7,000 of about 10,000 rows, 70.0 of 100.0 MB, 100 rows/s, 0:00:30 left"
    assert (found.summary, found.text) == (shown, f"7 of 10 chunks, {shown}")


def test_nobody_knows_the_time_left_before_anything_came():
    found = progress(LoadedAmount(100 * MB, 10), LoadedAmount(60 * MB, 6, 6000), LoadedAmount(60 * MB, 6, 6000), 10)
    assert (found.rows_per_s, found.seconds_left) == (0, None)
    assert progress(LoadedAmount(), LoadedAmount(), LoadedAmount(), 10).seconds_left == 0


def test_tables_without_rows_are_some_work():
    assert progress(LoadedAmount(0, 4), LoadedAmount(), LoadedAmount(0, 1), 5).seconds_left == 15


def test_a_chunk_is_as_large_as_its_blocks():
    leaf = Leaf(TableName("public", "t"), TableName("public", "t"), 100 * 8192, 100)
    assert Chunk(0, leaf, 0, 40).bytes == 40 * 8192
    assert Chunk(1, leaf, 40, None).bytes == 60 * 8192
    assert Chunk(2, leaf, 0, None, since=7).bytes == 0
    assert Chunk(3, leaf, 120, None).bytes == 0


def test_tables_are_at_work_in_the_order_in_which_tasks_take_their_chunks():
    sizes = {"a": 2, "b": 3, "c": 1, "d": 1}
    leaves = {one: Leaf(TableName("public", one), TableName("public", one), 8192, 1) for one in sizes}
    tables = [one for one, chunks in sizes.items() for _ in range(chunks)]
    chunks = [Chunk(number, leaves[table], 0, None) for number, table in enumerate(tables)]

    def states(*done: int, at_once: int = 2) -> list[str]:
        return [one.state for one in by_table(chunks, dict.fromkeys(done, 10), at_once)]

    waiting, running, done = TableState.WAITING, TableState.RUNNING, TableState.DONE
    assert states() == [running, waiting, waiting, waiting]
    assert states(0) == [running, running, waiting, waiting]
    assert states(0, 1, 2, 4) == [done, running, running, waiting]
    assert states(*range(7)) == [done] * 4
    found = by_table(chunks, {0: 7, 1: 5, 2: 9}, 2)
    assert (found[0].rows, found[1].chunks_done, found[1].bytes, found[1].bytes_planned) == (12, 1, 8192, 3 * 8192)
    told = LoadProgress(7, 3, 21, by_table=found)
    assert told.tables == "1 of 4 tables; public.b: 1 of 3 chunks, 9 rows, 0.0 of 0.0 MB"
    assert LoadProgress(7, 3, 21).tables == ""


@pytest.mark.parametrize(
    ("first", "now", "planned", "rate", "left", "text"),
    [
        ((0, 0), (0, 0), 900, None, None, "0 of about 900 rows, 0 of 4 parts"),
        ((0, 0), (1, 300), 900, 30, 20, "300 of about 900 rows, 1 of 4 parts, 30 rows/s, 0:00:20 left"),
        ((1, 300), (2, 400), 900, 10, 50, "400 of about 900 rows, 2 of 4 parts, 10 rows/s, 0:00:50 left"),
        ((0, 0), (1, 300), None, 30, 30, "300 rows, 1 of 4 parts, 30 rows/s, 0:00:30 left"),
        ((0, 0), (2, 1000), 900, 100, 10, "1,000 rows, 2 of 4 parts, 100 rows/s, 0:00:10 left"),
        ((0, 0), (4, 800), 900, 80, 0, "800 rows, 4 of 4 parts, 80 rows/s"),
    ],
    ids=["nothing yet", "by rows", "after an earlier try", "by parts", "more rows than thought", "all"],
)
def test_a_comparison_says_what_is_done_of_what_is_expected(first, now, planned, rate, left, text):
    told = ComparisonProgress.at(first, now, 4, planned, 10)
    assert (told.rows_per_s, told.seconds_left, told.text) == (rate, left, text)
