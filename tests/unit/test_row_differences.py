"""The rows in which two sides differ are kept, up to a limit, and without values unless these may be kept."""

from __future__ import annotations

import json

import pytest

from sluice.model.key_sample import KeySample
from sluice.model.row_difference import RowDifference
from sluice.vendors.postgresql.read.record_text import values_of
from sluice.verify import bucket_compare
from sluice.verify.difference import LONGEST, Difference, Keeping, RowReader, join
from sluice.verify.merge_compare import compare

MASTER = [b'(1)\t(1,a,"x y")\n', b"(2)\t(2,b,)\n", b"(4)\t(4,d,z)\n"]
SLAVE = [b'(1)\t(1,a,"x y")\n', b'(2)\t(2,B,"")\n', b"(3)\t(3,c,z)\n"]
ALL = {
    "changed": RowDifference("changed", ("2",), ("note", "more"), ("2", "b", None), ("2", "B", "")),
    "extra": RowDifference("extra", ("3",), (), None, ("3", "c", "z")),
    "missing": RowDifference("missing", ("4",), (), ("4", "d", "z"), None),
}


def found(keeping: Keeping, keyed: bool = True) -> Difference:
    reader = RowReader(("id", "note", "more"), keyed, values_of, keeping)
    return compare(iter(MASTER), iter(SLAVE), reader)


def masked(row: RowDifference) -> RowDifference:
    return RowDifference(row.kind, row.key, row.columns)


def test_each_row_is_kept_with_its_key_kind_columns_and_values():
    assert found(Keeping(10, values=True)).rows == list(ALL.values())


def test_values_are_not_kept_unless_they_may_be():
    difference = found(Keeping(10))
    assert difference.rows == [masked(row) for row in ALL.values()]
    assert not any("B" in json.dumps(row) for row in difference.to_json()["rows"])


def test_a_row_without_a_key_is_kept_as_a_digest_unless_values_may_be():
    line = [b"(5,secret)\t(5,secret)\n"]
    kept = []
    for values in (False, True):
        reader = RowReader(("id", "note"), False, values_of, Keeping(10, values=values))
        kept += compare(iter(line), iter([]), reader).rows
    assert kept[1] == RowDifference("missing", ("5", "secret"), (), ("5", "secret"))
    assert len(kept[0].key) == 1
    assert "secret" not in (kept[0].key[0] or "")


def test_beyond_the_limit_rows_are_counted():
    difference = found(Keeping(2))
    assert [row.kind for row in difference.rows] == ["changed", "extra"]
    assert (difference.different, difference.more) == (3, 1)


def test_rows_of_the_slave_alone_take_no_room_where_they_may_be():
    difference = found(Keeping(2, extra=False)).count_extra_as_own()
    assert [row.kind for row in difference.rows] == ["changed", "missing"]
    assert (difference.more, difference.own, difference.ranges) == (0, 1, [])


def test_long_values_are_kept_shortened():
    line = f"(1)\t(1,{'x' * 1000})\n".encode()
    reader = RowReader(("id", "note"), True, values_of, Keeping(1, values=True))
    (row,) = compare(iter([line]), iter([]), reader).rows
    assert row.ours == ("1", "x" * LONGEST + "…")


def test_what_tasks_found_of_ranges_is_joined_in_order():
    parts = [
        ((None, ("4",)), found(Keeping(10))),
        ((("4",), ("8",)), found(Keeping(10))),
        ((("8",), None), found(Keeping(10))),
    ]
    all_ = join(parts, 4)
    assert (all_.compared, all_.different, all_.more) == (12, 9, 5)
    assert all_.ranges == [(("4",), None)], "the last range follows the one before it"
    assert Difference.from_json(json.loads(json.dumps(all_.to_json()))) == all_


def test_rows_in_any_order_are_kept_alike():
    def side(*rows: tuple[bytes, bytes]) -> bucket_compare.Rows:
        return lambda: iter([(key, image, 1) for key, image in rows])

    reader = RowReader(("id", "note"), True, bucket_compare.split_values, Keeping(10, values=True))
    ours = side((b"1", b"1\ta"), (b"2", b"2\t\\N"), (b"4", b"4\tx\\\\y\\tz"))
    theirs = side((b"3", b"3\tc"), (b"2", b"2\t"), (b"1", b"1\ta"))
    assert bucket_compare.compare(ours, theirs, KeySample(), reader).rows == [
        RowDifference("changed", ("2",), ("note",), ("2", None), ("2", "")),
        RowDifference("extra", ("3",), (), None, ("3", "c")),
        RowDifference("missing", ("4",), (), ("4", "x\\y\tz"), None),
    ]


@pytest.mark.parametrize(
    ("image", "values"),
    [
        (b"(1,a)", ["1", "a"]),
        (b"(,)", [None, None]),
        (b"()", [None]),
        (b'("")', [""]),
        (b'("a, b","say ""x""","c\\\\d",\xc3\xa4)', ["a, b", 'say "x"', "c\\d", "ä"]),
        (b'("line\nbreak",2)', ["line\nbreak", "2"]),
    ],
)
def test_the_text_of_a_row_is_split_into_its_values(image, values):
    assert values_of(image) == values
