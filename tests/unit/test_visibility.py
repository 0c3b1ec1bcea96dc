"""Which transactions a snapshot of PostgreSQL shows; nothing else is read as one."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pytest

from sluice.changelog.schema import CHANGES
from sluice.drain.batches import Batch
from sluice.drain.obsolete import without_obsolete
from sluice.model.position import Position, Snapshot
from sluice.vendors.postgresql.visibility import read_snapshot

SHOWN = {"99": True, "100": True, "101": False, "104": True, "105": False, "106": False, "4294967400": False}
ODD = [
    "",
    "100",
    "100:106",
    "100:106:101,",
    "a:b:",
    "0-1-2",
    "1:2:3:4",
    "-1:2:",
    "1:2:\u0663",
    "123456789012345678901:1:",
]


@pytest.mark.parametrize(("transaction", "shown"), SHOWN.items(), ids=SHOWN)
def test_a_transaction_is_shown_or_newer(transaction, shown):
    seen = read_snapshot(Snapshot("100:106:101,105"))
    assert seen.sees(transaction) is shown
    assert seen.are_newer(pa.chunked_array([[transaction]])).to_pylist() == [not shown]


def test_snapshots_are_sorted_by_the_time_at_which_they_were_taken():
    taken = ["100:100:", "100:106:101,103,105", "100:106:101,105", "105:110:105"]
    read = [read_snapshot(Snapshot(text)) for text in taken]
    assert sorted(read, key=lambda one: one.age) == read
    assert [one.since for one in read] == ["100", "100", "100", "105"]


@dataclass(frozen=True)
class ShownByNumber:
    """What a snapshot of another vendor shows, which is one number, as an SCN or a place in a binlog."""

    number: int
    since: str = ""

    @property
    def age(self):
        return (self.number,)

    def sees(self, transaction):
        return int(transaction, 16) <= self.number

    def are_newer(self, transactions):
        return pa.chunked_array([[not self.sees(one) for one in transactions.to_pylist()]])


def test_the_core_reads_no_transaction_and_no_snapshot_itself():
    rows = [{"ordinal": place, "trans_key": key} for place, key in enumerate(("a", "1f", "ff"), 1)]
    batch = Batch(pa.Table.from_pylist(rows, CHANGES), Position(1, 3), 3)
    left = without_obsolete(batch, ShownByNumber(0x1F))
    assert left.changes["trans_key"].to_pylist() == ["ff"]
    assert (left.end, left.transactions) == (batch.end, 3)


@pytest.mark.parametrize("text", ODD)
def test_what_is_no_snapshot_is_refused(text):
    with pytest.raises(ValueError, match="is no snapshot of PostgreSQL"):
        read_snapshot(Snapshot(text))
