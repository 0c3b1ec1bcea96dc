"""Format `b`: lengths, names and values in big-endian, without any quotes.

A message is one statement, or a batch. Each statement follows its length, which counts its LSN; the letter P after it
says that another one comes, F that none does. In all statements of one form the same bytes stand before each value, and
a form that comes often is recognised by them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct

from sluice.errors import SluiceError
from sluice.model.action import Action
from sluice.model.names import TableName
from sluice.vendors.gaussdb.capture.slot.envelope import is_heartbeat
from sluice.vendors.gaussdb.capture.slot.identifiers import unquoted
from sluice.vendors.gaussdb.capture.slot.known_forms import KnownForms
from sluice.vendors.gaussdb.capture.slot.malformed import malformed, text_of
from sluice.vendors.gaussdb.capture.slot.records import Begin, Commit, Decoded, Field, Form, Records

_U16, _U32, _U64 = Struct(">H"), Struct(">I"), Struct(">Q")
_HEAD = Struct(">IQ")
_length_at = _U32.unpack_from
_NULL = 0xFFFFFFFF
_ACTIONS = {b"I": Action.INSERT, b"U": Action.UPDATE, b"D": Action.DELETE}
# The images that a change can have; the new one comes first.
_IMAGES = {Action.INSERT: (b"N",), Action.UPDATE: (b"N", b"O"), Action.DELETE: (b"O",)}
Value = bytes | None


@dataclass(frozen=True)
class _Reader:
    """Takes statements of one form: the bytes before each value, and how many they are."""

    form: Form
    parts: tuple[tuple[bytes, int], ...]

    def values(self, message: bytes, place: int, end: int) -> list[Value] | None:
        """The values of the statement that begins and ends there; None if it is of another form, or malformed."""
        values: list[Value] = []
        try:
            for part, size in self.parts:
                if not message.startswith(part, place):
                    return None
                place += size
                (length,) = _length_at(message, place)
                place += 4
                if length == _NULL:
                    values.append(None)
                else:
                    after = place + length
                    values.append(message[place:after])
                    place = after
        except struct.error:
            return None
        if place != end:
            return None
        return values if _are_texts(values) else None


def _are_texts(values: Sequence[Value]) -> bool:
    try:
        together = b"\0".join(values)  # type: ignore[arg-type]
    except TypeError:
        values = [value for value in values if value is not None]
        together = b"\0".join(values)  # type: ignore[arg-type]
    if not together.isascii():
        try:
            together.decode()
        except UnicodeDecodeError:
            return False
    return together.count(0) == max(len(values) - 1, 0)


class BinaryDecoder:
    """Decodes messages of format `b`, one after the other. The ends of statements say where a batch goes on."""

    def __init__(self) -> None:
        self._forms: KnownForms[_Reader] = KnownForms()
        self.records = Records()

    def feed(self, message: bytes, lsn: int | None = None) -> None:
        """Take a message.

        Raises:
            SluiceError: SLC-420; what came since it was taken last cannot be taken any more.
        """
        try:
            self.records.expect_room(len(message))
            if not is_heartbeat("b", message, (b"F",)):
                self._statements(message)
        except SluiceError:
            self.records.fail()
            raise

    def taken(self) -> Decoded:
        """All that was decoded since it was taken last."""
        return self.records.taken()

    def _statements(self, message: bytes) -> None:
        place, most = 0, len(message)
        while True:
            if place + _U32.size > most:
                raise malformed("b", place, "the message ends without the letter or the zero that ends it")
            (length,) = _U32.unpack_from(message, place)
            if length == 0:
                place += _U32.size
                break
            end = place + _U32.size + length
            if length <= 8 or end >= most:
                raise malformed("b", place, f"a length of {length:,} where {most - place - 4:,} bytes follow")
            _, lsn = _HEAD.unpack_from(message, place)
            self._statement(message, place + _HEAD.size, end, lsn)
            place = end + 1
            letter = message[end:place]
            if letter == b"F":
                break
            if letter != b"P":
                raise malformed("b", end, f"{letter!r} where P or F is to follow a statement")
        if place != most:
            raise malformed("b", place, "bytes follow the end of the message")

    def _statement(self, message: bytes, place: int, end: int, lsn: int) -> None:
        beginning = message[place : _named(message, place, end)]
        for reader in self._forms.at(beginning):
            values = reader.values(message, place, end)
            if values is not None:
                self.records.change(reader.form, values, lsn)
                return
        statement = _Statement(message, place, end)
        kind = statement.letter()
        if kind in _ACTIONS:
            self._change(statement, _ACTIONS[kind], lsn, beginning)
        elif kind == b"B":
            self._begin(statement)
        elif kind == b"C":
            self._commit(statement, lsn)
        else:
            raise malformed("b", place, f"no kind of statement has the letter {kind!r}")

    def _change(self, statement: _Statement, action: Action, lsn: int, beginning: bytes) -> None:
        schema, table = statement.named(_U16), statement.named(_U16)
        images: dict[bytes, list[Field]] = {}
        values: list[Value] = []
        parts: list[tuple[bytes, int]] = []
        begin = statement.begin
        while not statement.is_over:
            place = statement.place
            letter = statement.letter()
            if letter not in _IMAGES[action]:
                raise malformed("b", place, f"{letter!r} where an image of such a change is to begin")
            if letter in images or (letter == b"N" and images):
                raise malformed("b", place, "an image too many")
            fields = images[letter] = []
            for _ in range(statement.number(_U16)):
                place = statement.place
                field = Field(unquoted(statement.named(_U16)), statement.number(_U32))
                if any(field.name == one.name for one in fields):
                    raise malformed("b", place, "a second column of this name")
                fields.append(field)
                parts.append((statement.message[begin : statement.place], statement.place - begin))
                values.append(statement.value())
                begin = statement.place
        new, old = (tuple(images[letter]) if letter in images else None for letter in (b"N", b"O"))
        form = Form(TableName(schema, table), action, new, old)
        self.records.change(form, values, lsn)
        if form.width and begin == statement.end and self._forms.comes_often(form, form.width):
            self._forms.learn(beginning, _Reader(form, tuple(parts)), form.width)

    def _begin(self, statement: _Statement) -> None:
        csn, first = statement.number(_U64), statement.number(_U64)
        xid = statement.number(_U64) if statement.has(b"X") else None
        time = statement.counted() if statement.has(b"T") else None
        user = statement.counted() if statement.has(b"N") else None
        origin = statement.number(_U32) if statement.has(b"O") else None
        statement.expect_end()
        self.records.begin(Begin(len(self.records), xid, csn, first, time, user, origin))

    def _commit(self, statement: _Statement, lsn: int) -> None:
        xid = statement.number(_U64) if statement.has(b"X") else None
        time = statement.counted() if statement.has(b"T") else None
        statement.expect_end()
        self.records.commit(Commit(len(self.records), xid, None, lsn, time))


def _named(message: bytes, place: int, end: int) -> int:
    """Where the names of a change's table end, if it is one and they end within the statement; else where it begins."""
    try:
        cut = place + 3 + _U16.unpack_from(message, place + 1)[0]
        cut += 2 + _U16.unpack_from(message, cut)[0]
    except struct.error:
        return place
    return cut if cut <= end else place


