"""Cutting the change log into batches: whole transactions only, each of them exactly once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

import pyarrow as pa
import pytest

from sluice.changelog.manifest import Segment
from sluice.changelog.schema import CHANGES
from sluice.changelog.segment_file import SegmentFile
from sluice.drain.batches import read_batches
from sluice.drain.obsolete import without_obsolete
from sluice.model.position import START, Position, Snapshot
from sluice.vendors.postgresql.visibility import read_snapshot


@dataclass
class Kept:
    """Segment files in memory: a list of record batches each."""

    records: dict[str, list[pa.RecordBatch]] = field(default_factory=dict)

    def read(self, written, after):
        return iter(self.records[written.name])


def log(*segments):
    """A log of segments, each a list of record batches, each a list of (ordinal, xid)."""
    files, listed, first = Kept(), [], 1
    for number, records in enumerate(segments, 1):
        name = f"s{number}"
        rows = [[_change(*row) for row in record] for record in records]
        files.records[name] = [pa.RecordBatch.from_pylist(part, CHANGES) for part in rows]
        last = records[-1][-1][0]
        listed.append(Segment(number, SegmentFile(name, "", 0), first, last, sum(map(len, records)), "", ""))
        first = last + 1
    return files, listed


def _change(ordinal, xid=100):
    return {"ordinal": ordinal, "trans_key": str(xid), "repl_key": 1, "layout": 1, "action": "I"}


def sizes(*sizes_of_transactions):
    """One record batch with transactions of these sizes."""
    return [(ordinal,) for ordinal, size in enumerate(sizes_of_transactions, 1) for _ in range(size)]


def together(parts):
    """Batches, of which none is in parts any more."""
    found, held = [], []
    for part in parts:
        held.append(part)
        if part.last:
            changes = pa.concat_tables([one.changes for one in held])
            found.append(replace(part, changes=changes, transactions=sum(one.transactions for one in held)))
            held = []
    assert not held
    return found


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "in parts"])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 1000])
@pytest.mark.parametrize(
    "segments",
    [
        pytest.param([[sizes(1, 2, 3, 1)]], id="one segment"),
        pytest.param([[[(1,), (1,)], [(1,), (2,)], [(2,), (2,)]]], id="transactions across record batches"),
        pytest.param([[[(1,)]], [[(2,), (2,), (2,)]], [[(3,)], [(4,)]]], id="many segments"),
        pytest.param([[[(1,)] * 9], [[(2,)]]], id="one larger than any batch"),
        pytest.param([[sizes(1, 5, 1), [(3,), (4,)], [(4,)] * 5 + [(5,)]]], id="large ones among others"),
    ],
)
def test_batches_hold_whole_transactions_each_once(segments, size, whole, monkeypatch):
    monkeypatch.setattr("sluice.drain.batches.PART", 4)
    files, listed = log(*segments)
    parts = list(read_batches(files, listed, START, size, in_parts=not whole))
    assert all(len(part.changes) <= (4 if whole else 2 * size) for part in parts)
    found = together(parts)
    every = [ordinal for records in segments for record in records for (ordinal, *_) in record]
    delivered = [batch.changes["ordinal"].to_pylist() for batch in found]
    assert [ordinal for batch in delivered for ordinal in batch] == every
    assert all(before[-1] < after[0] for before, after in pairwise(delivered))
    assert [batch.end.ordinal for batch in found] == [batch[-1] for batch in delivered]
    assert list(accumulate(batch.transactions for batch in found)) == [batch.end.ordinal for batch in found]
    assert all(batch.end.ordinal <= listed[batch.end.segment - 1].last_ordinal for batch in found)
    assert all(batch.end.ordinal >= listed[batch.end.segment - 1].first_ordinal for batch in found)


def test_a_batch_is_cut_as_soon_as_it_is_large_enough():
    files, listed = log([sizes(1, 1, 1, 5, 1)])
    ends = [batch.end.ordinal for batch in read_batches(files, listed, START, 3)]
    assert ends == [3, 4, 5]


def test_a_transaction_larger_than_a_batch_comes_alone_and_in_parts():
    files, listed = log([sizes(1, 1, 2)[:3], [(3,)] * 4, [(3,)] * 2, [(4,)]])
    found = [
        (len(one.changes), one.end.ordinal, one.last) for one in read_batches(files, listed, START, 3, in_parts=True)
    ]
    assert found == [(2, 2, True), (3, 3, False), (3, 3, False), (1, 3, True), (1, 4, True)]
    by_weight = [(len(one.changes), one.last) for one in read_batches(files, listed, START, 1000, 1, in_parts=True)]
    assert by_weight == [(2, True), (1, False), (4, False), (2, True), (1, True)]


def test_a_transaction_that_takes_the_slave_a_while_comes_in_parts_however_large_a_batch_may_be(monkeypatch):
    monkeypatch.setattr("sluice.drain.batches.PART", 2)
    files, listed = log([sizes(1, 1, 1), [(4,)] * 3, [(4,), (4,), (5,), (6,), (6,), (6,), (7,)], [(8,), (9,)]])
    found = [
        (len(one.changes), one.end.ordinal, one.last) for one in read_batches(files, listed, START, 99, in_parts=True)
    ]
    assert found == [
        (3, 3, True),
        *((2, 4, False), (2, 4, False), (1, 4, True)),
        (1, 5, True),
        *((2, 6, False), (1, 6, True)),
        (3, 9, True),
    ]


def test_a_transaction_that_is_to_come_as_a_whole_does_unless_it_is_too_large_for_that(monkeypatch):
    monkeypatch.setattr("sluice.drain.batches.PART", 2)
    files, listed = log([sizes(1, 4, 1), [(4,)] * 5, [(5,), (6,), (6,), (6,)]])
    some = read_batches(files, listed, START, 2, in_parts=True, whole=4)
    found = [(one.changes["ordinal"].to_pylist(), one.last) for one in some]
    whole = [([1, *[2] * 4], True), ([3], True)]
    assert found == [*whole, *(([4] * rows, rows == 1) for rows in (2, 2, 1)), ([5, 6, 6, 6], True)]
    heavy = read_batches(files, listed, START, 2, 1, in_parts=True, whole=99)
    assert [one.last for one in heavy if set(one.changes["ordinal"].to_pylist()) == {4}] == [False] * 2 + [True]


def test_a_batch_of_wide_rows_ends_with_the_record_in_which_it_is_large_enough():
    files, listed = log([sizes(1, 2, 1)], [[(4,), (4,)], [(4,), (5,)]])
    found = [batch.changes["ordinal"].to_pylist() for batch in read_batches(files, listed, START, 1000, 1)]
    assert found == [[1, 2, 2, 3], [4, 4, 4], [5]]


def test_nothing_is_read_beyond_the_last_transaction_that_is_wanted():
    files, listed = log([sizes(1, 2, 1)], [[(4,), (4,)], [(5,), (6,)]], [[(7,)]])
    for until in range(1, 7):
        found = together(read_batches(files, listed, START, 1000, until=until))
        assert [(one.end.ordinal, one.end.segment) for one in found] == [(until, 1 if until < 4 else 2)]


def test_a_log_without_a_segment_has_no_batch():
    assert not list(read_batches(Kept(), [], START, 1000))


def test_what_the_slave_has_is_not_delivered_again():
    files, listed = log([sizes(2, 2, 2)])
    (only,) = read_batches(files, listed, Position(1, 2), 100)
    assert (only.changes["ordinal"].to_pylist(), only.transactions) == ([3, 3], 1)


def test_exactly_what_the_first_load_saw_is_obsolete():
    files, listed = log([[(1, 99), (2, 100), (3, 101), (4, 105), (5, 106)]])
    (read,) = read_batches(files, listed, START, 100)
    only = without_obsolete(read, read_snapshot(Snapshot("100:106:101,105")))
    assert only.changes["trans_key"].to_pylist() == ["101", "105", "106"]
    assert (only.end.ordinal, only.transactions) == (5, 5)
