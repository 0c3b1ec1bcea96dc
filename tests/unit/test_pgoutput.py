"""Messages of `pgoutput`: a change is read whole, or refused with the offset at which it is wrong."""

from __future__ import annotations

import random
from contextlib import suppress
from struct import pack

import pytest

from sluice.vendors.postgresql.capture.log.pgoutput import Change, Malformed, change, committed, read_change, relation

TABLE = 16_400
# A value out of line that did not change.
UNCHANGED = object()


def row(*values: object) -> bytes:
    return pack(">H", len(values)) + b"".join(map(cell, values))


def cell(value: object) -> bytes:
    if value is UNCHANGED:
        return b"u"
    return b"n" if value is None else b"t" + pack(">i", len(value)) + value


def message(kind: bytes, *parts: bytes) -> bytes:
    return kind + pack(">I", TABLE) + b"".join(parts)


INSERT = message(b"I", b"N", row(b"1", None, b""))
UPDATE = message(b"U", b"O", row(b"1", b"a" * 300, None), b"N", row(b"2", UNCHANGED, b"x"))
DELETE = message(b"D", b"O", row(b"1", None))
READ = [
    (INSERT, Change(TABLE, [b"1", None, b""], None)),
    (UPDATE, Change(TABLE, [b"2", b"a" * 300, b"x"], [b"1", b"a" * 300, None])),
    (DELETE, Change(TABLE, None, [b"1", None])),
    (message(b"I", b"N", row()), Change(TABLE, [], None)),
]


@pytest.mark.parametrize(("data", "read"), READ)
def test_a_change_has_the_values_of_both_rows(data, read):
    assert change(data) == read


def test_values_come_behind_those_of_the_changes_before():
    new, old = [], []
    assert [read_change(data, new, old) for data, _ in READ] == [
        (True, False),
        (True, True),
        (False, True),
        (True, False),
    ]
    assert new == [b"1", None, b"", b"2", b"a" * 300, b"x"]
    assert old == [b"1", b"a" * 300, None, b"1", None]


@pytest.mark.parametrize(
    "data",
    [
        message(b"U", b"N", row(b"1")),
        message(b"U", b"K", row(b"1"), b"N", row(b"1")),
        message(b"I", b"O", row(b"1")),
        message(b"D", b"N", row(b"1")),
        message(b"I", b"N", row(UNCHANGED)),
        message(b"U", b"O", row(b"1"), b"N", row(b"1", UNCHANGED)),
        message(b"I", b"N", pack(">H", 1), b"b", pack(">i", 1), b"1"),
        message(b"I", b"N", pack(">H", 1), b"t", pack(">i", -2), b"11"),
        message(b"I", b"N", pack(">H", 1), b"t", pack(">i", 2**31 - 1), b"11"),
        message(b"I", b"N", pack(">H", 65_535), b"n"),
    ],
)
def test_what_no_change_has_is_refused(data):
    with pytest.raises(Malformed, match=r"offset \d+|key alone"):
        change(data)


@pytest.mark.parametrize("data", [data for data, _ in READ])
def test_a_change_that_is_cut_off_or_too_long_is_refused_with_the_offset(data):
    for end in range(1, len(data)):
        with pytest.raises(Malformed, match=r"offset \d+"):
            change(data[:end])
    with pytest.raises(Malformed, match=f"1 bytes are left at offset {len(data)}"):
        change(data + b"\0")


def test_bytes_that_were_changed_at_random_are_read_or_refused():
    """No other error, no value that was not sent, and no memory for a length that lies."""
    dice = random.Random(2013)
    for _ in range(20_000):
        data = bytearray(dice.choice(READ)[0])
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(len(data))] = dice.choice((0, 1, 255, *b"tnuONKIUD", dice.randrange(256)))
        for read in (change, relation, committed):
            with suppress(Malformed, UnicodeDecodeError):
                found = read(bytes(data))
                values = [*(found.new or ()), *(found.old or ())] if read is change else []
                assert sum(map(len, filter(None, values))) <= 2 * len(data)
