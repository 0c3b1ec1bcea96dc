"""The payloads of the protocol's frames, as values."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag

from sluice.relay.frames import MalformedFrame

_LOGIN = struct.Struct("<QIII")
_ACCEPTED = struct.Struct("<QII")
_EVENT = struct.Struct("<BQI")
_SIZE = struct.Struct("<I")


class Kind(IntFlag):
    """Kinds of events."""

    INSERT = 1
    UPDATE = 2
    DELETE = 4


ALL = Kind.INSERT | Kind.UPDATE | Kind.DELETE


class Discard(IntEnum):
    """The event that goes when a filter's queue is full."""

    NEW_EVENTS = 0
    OLDEST = 1
    NEWEST = 2
    """The same as NEW_EVENTS: the event that comes is the newest one."""


@dataclass(frozen=True)
class Login:
    """The payload of `Command.AUTHENTICATE`."""

    auth_key: int
    name: str

    def encoded(self) -> bytes:
        name = self.name.encode() + b"\0"
        return _LOGIN.pack(self.auth_key, 0, 0, len(name)) + name

    @classmethod
    def decoded(cls, payload: bytes) -> Login:
        """Raises MalformedFrame."""
        fields = _Fields(payload)
        auth_key, _, _ = fields.number("<Q"), fields.number("<I"), fields.number("<I")
        return cls(auth_key, fields.text())


@dataclass(frozen=True)
class Accepted:
    """The payload of the reply to a login."""

    auth_key: int
    token: int
    client_id: int

    def encoded(self) -> bytes:
        return _ACCEPTED.pack(self.auth_key, self.token, self.client_id)

    @classmethod
    def decoded(cls, payload: bytes) -> Accepted:
        """Raises MalformedFrame."""
        if len(payload) != _ACCEPTED.size:
            raise MalformedFrame(f"the reply to a login has {len(payload)} bytes")
        return cls(*_ACCEPTED.unpack(payload))


@dataclass(frozen=True)
class Filter:
    """The payload of `Command.ADD_FILTER`: a wish for events of one table. Without a kind it wishes for none.

    Attributes:
        limit: most events in the queue; 0: any number.
    """

    schema: str
    table: str
    kinds: Kind = ALL
    discard: Discard = Discard.NEW_EVENTS
    limit: int = 0

    def encoded(self) -> bytes:
        numbers = struct.pack("<BBI", self.kinds, self.discard, self.limit)
        return numbers + _sized(self.schema) + _sized(self.table)

    @classmethod
    def decoded(cls, payload: bytes) -> Filter:
        """Raises MalformedFrame."""
        fields = _Fields(payload)
        kinds, discard, limit = fields.number("<B"), fields.number("<B"), fields.number("<I")
        if kinds & ~int(ALL):
            raise MalformedFrame(f"a filter's type 0x{kinds:02x} has unknown flags")
        if discard > max(Discard):
            raise MalformedFrame(f"a filter's discard type 0x{discard:02x} is unknown")
        return cls(fields.text(), fields.text(), Kind(kinds), Discard(discard), limit)


@dataclass(frozen=True)
class ColumnImage:
    """One column of an event; a value that the event has not is empty, NULL is the text NULL."""

    name: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Event:
    """The payload of the reply to a poll.

    Attributes:
        position: its place in the change log, see `sluice.relay.log_reader`.
        left: events that wait in the queue after it.
    """

    kind: Kind
    position: int
    schema: str
    table: str
    columns: tuple[ColumnImage, ...] = ()
    left: int = field(default=0, compare=False)

    def encoded(self) -> bytes:
        return event_head(self.kind, self.position, self.left) + event_body(
            self.schema, self.table, ((one.name, one.before, one.after) for one in self.columns)
        )

    @classmethod
    def decoded(cls, payload: bytes) -> Event:
        """Raises MalformedFrame."""
        fields = _Fields(payload)
        kind, position, left = fields.number("<B"), fields.number("<Q"), fields.number("<I")
        schema, table, count = fields.text(), fields.text(), fields.number("<I")
        columns = tuple(ColumnImage(fields.text(), fields.text(), fields.text()) for _ in range(count))
        return cls(Kind(kind), position, schema, table, columns, left)


def event_head(kind: int, position: int, left: int) -> bytes:
    """The part of an event that may differ from client to client."""
    return _EVENT.pack(kind, position, min(left, 0xFFFFFFFF))


def event_body(schema: str, table: str, columns: Iterable[tuple[str, str, str]]) -> bytes:
    """The rest of it; columns are name, before and after."""
    parts = [text for column in columns for text in map(_sized, column)]
    return b"".join([_sized(schema), _sized(table), _SIZE.pack(len(parts) // 3), *parts])


def _sized(text: str) -> bytes:
    raw = text.encode()
    return _SIZE.pack(len(raw) + 1) + raw + b"\0"


class _Fields:
    """The fields of a payload, one after the other; bytes after the last one say nothing."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self._at = 0

    def number(self, form: str) -> int:
        (found,) = struct.unpack(form, self._bytes(struct.calcsize(form)))
        return int(found)

    def text(self) -> str:
        raw = self._bytes(self.number("<I")).removesuffix(b"\0")
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            raise MalformedFrame("a text is not UTF-8") from None
        if "\0" in text:
            raise MalformedFrame("a text has a zero byte before its end")
        return text

    def _bytes(self, size: int) -> bytes:
        found = self._payload[self._at : self._at + size]
        if len(found) < size:
            raise MalformedFrame("the payload ends within a field")
        self._at += size
        return found
