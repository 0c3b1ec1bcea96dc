"""MySQL 8.0 as a player: a real, newer server behind a line that answers as the older one where the two differ.

No server of 8.0 or 8.4 can be had for tests. Source: MySQL 8.0 Reference Manual, "SHOW MASTER STATUS Statement",
"Server System Variables"; MySQL Internals, "Client/Server Protocol".
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from struct import pack
from zlib import crc32

from sluice.connections import ConnectionInfo

_QUERY, _FORMAT = 3, 15
# Behind the sign of an event: its header, the version of the log's form, and the version of the server.
_VERSION = slice(1 + 19 + 2, 1 + 19 + 2 + 50)


@dataclass(frozen=True)
class Older:
    """What is played.

    Attributes:
        version: what it says of itself.
        unknown: statements that it does not understand.
        renamed: its statements, by the newer ones that are executed.
        lacks: the variables of the newer server that it does not have.
    """

    version: str
    unknown: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    lacks: tuple[str, ...] = ()

    def answers(self, statement: bytes) -> bytes | tuple[int, str]:
        """The statement that the newer server executes, or the number and the text of an error."""
        text = statement.decode(errors="surrogateescape")
        if text in self.unknown:
            return 1064, f"You have an error in your SQL syntax near '{text}'"
        text = dict(self.renamed).get(text, text).replace("VERSION()", f"'{self.version}'")
        for name in self.lacks:
            if f"@@GLOBAL.{name}" in text or f"@@SESSION.{name}" in text:
                return 1193, f"Unknown system variable '{name}'"
            text = text.replace(f"'{name}'", "'no such one'")
        return text.encode(errors="surrogateescape")

    def sends(self, packet: bytes) -> bytes:
        """A packet of the newer server; the beginning of a log's file has the older version."""
        if packet[:1] != b"\0" or len(packet) < _VERSION.stop or packet[5] != _FORMAT:
            return packet
        played = packet[: _VERSION.start] + self.version.encode().ljust(50, b"\0") + packet[_VERSION.stop : -4]
        return played + pack("<I", crc32(played[1:]))


_MASTER_STATUS = {
    "unknown": ("SHOW BINARY LOG STATUS",),
    "renamed": (("SHOW MASTER STATUS", "SHOW BINARY LOG STATUS"),),
}
OF_8_0_26 = Older(
    "8.0.26-google",
    lacks=(
        "innodb_native_foreign_keys",
        "sql_generate_invisible_primary_key",
        "show_gipk_in_create_table_and_information_schema",
    ),
    **_MASTER_STATUS,
)
OF_8_0_40 = Older("8.0.40-azure", lacks=("innodb_native_foreign_keys",), **_MASTER_STATUS)
OF_8_4 = Older("8.4.4-google", unknown=("SHOW MASTER STATUS",), lacks=("innodb_native_foreign_keys",))


@contextmanager
def older(info: ConnectionInfo, played: Older) -> Iterator[ConnectionInfo]:
    """The connection to a server, which is an older one while the block runs. The line carries no TLS."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listening.accept()
                    server = socket.create_connection((info.host, info.port or 3306))
                    for carry, ends in ((_ask, (client, server)), (_answer, (server, client))):
                        threading.Thread(target=_carried, args=(carry, *ends, played), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield replace(info, port=listening.getsockname()[1], extra={**info.extra, "sslmode": "disable"})
        listening.shutdown(socket.SHUT_RDWR)


def _carried(carry, come_from: socket.socket, go_to: socket.socket, played: Older) -> None:
    with suppress(OSError), come_from, go_to:
        carry(come_from, go_to, played)


def _ask(client: socket.socket, server: socket.socket, played: Older) -> None:
    while packet := _packet(client):
        number, body = packet
        if number == 0 and body[:1] == bytes([_QUERY]):
            answer = played.answers(body[1:])
            if isinstance(answer, tuple):
                code, text = answer
                client.sendall(_framed(1, b"\xff" + pack("<H", code) + b"#42000" + text.encode()))
                continue
            body = body[:1] + answer
        server.sendall(_framed(number, body))


def _answer(server: socket.socket, client: socket.socket, played: Older) -> None:
    while packet := _packet(server):
        number, body = packet
        client.sendall(_framed(number, played.sends(body)))


def _framed(number: int, body: bytes) -> bytes:
    return len(body).to_bytes(3, "little") + bytes([number]) + body


def _packet(peer: socket.socket) -> tuple[int, bytes] | None:
    """The next packet, with its number; None once the peer is gone."""
    head = peer.recv(4, socket.MSG_WAITALL)
    if len(head) < 4:
        return None
    size = int.from_bytes(head[:3], "little")
    body = peer.recv(size, socket.MSG_WAITALL) if size else b""
    return (head[3], body) if len(body) == size else None