class _Statement:
    """Reads the parts of a statement, none of them beyond its end."""

    def __init__(self, message: bytes, place: int, end: int) -> None:
        self.message = message
        self.begin = self.place = place
        self.end = end

    @property
    def is_over(self) -> bool:
        return self.place == self.end

    def letter(self) -> bytes:
        return self._next(1)

    def has(self, letter: bytes) -> bool:
        """Take the letter, if it is the next one."""
        found = self.place < self.end and self.message.startswith(letter, self.place)
        self.place += found
        return found

    def number(self, kind: Struct) -> int:
        found: int = kind.unpack(self._next(kind.size))[0]
        return found

    def named(self, kind: Struct) -> str:
        """A name after its length."""
        place = self.place
        if not (name := self.counted(kind)):
            raise malformed("b", place, "a name without a letter")
        return name

    def counted(self, kind: Struct = _U32) -> str:
        """A text after its length."""
        length = self.number(kind)
        place = self.place
        return text_of("b", self._next(length), place)

    def value(self) -> Value:
        """A value after its length, checked to be a text."""
        length = self.number(_U32)
        if length == _NULL:
            return None
        place = self.place
        raw = self._next(length)
        text_of("b", raw, place)
        return raw

    def expect_end(self) -> None:
        if not self.is_over:
            raise malformed("b", self.place, "the statement does not end here")

    def _next(self, count: int) -> bytes:
        if self.place + count > self.end:
            raise malformed("b", self.place, f"{count:,} bytes are to follow, and {self.end - self.place:,} do")
        self.place += count
        return self.message[self.place - count : self.place]
