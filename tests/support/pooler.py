"""A connection pooler that gives each transaction of a client to another session of the server."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg

from sluice.connections import ConnectionInfo

# Requests of a client before its startup: SSL, GSSAPI.
_ENCRYPTION = (80877103, 80877104)
# Messages that a server answers up to "ready for query", but for COPY, which the client goes on with.
_ANSWERED = (b"Q", b"S", b"c", b"f")
_STATUS = (
    "server_version",
    "client_encoding",
    "server_encoding",
    "standard_conforming_strings",
    "DateStyle",
    "TimeZone",
)


class Pooler:
    """Has two sessions for each client, both begun with the client's `options`.

    Attributes:
        port: where it listens on the loopback.
        steady: a client keeps the session that it has.
    """

    def __init__(self, info: ConnectionInfo) -> None:
        self._info = info
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.steady = True
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take nobody any more."""
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(EOFError, OSError), client:
            body = _body(client)
            while struct.unpack("!I", body[:4])[0] in _ENCRYPTION:
                client.sendall(b"N")
                body = _body(client)
            words = [word.decode() for word in body[4:].split(b"\0")]
            asked = dict(zip(words[::2], words[1::2], strict=False))
            with self._session(asked) as first, self._session(asked) as second:
                client.sendall(_welcome(first))
                self._carry(client, [_line(first), _line(second)])

    def _session(self, asked: dict[str, str]) -> psycopg.Connection[tuple[object, ...]]:
        to = self._info
        return psycopg.connect(
            host=to.host,
            port=to.port,
            dbname=to.database,
            user=to.login,
            password=to.password,
            options=asked["options"],
            application_name=asked["application_name"],
        )

    def _carry(self, client: socket.socket, servers: list[socket.socket]) -> None:
        while (said := _message(client))[:1] != b"X":
            servers[0].sendall(said)
            if said[:1] not in _ANSWERED:
                continue
            while True:
                answer = _message(servers[0])
                client.sendall(answer)
                if answer[:1] == b"G":
                    break
                if answer[:1] == b"Z":
                    if answer[5:] == b"I" and not self.steady:
                        servers.reverse()
                    break


def _line(session: psycopg.Connection[tuple[object, ...]]) -> socket.socket:
    line = socket.socket(fileno=os.dup(session.fileno()))
    line.setblocking(True)
    return line


def _welcome(session: psycopg.Connection[tuple[object, ...]]) -> bytes:
    said = {name: session.info.parameter_status(name) for name in _STATUS}
    told = [f"{name}\0{value}\0".encode() for name, value in said.items() if value is not None]
    parts = [(b"R", struct.pack("!I", 0)), *((b"S", one) for one in told), (b"K", bytes(8)), (b"Z", b"I")]
    return b"".join(kind + struct.pack("!I", len(body) + 4) + body for kind, body in parts)


def _body(line: socket.socket) -> bytes:
    (length,) = struct.unpack("!I", _read(line, 4))
    return _read(line, length - 4)


def _message(line: socket.socket) -> bytes:
    kind = _read(line, 1)
    body = _body(line)
    return kind + struct.pack("!I", len(body) + 4) + body


def _read(line: socket.socket, wanted: int) -> bytes:
    found = b""
    while len(found) < wanted:
        if not (more := line.recv(wanted - len(found))):
            raise EOFError
        found += more
    return found


@contextmanager
def pooler(info: ConnectionInfo) -> Iterator[Pooler]:
    """A pooler in front of this database while the block runs."""
    made = Pooler(info)
    yield made
    made.close()
