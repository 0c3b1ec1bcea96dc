"""Messages of `pgoutput`: a change is read whole, or refused with the offset at which it is wrong."""

from __future__ import annotations

import random
from contextlib import suppress
from struct import pack

import pytest

from sluice.vendors.postgresql.capture.log.changed_rows import MalformedChange, images
from sluice.vendors.postgresql.capture.log.pgoutput import Change, Malformed, change, committed, relation

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


def together(messages):
    """Both rows of each change, all read at once."""
    return [side.to_pylist() for side in images(list(enumerate(messages)))]


def alone(messages):
    """The same, one change after the other."""
    read = [change(data) for data in messages]
    return [
        [row and [None if cell is None else cell.decode() for cell in row] for row in side]
        for side in ([one.new for one in read], [one.old for one in read])
    ]


def test_many_changes_at_once_have_the_values_of_each_alone():
    messages = [data for data, _ in READ]
    for turn in range(40):
        dice = random.Random(turn)
        chosen = dice.choices(messages, k=dice.randint(0, 30))
        assert together(chosen) == alone(chosen)


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
    with pytest.raises(MalformedChange) as raised:
        images([(7, INSERT), (8, data), (9, UPDATE)])
    assert (raised.value.place, raised.value.data) == (8, data)


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
    for turn in range(20_000):
        data = bytearray(dice.choice(READ)[0])
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(len(data))] = dice.choice((0, 1, 255, *b"tnuONKIUD", dice.randrange(256)))
        for read in (change, relation, committed):
            with suppress(Malformed, UnicodeDecodeError):
                found = read(bytes(data))
                values = [*(found.new or ()), *(found.old or ())] if read is change else []
                assert sum(map(len, filter(None, values))) <= 2 * len(data)
        if turn % 10 == 0:
            assert outcome(together, [INSERT, bytes(data), DELETE]) == outcome(alone, [INSERT, bytes(data), DELETE])


def outcome(read, messages):
    try:
        return read(messages)
    except (Malformed, UnicodeDecodeError) as error:
        return str(error)
