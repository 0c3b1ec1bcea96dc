"""A line to a database that can be cut at a word of the client: before the server reads it, or after it answered."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sluice.connections import ConnectionInfo

_STARTUP = (196608).to_bytes(4)


class Line:
    """Carries sessions to a server.

    Attributes:
        port: where it listens on the loopback.
        cut_at: the word of a client that ends its session, once; empty for none.
        cut_after: how many times a client may say something until its session ends, once; 0 for always.
        delivered: whether the server gets that word, and has answered, before the client's session is cut.
        then_down: nobody gets through once it was cut.
        down: nobody gets through.
        silent: what clients say is kept until this ends, as by a server that hangs.
        forgetful: what a client asks for in `options` when it connects is dropped, as some connection poolers do.
    """

    def __init__(self, info: ConnectionInfo) -> None:
        self._to = (info.host, info.port or 5432)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.cut_at = b""
        self.cut_after = 0
        self.delivered = True
        self.then_down = False
        self.down = self.silent = self.forgetful = False
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take nobody any more."""
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if self.down:
                    client.close()
                    continue
                threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        server = socket.create_connection(self._to)
        threading.Thread(target=self._back, args=(server, client), daemon=True).start()
        with suppress(OSError):
            while said := client.recv(65536):
                while self.silent:
                    time.sleep(0.05)
                if self._cuts(said):
                    self.down = self.then_down
                    client.shutdown(socket.SHUT_WR)
                    if not self.delivered:
                        # The server does not notice: its session stays open, as behind a network that is gone.
                        client.close()
                        return
                server.sendall(_without_options(said) if self.forgetful else said)
        server.close()

    def _cuts(self, said: bytes) -> bool:
        if self.cut_after:
            self.cut_after -= 1
            return not self.cut_after
        if self.cut_at and self.cut_at in said:
            self.cut_at = b""
            return True
        return False

    def _back(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while said := server.recv(65536):
                client.sendall(said)
        client.close()


def _without_options(said: bytes) -> bytes:
    """A client's first message: its length, the version of the protocol, names and values."""
    if said[4:8] != _STARTUP:
        return said
    words = said[8:].rstrip(b"\0").split(b"\0")
    kept = [(name, value) for name, value in zip(words[::2], words[1::2], strict=True) if name != b"options"]
    body = _STARTUP + b"".join(name + b"\0" + value + b"\0" for name, value in kept) + b"\0"
    return (len(body) + 4).to_bytes(4) + body


@contextmanager
def line(info: ConnectionInfo) -> Iterator[Line]:
    """A line to this database while the block runs."""
    made = Line(info)
    yield made
    made.close()
