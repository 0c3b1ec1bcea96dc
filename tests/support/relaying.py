"""A relay in a process of its own, and a client of it that is written from the protocol's document, byte by byte."""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psutil
import yaml
from support.world import World

from sluice.config.configuration_text import CONFIG_ENV
from sluice.connections import SEALED_ENV, ConnectionInfo, seal
from sluice.paths import HOME_ENV, PROJECT

SECRET, ADMIN_SECRET = "Freedelity", "who watches"
# A client's secret begins so; of that alone: the standard hash, and the other one in use.
KEYS = (0x700E76749A3B5CE8, 0x0BF246A9C6D9567F)
PING, AUTHENTICATE, ADD_FILTER, POLL, POLL_V2 = 1, 2, 3, 4, 5
OK, DISCONNECTED, EMPTY, ERROR = 0x00, 0xF0, 0xFC, 0xFF
INSERT, UPDATE, DELETE, TRUNCATE, COMMAND = 1, 2, 4, 8, 16
_PATIENCE_S = 120.0


def secret_of(name: str) -> str:
    """The secret of a client."""
    return f"{SECRET} of {name}."


def keys_of(name: str) -> tuple[int, int]:
    """The hash of its secret, by the standard, and the other one in use."""
    secret = secret_of(name).encode()
    return _hashed(secret), _hashed(b"\0" + secret[:-1])


