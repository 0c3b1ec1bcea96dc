"""The keys of changed rows are taken from the log; where it does not tell all of them, all rows of a table count."""

from __future__ import annotations

from types import SimpleNamespace

import pyarrow as pa
import pytest

from sluice.changelog import changed_keys
from sluice.changelog.changed_keys import ChangedKeys, expect_kept
from sluice.changelog.manifest import Segment
from sluice.changelog.schema import CHANGES
from sluice.changelog.segment_file import SegmentFile
from sluice.changelog.segment_files import not_as_published
from sluice.errors import LogTrimmed, SluiceError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.position import START, Position

NAME, OTHER, GONE = (TableName("public", name) for name in ("t", "u", "gone"))
COLUMNS = (Column("a", "integer", True), Column("b", "text", True), Column("c", "text"))
PLAIN, LATE, WIDER, BARE, OF_OTHER, OF_GONE, OF_NEXT = LAYOUTS = (
    Layout(1, NAME, COLUMNS, (1, 0)),
    Layout(2, NAME, COLUMNS, (1, 0), deferrable=True),
    Layout(3, NAME, (*COLUMNS, Column("d", "text")), (1, 0)),
    Layout(4, NAME, COLUMNS),
    Layout(5, OTHER, COLUMNS, (0,)),
    Layout(6, GONE, COLUMNS, (0,)),
    Layout(7, GONE, COLUMNS, (0,)),
)


class Log:
    """A log in memory: a manifest and files in one. Each segment has some changes, a transaction each."""

    def __init__(self, *segments, begins=1):
        self.rows, self.segments, ordinal = {}, [], 0
        for number, rows in enumerate(segments, 1):
            first, ordinal = ordinal + 1, ordinal + len(rows)
            self.rows[str(number)] = [
                {"ordinal": first + n, "trans_key": "1", "repl_key": n, **row} for n, row in enumerate(rows)
            ]
            if number >= begins:
                self.segments.append(
                    Segment(number, SegmentFile(str(number), "", 0), first, ordinal, len(rows), "i", "")
                )

    def kept_segments(self):
        return self.segments

    def layouts(self, numbers):
        return {one.id: one for one in LAYOUTS if one.id in numbers}

    def read(self, written, after):
        yield pa.RecordBatch.from_pylist(self.rows[written.name], CHANGES)

    def changed(self, after=START, now=PLAIN):
        found = ChangedKeys(self, self, after, {NAME}, {NAME, OTHER})
        found.read_to(self.segments[-1].end)
        return found.find(now)


def row(action, new=None, old=None, layout=PLAIN):
    return {"action": action, "new": new, "old": old, "layout": layout.id if layout else 0}


INSERT, DELETE = row("I", ["1", "x", None]), row("D", None, ["2", "y", "z"])
# What the log has, and the keys, in the order of the primary key.
TOLD = {
    "each kind": ([INSERT, DELETE, row("U", ["4", "v", None], ["3", "w", None])], {"x1", "y2", "w3", "v4"}),
    "a deleted row in the other place": ([row("D", ["2", "y", "z"])], {"y2"}),
    "an update that left the key": ([row("U", ["1", "x", "new"])], {"x1"}),
    "marks and other tables": ([INSERT, row("C"), row("C", layout=None), row("T", layout=OF_OTHER)], {"x1"}),
    "nothing": ([row("I", ["1", "x", None], layout=OF_OTHER)], set()),
    "a table that was dropped": ([row("I", ["1", "x", None], layout=OF_GONE), row("X", ["{}"], layout=OF_GONE)], set()),
}


@pytest.mark.parametrize(("rows", "keys"), TOLD.values(), ids=TOLD)
def test_keys_before_and_behind_each_change_are_taken(rows, keys):
    assert {"".join(key) for key in Log(rows).changed()} == keys


UNTOLD = {
    "emptied": [INSERT, row("T")],
    "created, altered or dropped": [row("A", ["{}"]), INSERT],
    "all nodes": [INSERT, row("S", ["{}"], layout=None)],
    "definition": [INSERT, row("I", ["1", "x", None, None], layout=WIDER)],
    "definition was another": [row("I", ["1", "x", None], layout=BARE)],
    "which row it was": [row("U", ["1", "x", "new"], layout=LATE)],
    "say of a change which": [row("D")],
    "all of a key": [row("D", None, [None, "y", "z"])],
    "so many": [row("I", [str(number), "x", None]) for number in range(4)],
    "public.gone was changed": [row("X", ["{}"], layout=OF_GONE), row("I", ["1", "x", None], layout=OF_GONE)],
}


@pytest.mark.parametrize(("why", "rows"), UNTOLD.items())
def test_all_rows_count_where_the_log_does_not_tell_them(monkeypatch, why, rows):
    monkeypatch.setattr(changed_keys, "MOST_OF_A_TABLE", 3)
    assert why in Log(rows).changed()
    # Also if that is in another segment than what came before or comes behind.
    assert why in Log([INSERT], rows, [INSERT]).changed()


def test_a_table_with_a_key_that_is_checked_late_is_told_by_images():
    rows = [row("U", ["1", "x", "new"], ["2", "x", "old"], layout=LATE)]
    assert Log(rows).changed(now=LATE) == {("x", "1"), ("x", "2")}


def test_a_source_that_was_restored_since_is_compared_as_a_whole():
    log = Log([INSERT], [INSERT])
    log.segments[1] = SimpleNamespace(**vars(log.segments[1]) | {"incarnation": "other", "end": log.segments[1].end})
    assert "restored" in log.changed()
    # The rows that were lost may be those just before the position.
    assert "restored" in log.changed(Position(1, 1))
    assert log.changed(Position(2, 2)) == set()


def test_a_table_that_took_the_name_of_a_renamed_one_and_was_dropped_hides_nothing():
    log = Log([row("I", ["1", "x", None], layout=OF_GONE)], [row("X", ["{}"], layout=OF_NEXT)])
    assert "public.gone was changed" in log.changed()


@pytest.mark.parametrize(
    ("after", "keys"), [(Position(1, 1), {"y2", "x1"}), (Position(1, 2), {"x1"}), (Position(2, 3), set())]
)
def test_changes_behind_the_position_alone_are_read(after, keys):
    assert {"".join(key) for key in Log([DELETE, DELETE], [INSERT]).changed(after)} == keys


def test_what_was_trimmed_is_missed_also_while_it_is_read():
    log = Log([INSERT], [INSERT], [INSERT], begins=2)
    with pytest.raises(LogTrimmed, match=r"SLC-620: .* go back to 0/0 any more; .* is 1/1\b"):
        log.changed()
    assert len(expect_kept(log, Position(1, 1), Position(3, 3))) == 2
    with pytest.raises(LogTrimmed):
        expect_kept(log, Position(3, 3), Position(4, 4))
    keys = ChangedKeys(log, log, Position(1, 1), {NAME}, {NAME})

    def gone(*_):
        raise not_as_published("2", "it is gone")

    log.read = gone
    with pytest.raises(SluiceError, match="SLC-047"):
        keys.read_to(Position(3, 3))
    del log.segments[0]
    with pytest.raises(LogTrimmed):
        keys.read_to(Position(3, 3))
