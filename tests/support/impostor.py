"""Somebody who stands in a server's place, asks for the password, and keeps what arrives."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

# Requests of a client of PostgreSQL before its startup: SSL, GSSAPI.
_ENCRYPTION = (80877103, 80877104)
# Protocol 4.1, authentication by plugins, long passwords; and TLS.
_CAPABLE, _WITH_TLS = 0x00280200 | 0x8000, 0x0800
_SALT = b"12345678", b"123456789012\0"
WHOLE_PASSWORD, PUBLIC_KEY = b"\1\4", b"\1KEY"


class Impostor:
    """Listens on the loopback.

    Attributes:
        port: where.
        heard: all that clients have said.
    """

    def __init__(self, ask: Callable[[Impostor, socket.socket], None]) -> None:
        self._ask = ask
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.heard = b""
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take nobody any more."""
        self._listening.close()

    def hear(self, client: socket.socket, size: int = 65536) -> bytes:
        """What a client says."""
        if not (said := client.recv(size)):
            raise ConnectionError
        self.heard += said
        return said

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                with suppress(OSError), closing(client):
                    client.settimeout(5)
                    self._ask(self, client)


@contextmanager
def impostor(ask: Callable[[Impostor, socket.socket], None]) -> Iterator[Impostor]:
    """One until the block ends."""
    with closing(Impostor(ask)) as made:
        yield made


def of_postgresql(here: Impostor, client: socket.socket) -> None:
    """Have no TLS, and ask for the password in clear."""
    while True:
        (length,) = struct.unpack("!i", here.hear(client, 4))
        rest = here.hear(client, length - 4)
        if struct.unpack("!i", rest[:4])[0] not in _ENCRYPTION:
            break
        client.sendall(b"N")
    client.sendall(b"R" + struct.pack("!ii", 8, 3))
    here.hear(client)


def of_mariadb(switch_to: bytes, *then: bytes, first: bytes = b"mysql_native_password") -> Callable[..., None]:
    """Ask for another proof.

    Args:
        switch_to: by this plugin; empty for the first one.
        then: what is said after the client's answers.
        first: the plugin that is named first.
    """

    def ask(here: Impostor, client: socket.socket, files: tuple[Path, Path] | None = None) -> None:
        capable = _CAPABLE | (_WITH_TLS if files else 0)
        greeting = b"\x0a8.4.0\0" + struct.pack("<I", 7) + _SALT[0] + b"\0" + struct.pack("<H", capable & 0xFFFF)
        greeting += b"\x2d\x02\0" + struct.pack("<H", capable >> 16) + b"\x15" + b"\0" * 10 + _SALT[1] + first + b"\0"
        client.sendall(_packet(0, greeting))
        number = _heard_packet(here, client)
        if files:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*files)
            client = context.wrap_socket(client, server_side=True)
            number = _heard_packet(here, client)
        switched = [b"\xfe" + switch_to + b"\0" + b"".join(_SALT)] if switch_to else []
        for said in (*switched, *then):
            client.sendall(_packet(number + 1, said))
            number = _heard_packet(here, client)

    return ask


def _packet(number: int, payload: bytes) -> bytes:
    return struct.pack("<I", len(payload))[:3] + bytes([number]) + payload


def _heard_packet(here: Impostor, client: socket.socket) -> int:
    """The number of a client's packet."""
    head = here.hear(client, 4)
    here.hear(client, int.from_bytes(head[:3], "little") or 1)
    return head[3]