def _hashed(secret: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in secret:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def text(value: str) -> bytes:
    """A text of a payload: its size with the zero byte, then both."""
    raw = value.encode() + b"\0"
    return struct.pack("<I", len(raw)) + raw


def frame(command: int, payload: bytes = b"", client: int = 0, token: int = 0, version: int = 0x00010020) -> bytes:
    """A request, as the document has it."""
    checksum = (command + len(payload) + version + client + token + sum(payload)) % 2**32
    return struct.pack("<HHIIIIIII", command, 0, len(payload), version, client, token, checksum, 0, 0) + payload


@dataclass(frozen=True)
class Seen:
    """An event as a client reads it: columns are name, before and after."""

    kind: int
    position: int
    left: int
    schema: str
    table: str
    columns: tuple[tuple[str, str, str], ...]


def parsed(payload: bytes, instance: int | None = None) -> Seen:
    """The event in the payload of a reply, which ends where the event does; with numbers if an instance is given."""
    kind, position, left = struct.unpack_from("<BQI", payload)
    place = 13

    def number(expected: int) -> None:
        nonlocal place
        if instance is not None:
            assert struct.unpack_from("<I", payload, place) == (expected,)
            place += 4

    def named() -> str:
        number(0)
        return read()

    def read() -> str:
        nonlocal place
        (size,) = struct.unpack_from("<I", payload, place)
        raw = payload[place + 4 : place + 4 + size]
        place += 4 + size
        assert raw[-1:] == b"\0"
        return raw[:-1].decode(errors="surrogateescape")

    number(instance or 0)
    schema, table = named(), named()
    (count,) = struct.unpack_from("<I", payload, place)
    place += 4
    columns = tuple((named(), read(), read()) for _ in range(count))
    assert place == len(payload)
    return Seen(kind, position, left, schema, table, columns)


class Client:
    """A connection; nothing of the product is used."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE_S)
        self.client = self.token = 0

    def ask(self, command: int, payload: bytes = b"") -> tuple[int, bytes]:
        """Send a command; the result and the payload of the reply."""
        self.socket.sendall(frame(command, payload, self.client, self.token))
        return self.reply()

    def reply(self) -> tuple[int, bytes]:
        """The next reply."""
        result, size, checksum = struct.unpack("<BII", self._read(9))
        payload = self._read(size)
        assert checksum == (result + size + sum(payload)) % 2**32
        return result, payload

    def log_in(self, name: str, key: int | None = None) -> Client:
        """Authenticate."""
        key = keys_of(name)[0] if key is None else key
        assert self.ask(PING) == (OK, b"PONG\0")
        result, payload = self.ask(AUTHENTICATE, struct.pack("<QII", key, 0, 0) + text(name))
        assert result == OK, payload
        echoed, self.token, self.client = struct.unpack("<QII", payload)
        assert echoed == key
        return self

    def filter(self, table: str, kinds: int = 7, discard: int = 0, limit: int = 0, schema: str = "public") -> None:
        """Wish for events of a table."""
        payload = struct.pack("<BBI", kinds, discard, limit) + text(schema) + text(table)
        assert self.ask(ADD_FILTER, payload) == (OK, b"")

    def poll(self, instance: int | None = None) -> Seen | None:
        """The next event, if there is one now; of an instance, with numbers."""
        result, payload = self.ask(POLL if instance is None else POLL_V2)
        assert result in (OK, EMPTY), payload
        return parsed(payload, instance) if result == OK else None

    def events(self, count: int, instance: int | None = None) -> list[Seen]:
        """So many events, as soon as they come."""
        found: list[Seen] = []
        end = time.monotonic() + _PATIENCE_S
        while len(found) < count and time.monotonic() < end:
            if (one := self.poll(instance)) is None:
                time.sleep(0.02)
            else:
                found.append(one)
        return found

    def close(self) -> None:
        self.socket.close()

    def _read(self, size: int) -> bytes:
        found = bytearray()
        while len(found) < size:
            part = self.socket.recv(size - len(found))
            if not part:
                raise ConnectionError("closed")
            found += part
        return bytes(found)


class PhpClient(Client):
    """What the original's class in PHP sends: another version, and a poll with the payload of the reply before it."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self._left = b""

    def ask(self, command: int, payload: bytes = b"") -> tuple[int, bytes]:
        sent = self._left if command in (POLL, POLL_V2) else payload
        self.socket.sendall(frame(command, sent, self.client, self.token, 0x00010004))
        result, self._left = self.reply()
        return result, self._left


class RelayProcess:
    """`./sluice relay` of a world."""

    def __init__(
        self, world: World, names: Iterable[str] = (), secrets: Mapping[str, str] = {}, **settings: Any
    ) -> None:
        self._world = world
        self._secrets = {**{name: secret_of(name) for name in names}, "relay_admin": ADMIN_SECRET, **secrets}
        clients = {name: {"connection": name, "tables": ["public.*"]} for name in names}
        self._settings = {"clients": clients, "admin": "relay_admin", "port": 0, "admin_port": 0, "poll_s": 0.02}
        self._settings |= settings
        self._clients: list[Client] = []
        self.start()

    def start(self, **settings: Any) -> None:
        """Start it, or start it again, with other settings."""
        self._settings |= settings
        file = self._world.path / "relay.yaml"
        file.write_text(yaml.safe_dump({**self._world.settings, "relay": self._settings}))
        infos: Mapping[str, ConnectionInfo] = {
            **self._world.infos,
            **{name: ConnectionInfo("generic", password=secret) for name, secret in self._secrets.items()},
        }
        env = {**os.environ, CONFIG_ENV: str(file), HOME_ENV: str(self._world.path), SEALED_ENV: seal(infos)}
        # On SIGABRT each thread says where it is.
        env["PYTHONFAULTHANDLER"] = "1"
        env["PYTHONPATH"] = os.pathsep.join([str(PROJECT / "include"), str(PROJECT / "plugins")])
        self.log = self._world.path / "relay.log"
        with self.log.open("ab") as log:
            command = [sys.executable, "-m", "sluice.cli", "relay"]
            self.process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout
        lines = [self.process.stdout.readline() for _ in range(2)]
        if not all(lines):
            self.stop()
            raise AssertionError(self.log.read_text())
        self.port, self.admin_port = (int(line.strip().rstrip("/").rpartition(":")[2]) for line in lines)

    def client(self, kind: type[Client] = Client) -> Client:
        """A new connection."""
        self._clients.append(kind(self.port))
        return self._clients[-1]

    def figures(self, secret: str = ADMIN_SECRET) -> dict[str, Any]:
        """What it tells by HTTP."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.admin_port}/")
        request.add_header("Authorization", "Basic " + base64.b64encode(f"admin:{secret}".encode()).decode())
        with urllib.request.urlopen(request, timeout=10) as answer:
            return dict(json.load(answer))

    def resident(self) -> int:
        """The memory of the process, in bytes."""
        return int(psutil.Process(self.process.pid).memory_info().rss)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End it; its exit code."""
        for one in self._clients:
            one.close()
        self._clients.clear()
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            code = self.process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            self.process.wait()
            raise AssertionError(f"it does not end: {self.log.read_text()}") from None
        assert self.process.stdout
        self.process.stdout.close()
        return code


@contextmanager
def relay_of(world: World, names: Iterable[str], **settings: Any) -> Iterator[RelayProcess]:
    """A relay for the time of the block."""
    made = RelayProcess(world, [*names], **settings)
    try:
        yield made
    finally:
        made.stop(signal.SIGKILL)


def until(look: Callable[[], bool]) -> bool:
    """Whether something becomes true in time."""
    end = time.monotonic() + _PATIENCE_S
    while not (found := look()) and time.monotonic() < end:
        time.sleep(0.02)
    return found
