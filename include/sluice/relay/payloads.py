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


class EventKind(IntFlag):
    """Kinds of events."""

    INSERT = 1
    UPDATE = 2
    DELETE = 4
    TRUNCATE = 8
    DDL = 16


ROWS = EventKind.INSERT | EventKind.UPDATE | EventKind.DELETE
ALL = ROWS | EventKind.TRUNCATE | EventKind.DDL


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

    def encode(self) -> bytes:
        name = self.name.encode() + b"\0"
        return _LOGIN.pack(self.auth_key, 0, 0, len(name)) + name

    @classmethod
    def decode(cls, payload: bytes) -> Login:
        """Raises MalformedFrame."""
        fields = _Fields(payload)
        auth_key, _, _ = fields.number("<Q"), fields.number("<I"), fields.number("<I")
        return cls(auth_key, fields.text())


@dataclass(frozen=True)
class LoginReply:
    """The payload of the reply to a login."""

    auth_key: int
    token: int
    client_id: int

    def encode(self) -> bytes:
        return _ACCEPTED.pack(self.auth_key, self.token, self.client_id)

    @classmethod
    def decode(cls, payload: bytes) -> LoginReply:
        """Raises MalformedFrame."""
        if len(payload) != _ACCEPTED.size:
            raise MalformedFrame(f"the reply to a login has {len(payload)} bytes")
        return cls(*_ACCEPTED.unpack(payload))


@dataclass(frozen=True)
class Filter:
    """The payload of `Command.ADD_FILTER`: a wish for events of one table. Without a kind it takes all wishes back.

    Attributes:
        limit: most events in the queue; 0: any number.
    """

    schema: str
    table: str
    kinds: EventKind = ALL
    discard: Discard = Discard.NEW_EVENTS
    limit: int = 0

    def encode(self) -> bytes:
        numbers = struct.pack("<BBI", self.kinds, self.discard, self.limit)
        return numbers + _text_field(self.schema) + _text_field(self.table)

    @classmethod
    def decode(cls, payload: bytes) -> Filter:
        """Raises MalformedFrame."""
        fields = _Fields(payload)
        kinds, discard, limit = fields.number("<B"), fields.number("<B"), fields.number("<I")
        if kinds & ~int(ALL):
            raise MalformedFrame(f"a filter's type 0x{kinds:02x} has unknown flags")
        if discard > max(Discard):
            raise MalformedFrame(f"a filter's discard type 0x{discard:02x} is unknown")
        return cls(fields.text(), fields.text(), EventKind(kinds), Discard(discard), limit)


@dataclass(frozen=True)
class ColumnImage:
    """One column of an event; a value that the event has not is empty, NULL is the text NULL.

    Bytes that are no text are in it as Python's `surrogateescape` has them: `after.encode(errors="surrogateescape")`.
    """

    name: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class RelayEvent:
    """The payload of the reply to a poll.

    Attributes:
        position: its place in the change log, see `sluice.relay.log_reader`.
        left: events that wait in the queue after it.
    """

    kind: EventKind
    position: int
    schema: str
    table: str
    columns: tuple[ColumnImage, ...] = ()
    left: int = field(default=0, compare=False)

    def encode(self) -> bytes:
        return event_head(self.kind, self.position, self.left) + event_body(
            self.schema, self.table, ((column.name, _raw(column.before), _raw(column.after)) for column in self.columns)
        )

    @classmethod
    def decode(cls, payload: bytes) -> RelayEvent:
        """Raises MalformedFrame."""
        fields = _Fields(payload)
        kind, position, remaining = fields.number("<B"), fields.number("<Q"), fields.number("<I")
        schema, table, count = fields.text(), fields.text(), fields.number("<I")
        columns = tuple(ColumnImage(fields.text(), fields.value(), fields.value()) for _ in range(count))
        return cls(EventKind(kind), position, schema, table, columns, remaining)


def event_head(kind: int, position: int, remaining: int) -> bytes:
    """The part of an event that may differ from client to client."""
    return _EVENT.pack(kind, position, min(remaining, 0xFFFFFFFF))


def event_body(schema: str, table: str, columns: Iterable[tuple[str, bytes, bytes]]) -> bytes:
    """The rest of it; columns are name, before and after."""
    parts = [part for name, *values in columns for part in (_text_field(name), *map(_bytes_field, values))]
    return b"".join([_text_field(schema), _text_field(table), _SIZE.pack(len(parts) // 3), *parts])


def add_numbers(body: bytes, instance: int) -> bytes:
    """A body as `Command.POLL_EVENT_V2` has it: the instance's number first, and the number 0 before each name."""
    fields, none = _Fields(body), _SIZE.pack(0)
    parts = [_SIZE.pack(instance), none, _bytes_field(fields.raw()), none, _bytes_field(fields.raw())]
    parts.append(_SIZE.pack(count := fields.number("<I")))
    for _ in range(count):
        parts += [none, *(_bytes_field(fields.raw()) for _ in range(3))]
    return b"".join(parts)


def _text_field(text: str) -> bytes:
    return _bytes_field(text.encode())


def _bytes_field(raw: bytes) -> bytes:
    return _SIZE.pack(len(raw) + 1) + raw + b"\0"


def _raw(value: str) -> bytes:
    return value.encode(errors="surrogateescape")


class _Fields:
    """The fields of a payload, one after the other; bytes after the last one say nothing."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self._at = 0

    def number(self, form: str) -> int:
        (value,) = struct.unpack(form, self._bytes(struct.calcsize(form)))
        return int(value)

    def raw(self) -> bytes:
        return self._bytes(self.number("<I")).removesuffix(b"\0")

    def value(self) -> str:
        return self.raw().decode(errors="surrogateescape")

    def text(self) -> str:
        try:
            text = self.raw().decode()
        except UnicodeDecodeError:
            raise MalformedFrame("a text is not UTF-8") from None
        if "\0" in text:
            raise MalformedFrame("a text has a zero byte before its end")
        return text

    def _bytes(self, size: int) -> bytes:
        field_bytes = self._payload[self._at : self._at + size]
        if len(field_bytes) < size:
            raise MalformedFrame("the payload ends within a field")
        self._at += size
        return field_bytes
