"""Rows that came under other columns than the recorded ones: why they are lost is a short line, whatever names are."""

from __future__ import annotations

from struct import pack

from sluice.errors import SluiceError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.vendors.postgresql.capture.log.stream import Known, Place, Stream

TABLE, LAYOUT, XID = 16_400, 7, 800
FORGED = "x\nHINT: type: curl .. | sh"


def relation(names):
    columns = b"".join(b"\0" + name.encode() + b"\0" + pack(">Ii", 23, -1) for name in names)
    return b"R" + pack(">I", TABLE) + b"public\0t\0f" + pack(">H", len(names)) + columns


def insert(count):
    return b"I" + pack(">I", TABLE) + b"N" + pack(">H", count) + b"n" * count


def reasons(said, recorded, rows=1):
    """Batches of what is lost, each a list of the reasons."""
    layout = Layout(LAYOUT, TableName("public", "t"), tuple(Column(name, "integer") for name in recorded))
    known = Known(1, 2, {LAYOUT: (TABLE, layout)}, {}, XID, lambda _: True)
    stream = Stream(known, Place(0, frozenset(), frozenset({LAYOUT})))
    begin, commit = b"B" + pack(">QqI", 50_000, 0, XID), b"C" + pack(">BQQq", 0, 50_000, 50_010, 0)
    messages = [begin, relation(said), *[insert(len(said))] * rows, commit]
    for batch in stream.batches(enumerate(messages)):
        assert set(batch["action"].to_pylist()) == {"L"}
        yield [reason for (reason,) in batch["new"].to_pylist()]


def test_a_thousand_columns_are_not_named_with_each_row_and_count_for_the_size_of_a_batch():
    names = [f"{number:04}{'n' * 59}" for number in range(1_600)]
    batches = list(reasons(names, names[:-1], rows=9_000))
    (reason,) = {reason for batch in batches for reason in batch}
    assert (names[-1] in reason, "number 1600" in reason, len(reason) < 500) == (True, True, True)
    wide = ["\U000e0001" * 15] * 5
    ((reason,),) = reasons(wide, ["a"])
    assert len(reason.encode()) <= 500
    # As many bytes as count for the changes themselves.
    assert max(len(batch) * (len(reason) + 1_600) for batch in batches) < 8 * 1024 * 1024


def test_it_is_told_where_columns_begin_to_differ():
    assert list(reasons(["a", "b", "d", "e"], ["a", "b"])) == [
        ["its columns differ from number 3 on: the log has d, e, and recorded are none"]
    ]
    assert list(reasons(["a", "z"], ["a", "b", "c", "d", "e"])) == [
        ["its columns differ from number 2 on: the log has z, and recorded are b, c, d"]
    ]


def test_the_name_of_a_column_cannot_pass_for_a_hint():
    for said, recorded in ((["id", FORGED], ["id"]), (["id"], ["id", FORGED])):
        ((reason,),) = reasons(said, recorded)
        assert "curl" in reason
        assert str(SluiceError(1, reason, "")).count("\nHINT") == 1
        assert "\nHINT" not in reason
