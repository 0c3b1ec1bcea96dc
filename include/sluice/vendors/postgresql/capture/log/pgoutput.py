"""The messages of PostgreSQL's output plugin `pgoutput`, version 1 of its protocol.

Source: PostgreSQL manual, "Logical Replication Message Formats". All numbers are big-endian.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from struct import Struct, error
from typing import NamedTuple

BEGIN, COMMIT, RELATION, INSERT, UPDATE, DELETE = b"BCRIUD"
# The origin of a transaction, a type of a user, a message that somebody emitted: they say nothing of rows.
IGNORED = frozenset(b"OYM")

_BEGIN = Struct(">xQqI")
_COMMIT = Struct(">xBQQq")
_RELATION = Struct(">xI")
# The replica identity; the number of columns.
_COLUMNS = Struct(">xH")
# The number of a type, and its modifier.
_TYPE_BYTES = 8
_COUNT = Struct(">H")
# Where the first part of a change is named, behind the number of its table.
_PART = _RELATION.size
# The kind of a value, and its length, if it is a text.
_VALUE = Struct(">Bi")
_VALUE_BYTES = _VALUE.size
_PADDING = bytes(_VALUE.size)
_NULL, _UNCHANGED, _TEXT = b"nut"
_KEY, _OLD, _NEW = b"KON"
_BEFORE = (_OLD, _KEY)

# Of both images of a change, with as many columns as a table can have.
MOST_BESIDE_VALUES = 2 * 1600 * _VALUE.size + 1024

# One text of each column; None for NULL.
Row = list[bytes | None]


class Malformed(ValueError):
    """A message is not one of the protocol. Its text names the offset."""


@dataclass(frozen=True)
class Relation:
    """A table as the log knows it at a place: `names` of the columns."""

    oid: int
    schema: str
    table: str
    names: tuple[str, ...]


class Change(NamedTuple):
    """A change of one row. What the log leaves out of a new image, for it did not change, is that of the old one."""

    relation: int
    new: Row | None
    old: Row | None


def begun(data: bytes) -> tuple[int, int]:
    """Of a BEGIN: where its commit stands, and the lower half of the transaction's id."""
    try:
        commit, _, xid = _BEGIN.unpack(data)
    except error:
        raise Malformed(f"a BEGIN has {len(data)} bytes, and not {_BEGIN.size}") from None
    return commit, xid


def committed(data: bytes) -> int:
    """Of a COMMIT: where it ends."""
    try:
        return int(_COMMIT.unpack(data)[2])
    except error:
        raise Malformed(f"a COMMIT has {len(data)} bytes, and not {_COMMIT.size}") from None


def relation(data: bytes) -> Relation:
    """The table that a RELATION describes."""
    reader = _Reader(data)
    (oid,) = reader.take(_RELATION)
    schema, table = reader.text(), reader.text()
    (count,) = reader.take(_COLUMNS)
    names: list[str] = []
    for _ in range(count):
        reader.skip(1)
        names.append(reader.text())
        reader.skip(_TYPE_BYTES)
    reader.end()
    return Relation(oid, schema, table, tuple(names))


def table_in(data: bytes) -> bytes:
    """The number of the table of a RELATION, an INSERT, UPDATE or DELETE, as it is written there."""
    return data[1:5]


def number(table: int) -> bytes:
    """The number of a table as it is written in a message."""
    return _RELATION.pack(table)[1:]


def is_left_out(data: bytes) -> bool:
    """Whether of an INSERT, UPDATE or DELETE the server was asked for the head alone, since it is too long."""
    return len(data) == _RELATION.size


def table_of(data: bytes) -> int:
    """The number of the table that an INSERT, UPDATE or DELETE changes."""
    try:
        (oid,) = _RELATION.unpack_from(data)
    except error:
        raise _cut(len(data), len(data)) from None
    return int(oid)


def change(data: bytes) -> Change:
    """The change that an INSERT, UPDATE or DELETE tells of.

    Raises:
        Malformed: it is cut off, or something else; or a value is left out that the old image does not have.
    """
    # So the kind and the length of a value can be read at once, where it is NULL and nothing follows as well.
    padded, size = data + _PADDING, len(data)
    new: Row | None = None
    old: Row | None = None
    try:
        kind, part, at = data[0], data[_PART], _PART + 1
        if part in _BEFORE and kind != INSERT:
            if part == _KEY:
                raise Malformed("the old image is that of a key alone")
            old, at = _row(padded, at, size, ())
            if kind == UPDATE:
                part, at = data[at], at + 1
        if part == _NEW and kind != DELETE:
            new, at = _row(padded, at, size, old or ())
    except (IndexError, error):
        raise _cut(size, size) from None
    if (new is not None) is (kind == DELETE) or (old is not None) is (kind == INSERT):
        raise Malformed(f"a change has no old image, or another part that it should have, at offset {at}")
    if at != size:
        raise Malformed(f"{size - at} bytes are left at offset {at}")
    return Change(table_of(data), new, old)


def _row(padded: bytes, at: int, size: int, old: Sequence[bytes | None]) -> tuple[Row, int]:
    """Read a row; `old`: what it was, if that is known. Also where it ends."""
    cells: Row = []
    (count,) = _COUNT.unpack_from(padded, at)
    at += _COUNT.size
    for place in range(count):
        kind, length = _VALUE.unpack_from(padded, at)
        if kind == _TEXT:
            begin = at + _VALUE_BYTES
            at = begin + length
            if length < 0 or at > size:
                raise _cut(begin, size)
            cells.append(padded[begin:at])
            continue
        if at >= size:
            raise _cut(at, size)
        at += 1
        if kind == _NULL:
            cells.append(None)
        elif kind == _UNCHANGED and place < len(old):
            cells.append(old[place])
        else:
            raise Malformed(f"a value is of the unknown kind {kind} at offset {at - 1}, or left out")
    return cells, at


def _cut(at: int, size: int) -> Malformed:
    return Malformed(f"it is cut off, or a length lies, at offset {at} of {size}")


class _Reader:
    """Reads one message."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def take(self, what: Struct) -> tuple[int, ...]:
        try:
            found: tuple[int, ...] = what.unpack_from(self._data, self.at)
        except error:
            raise _cut(self.at, len(self._data)) from None
        self.at += what.size
        return found

    def skip(self, count: int) -> None:
        if self.at + count > len(self._data):
            raise _cut(self.at, len(self._data))
        self.at += count

    def text(self) -> str:
        end = self._data.find(b"\0", self.at)
        if end < 0:
            raise _cut(self.at, len(self._data))
        found, self.at = self._data[self.at : end], end + 1
        return found.decode()

    def end(self) -> None:
        if self.at != len(self._data):
            raise Malformed(f"{len(self._data) - self.at} bytes are left at offset {self.at}")


def messages(buffers: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """The messages of a COPY in binary form of two columns, the place of each and its bytes.

    Source: PostgreSQL manual, "COPY", "Binary Format".
    """
    at = 11 + 4 + 4
    for buffer in buffers:
        size = len(buffer)
        while at + 2 < size:
            place, length = _COPIED.unpack_from(buffer, at)
            at += _COPIED.size
            yield place, buffer[at : at + length]
            at += length
        at = 0


# The number of columns, the length of a place, the place; the length of a message.
_COPIED = Struct(">xxxxxxQi")
