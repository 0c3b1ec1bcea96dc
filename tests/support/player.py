"""A player: the server's side of the replication protocol, which plays what a GaussDB would send to a real client.

Source: PostgreSQL manual, "Frontend/Backend Protocol", and "Streaming Replication Protocol".
"""

from __future__ import annotations

import hashlib
import socket
import struct
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from sluice.connections import ConnectionInfo

PASSWORD = "secret"
_SSL, _GSS, _CANCEL = 80877103, 80877104, 80877102
_PARAMETERS = {
    "server_version": "9.2.4",
    "client_encoding": "UTF8",
    "server_encoding": "UTF8",
    "standard_conforming_strings": "on",
    "DateStyle": "ISO, YMD",
    "integer_datetimes": "on",
    "TimeZone": "UTC",
}


@dataclass(frozen=True)
class Data:
    """A message of the plugin."""

    lsn: int
    message: bytes


@dataclass(frozen=True)
class Alive:
    """A keepalive."""

    lsn: int
    wants_answer: bool = False


@dataclass(frozen=True)
class Pause:
    """Nothing, for so long."""

    seconds: float


@dataclass(frozen=True)
class Cut:
    """The connection ends after so many bytes of a message."""

    lsn: int
    message: bytes
    bytes: int


@dataclass(frozen=True)
class Raw:
    """A frame of these bytes."""

    data: bytes


@dataclass(frozen=True)
class Refusal:
    """An error of the server, which ends the stream."""

    text: str


Played = Data | Alive | Pause | Cut | Raw | Refusal


@dataclass
class Player:
    """One server that plays its part to each client.

    Attributes:
        commands: those that clients sent.
        flushed: the places that clients confirmed.
    """

    part: Sequence[Played]
    target: int = 0
    silent: bool = False
    commands: list[str] = field(default_factory=list)
    flushed: list[int] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)

    def serve(self, peer: socket.socket) -> None:
        """Talk with one client."""
        self._log_in(peer)
        while message := _message(peer):
            kind, body = message
            if kind != b"Q":
                return
            command = body.rstrip(b"\0").decode()
            self.commands.append(command)
            if command == "IDENTIFY_SYSTEM":
                _identify(peer, self.target)
            elif command.startswith("START_REPLICATION"):
                _send(peer, b"W", struct.pack(">bH", 0, 0))
                self._play(peer)
                return

    def _log_in(self, peer: socket.socket) -> None:
        while True:
            (length,) = struct.unpack(">I", _exactly(peer, 4))
            body = _exactly(peer, length - 4)
            (version,) = struct.unpack_from(">I", body)
            if version not in (_SSL, _GSS):
                break
            peer.sendall(b"N")
        words = body[4:].split(b"\0")
        self.options = {name.decode(): value.decode() for name, value in zip(words[::2], words[1::2], strict=False)}
        salt = b"salt"
        _send(peer, b"R", struct.pack(">I", 5) + salt)
        found = _message(peer)
        inner = hashlib.md5((PASSWORD + self.options["user"]).encode()).hexdigest().encode()
        right = b"md5" + hashlib.md5(inner + salt).hexdigest().encode() + b"\0"
        assert found == (b"p", right), found
        _send(peer, b"R", struct.pack(">I", 0))
        for name, value in _PARAMETERS.items():
            _send(peer, b"S", f"{name}\0{value}\0".encode())
        _send(peer, b"K", struct.pack(">II", 1, 2))
        _ready(peer)

    def _play(self, peer: socket.socket) -> None:
        place = 0
        for one in self.part:
            match one:
                case Data(lsn, message):
                    place = max(place, lsn)
                    _send(peer, b"d", _data(lsn, message))
                case Alive(lsn, wants):
                    place = max(place, lsn)
                    _send(peer, b"d", struct.pack(">cQqB", b"k", lsn, 0, wants))
                case Raw(data):
                    _send(peer, b"d", data)
                case Pause(seconds):
                    end = time.monotonic() + seconds
                    while (left := end - time.monotonic()) > 0:
                        self._hear(peer, left)
                case Cut(lsn, message, count):
                    whole = _data(lsn, message)
                    peer.sendall((b"d" + struct.pack(">I", len(whole) + 4) + whole)[:count])
                    return
                case Refusal(text):
                    _send(peer, b"E", b"SERROR\0C58000\0M" + text.encode() + b"\0\0")
                    _ready(peer)
                    return
        # From here on it says how far it is to whom asks.
        while self._hear(peer, 30):
            if not self.silent:
                _send(peer, b"d", struct.pack(">cQqB", b"k", max(place, self.target), 0, 0))

    def _hear(self, peer: socket.socket, seconds: float) -> bool:
        """Take what the client sends; false once it is gone."""
        peer.settimeout(seconds)
        try:
            message = _message(peer)
        except TimeoutError:
            return True
        finally:
            peer.settimeout(30)
        if message is None or message[0] != b"d":
            return False
        self.flushed.append(struct.unpack_from(">cQQ", message[1])[2])
        return True


@contextmanager
def playing(
    part: Iterable[Played], target: int = 0, *, silent: bool = False
) -> Iterator[tuple[Player, ConnectionInfo]]:
    """A player that listens on the loopback, and the connection that leads to it."""
    player = Player(list(part), target, silent)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            while True:
                try:
                    peer, _ = listening.accept()
                except OSError:
                    return
                with peer:
                    peer.settimeout(30)
                    try:
                        player.serve(peer)
                    except OSError:
                        continue

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        port = listening.getsockname()[1]
        yield player, ConnectionInfo("postgres", "127.0.0.1", port, "shop", "sluice", PASSWORD)
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def _data(lsn: int, message: bytes) -> bytes:
    return struct.pack(">cQQq", b"w", lsn, lsn, 0) + message


def _identify(peer: socket.socket, target: int) -> None:
    columns = ("systemid", "timeline", "xlogpos", "dbname")
    values = ("7", "1", f"{target >> 32:X}/{target & 0xFFFFFFFF:X}", "shop")
    described = b"".join(name.encode() + b"\0" + struct.pack(">IHIhiH", 0, 0, 25, -1, -1, 0) for name in columns)
    _send(peer, b"T", struct.pack(">H", len(columns)) + described)
    row = b"".join(struct.pack(">I", len(value)) + value.encode() for value in values)
    _send(peer, b"D", struct.pack(">H", len(values)) + row)
    _send(peer, b"C", b"IDENTIFY_SYSTEM\0")
    _ready(peer)


def _ready(peer: socket.socket) -> None:
    _send(peer, b"Z", b"I")


def _send(peer: socket.socket, kind: bytes, body: bytes) -> None:
    peer.sendall(kind + struct.pack(">I", len(body) + 4) + body)


def _message(peer: socket.socket) -> tuple[bytes, bytes] | None:
    """The next message of the client; None once it is gone."""
    kind = peer.recv(1)
    if not kind or kind == b"X":
        return None
    (length,) = struct.unpack(">I", _exactly(peer, 4))
    return kind, _exactly(peer, length - 4)


def _exactly(peer: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        if not (some := peer.recv(count - len(found))):
            raise ConnectionError("the client is gone")
        found += some
    return found
