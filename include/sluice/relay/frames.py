"""The frames of the protocol: a request has a header of 32 bytes, a reply one of 9; all numbers are little-endian."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

VERSION = 0x00010020
# The upper half of a version: requests of all versions with it are alike.
_ALIKE = VERSION >> 16
_REQUEST = struct.Struct("<HHIIIIIII")
_REPLY = struct.Struct("<BII")
REQUEST_BYTES, REPLY_BYTES = _REQUEST.size, _REPLY.size
_MASK = 0xFFFFFFFF


class MalformedFrame(ValueError):
    """Bytes that are no frame of this protocol; the text says why."""


class RelayCommand(IntEnum):
    """The command of a request."""

    PING = 1
    AUTHENTICATE = 2
    ADD_FILTER = 3
    POLL_EVENT = 4
    POLL_EVENT_V2 = 5
    """The same, with a number before each name."""


POLLS = (RelayCommand.POLL_EVENT, RelayCommand.POLL_EVENT_V2)


class Result(IntEnum):
    """The result of a reply; what is none of these is an error, too."""

    OK = 0x00
    DISCONNECTED = 0xF0
    EMPTY = 0xFC
    ERROR = 0xFF


@dataclass(frozen=True)
class RequestHeader:
    """The header of a request, whose payload is still to come."""

    command: int
    subcommand: int
    size: int
    version: int
    client_id: int
    token: int
    checksum: int

    @classmethod
    def decode(cls, header: bytes) -> RequestHeader:
        """The header in 32 bytes; the two reserved fields say nothing."""
        return cls(*_REQUEST.unpack(header)[:7])


@dataclass(frozen=True)
class Request:
    """A request of a client."""

    command: int
    payload: bytes = b""
    client_id: int = 0
    token: int = 0
    subcommand: int = 0
    version: int = VERSION

    def encode(self) -> bytes:
        """Its frame."""
        fields = self.command, self.subcommand, len(self.payload), self.version, self.client_id, self.token
        return _REQUEST.pack(*fields, (sum(fields) + sum(self.payload)) & _MASK, 0, 0) + self.payload

    @property
    def is_understood(self) -> bool:
        """Whether its version is one of this protocol."""
        return self.version >> 16 == _ALIKE

    @classmethod
    def decode(cls, header: RequestHeader, payload: bytes, left_out: int = 0) -> Request:
        """The request of a header and its payload. Raises MalformedFrame if the checksum is wrong.

        Args:
            left_out: the sum of the payload's bytes that were read and not kept.
        """
        fields = header.command, header.subcommand, header.size, header.version, header.client_id, header.token
        if (sum(fields) + sum(payload) + left_out) & _MASK != header.checksum:
            raise MalformedFrame("the checksum is wrong")
        return cls(header.command, payload, header.client_id, header.token, header.subcommand, header.version)


@dataclass(frozen=True)
class Reply:
    """A reply of the server."""

    result: int
    payload: bytes = b""

    def encode(self) -> bytes:
        """Its frame, as one piece: some clients read it in one call."""
        return reply_frame(self.result, self.payload, sum(self.payload))

    @classmethod
    def error(cls, text: str) -> Reply:
        """An error with its text, null-terminated."""
        return cls(Result.ERROR, text.encode() + b"\0")

    @classmethod
    def decode(cls, header: ReplyHeader, payload: bytes) -> Reply:
        """The reply of a header and its payload. Raises MalformedFrame if the checksum is wrong."""
        if (header.result + header.size + sum(payload)) & _MASK != header.checksum:
            raise MalformedFrame("the checksum of a reply is wrong")
        return cls(header.result, payload)

    @property
    def text(self) -> str:
        """The payload of an error as text."""
        return self.payload.rstrip(b"\0").decode(errors="replace")


@dataclass(frozen=True)
class ReplyHeader:
    """The header of a reply, whose payload is still to come."""

    result: int
    size: int
    checksum: int

    @classmethod
    def decode(cls, header: bytes) -> ReplyHeader:
        """The header in 9 bytes."""
        return cls(*_REPLY.unpack(header))


def reply_frame(result: int, payload: bytes, byte_sum: int) -> bytes:
    """The frame of a reply; `byte_sum` is the sum of the payload's bytes."""
    return _REPLY.pack(result, len(payload), (result + len(payload) + byte_sum) & _MASK) + payload
