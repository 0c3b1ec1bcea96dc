"""The messages of PostgreSQL's output plugin `pgoutput`, version 1 of its protocol.

Source: PostgreSQL manual, "Logical Replication Message Formats". All numbers are big-endian.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct, error

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
_LENGTH = Struct(">i")
_NULL, _UNCHANGED, _TEXT = b"nut"
_KEY, _OLD, _NEW = b"KON"

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


@dataclass(frozen=True)
class Change:
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


def change(data: bytes) -> Change:
    """The change that an INSERT, UPDATE or DELETE tells of.

    Raises:
        Malformed: it is cut off, or something else; or a value is left out that the old image does not have.
    """
    reader = _Reader(data)
    (oid,) = reader.take(_RELATION)
    kind, part = data[0], reader.byte()
    old: Row | None = None
    if part in (_OLD, _KEY) and kind in (UPDATE, DELETE):
        if part == _KEY:
            raise Malformed("the old image is that of a key alone")
        old = reader.row(None)
        part = reader.byte() if kind == UPDATE else 0
    new = reader.row(old) if part == _NEW and kind in (INSERT, UPDATE) else None
    if (new is None) is (kind != DELETE) or (old is None) is (kind != INSERT):
        raise Malformed(f"a change has no old image, or another part that it should have, at offset {reader.at}")
    reader.end()
    return Change(oid, new, old)


class _Reader:
    """Reads one message."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def take(self, what: Struct) -> tuple[int, ...]:
        try:
            found: tuple[int, ...] = what.unpack_from(self._data, self.at)
        except error:
            raise self._cut() from None
        self.at += what.size
        return found

    def byte(self) -> int:
        self.skip(1)
        return self._data[self.at - 1]

    def skip(self, count: int) -> None:
        if self.at + count > len(self._data):
            raise self._cut()
        self.at += count

    def text(self) -> str:
        end = self._data.find(b"\0", self.at)
        if end < 0:
            raise self._cut()
        found, self.at = self._data[self.at : end], end + 1
        return found.decode()

    def row(self, old: Row | None) -> Row:
        """A row; `old`: what it was, if that is known."""
        data, size, length_at = self._data, len(self._data), _LENGTH.unpack_from
        (count,) = self.take(_COUNT)
        at = self.at
        cells: Row = []
        append = cells.append
        try:
            for place in range(count):
                kind = data[at]
                at += 1
                if kind == _TEXT:
                    (length,) = length_at(data, at)
                    begin = at + 4
                    at = begin + length
                    if length < 0 or at > size:
                        self.at = begin
                        raise self._cut()
                    append(data[begin:at])
                elif kind == _NULL:
                    append(None)
                elif kind == _UNCHANGED and old is not None and place < len(old):
                    append(old[place])
                else:
                    raise Malformed(f"a value is of the unknown kind {kind} at offset {at - 1}, or left out")
        except (IndexError, error):
            self.at = at
            raise self._cut() from None
        self.at = at
        return cells

    def end(self) -> None:
        if self.at != len(self._data):
            raise Malformed(f"{len(self._data) - self.at} bytes are left at offset {self.at}")

    def _cut(self) -> Malformed:
        return Malformed(f"it is cut off, or a length lies, at offset {self.at} of {len(self._data)}")


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
