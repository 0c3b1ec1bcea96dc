"""Merging two sorted streams of rows: what is missing, extra and changed is counted exactly (R10)."""

from __future__ import annotations

import pytest

from sluice.verify.difference import SAMPLE, Difference
from sluice.verify.merge_compare import compare, key_of


def found(master: list[bytes], slave: list[bytes]) -> Difference:
    return compare(iter(master), iter(slave))


# name: master, slave, (compared, missing, extra, changed), sample
CASES = {
    "both empty": ([], [], (0, 0, 0, 0), []),
    "equal": ([b"1\ta\n", b"2\tb\n"], [b"1\ta\n", b"2\tb\n"], (2, 0, 0, 0), []),
    "missing first": ([b"1\ta\n", b"2\tb\n"], [b"2\tb\n"], (2, 1, 0, 0), [("missing", "1")]),
    "missing last": ([b"1\ta\n", b"2\tb\n"], [b"1\ta\n"], (2, 1, 0, 0), [("missing", "2")]),
    "extra first": ([b"2\tb\n"], [b"1\ta\n", b"2\tb\n"], (2, 0, 1, 0), [("extra", "1")]),
    "extra last": ([b"1\ta\n"], [b"1\ta\n", b"2\tb\n"], (2, 0, 1, 0), [("extra", "2")]),
    "changed": ([b"1\ta\n"], [b"1\tA\n"], (1, 0, 0, 1), [("changed", "1")]),
    "trailing blank": ([b"1\ta\n"], [b"1\ta \n"], (1, 0, 0, 1), [("changed", "1")]),
    "one for another": ([b"1\ta\n"], [b"2\ta\n"], (2, 1, 1, 0), [("missing", "1"), ("extra", "2")]),
    "all missing": ([b"1\ta\n", b"2\ta\n"], [], (2, 2, 0, 0), [("missing", "1"), ("missing", "2")]),
    "no key, one of three alike": (
        [b"(a)\t(a)\n"] * 3,
        [b"(a)\t(a)\n"] * 2,
        (3, 1, 0, 0),
        [("missing", "(a)")],
    ),
    "by bytes, as C sorts": (
        [b"(Z)\t1\n", b"(a)\t1\n", b"(\xc3\xa4)\t1\n"],
        [b"(Z)\t1\n", b"(\xc3\xa4)\t1\n"],
        (3, 1, 0, 0),
        [("missing", "(a)")],
    ),
    "an escaped key sorts as what it stands for": (
        [b"(\\t)\t1\n", b"( )\t1\n"],
        [b"( )\t1\n"],
        (2, 1, 0, 0),
        [("missing", "(\t)")],
    ),
}


@pytest.mark.parametrize(("master", "slave", "counts", "sample"), CASES.values(), ids=CASES)
def test_differences_are_counted_exactly(master, slave, counts, sample):
    difference = found(master, slave)
    assert (difference.compared, difference.missing, difference.extra, difference.changed) == counts
    assert difference.different == sum(counts[1:])
    assert difference.sample == sample


def test_a_sample_is_kept_and_all_is_counted():
    difference = found([], [b"%04d\tx\n" % number for number in range(SAMPLE + 5)])
    assert difference.extra == SAMPLE + 5
    assert difference.sample == [("extra", f"{number:04d}") for number in range(SAMPLE)]


KEYS = {
    b"(1)\t(1,a)\n": b"(1)",
    b"(a\\tb)\t1\n": b"(a\tb)",
    b"(a\\\\tb)\t1\n": b"(a\\tb)",
    b"(\\b\\f\\n\\r\\v)\t1\n": b"(\b\f\n\r\v)",
    b"(\\.)\t1\n": b"(.)",
}


@pytest.mark.parametrize(("line", "key"), KEYS.items())
def test_a_key_is_read_with_the_escapes_of_copy_undone(line, key):
    assert key_of(line) == key
