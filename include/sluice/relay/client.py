"""The client of the relay: `with RelayClient(...) as client`, then filters, then polls.

It needs the standard library alone. `include/docs/relay.md` has an example that comments each step.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from types import TracebackType

from sluice.relay.frames import (
    REPLY_BYTES,
    RelayCommand,
    Reply,
    ReplyHeader,
    Request,
    Result,
)
from sluice.relay.payloads import ALL, Discard, EventKind, Filter, Login, LoginReply, RelayEvent
from sluice.relay.secret_hash import fnv1a


class RelayRefused(Exception):
    """The relay answers with an error; the text is the relay's."""


class RelayDisconnected(ConnectionError):
    """The relay ended the session: connect again, the queue is kept."""


class RelayClient:
    """One connection to a relay, by one thread at a time.

    Args:
        name: the client's name, under which the relay keeps its queue; two clients cannot share one.
    """

    def __init__(self, host: str, port: int, secret: str, name: str, timeout_s: float = 30) -> None:
        self._socket = socket.create_connection((host, port), timeout=timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._accepted = LoginReply(0, 0, 0)
        try:
            self.ping()
            self._accepted = LoginReply.decode(
                self._ask(RelayCommand.AUTHENTICATE, Login(fnv1a(secret.encode()), name))
            )
        except BaseException:
            self.close()
            raise

    def ping(self) -> None:
        """Say that the client lives. Raises RelayDisconnected or RelayRefused, as every method here."""
        self._ask(RelayCommand.PING)

    def add_filter(
        self,
        schema: str,
        table: str,
        kinds: EventKind = ALL,
        discard: Discard = Discard.NEW_EVENTS,
        limit: int = 0,
    ) -> None:
        """Wish for events of a table; a filter of the same table is replaced."""
        self._ask(RelayCommand.ADD_FILTER, Filter(schema, table, kinds, discard, limit))

    def poll(self) -> RelayEvent | None:
        """The next event; None if there is none now. The event before it counts as received with this call."""
        reply = self._reply(RelayCommand.POLL_EVENT, b"")
        return None if reply.result == Result.EMPTY else RelayEvent.decode(_payload(reply))

    def events(self, every_s: float = 0.2) -> Iterator[RelayEvent]:
        """Events without an end; pauses that long when there is none."""
        while True:
            if (event := self.poll()) is not None:
                yield event
            else:
                time.sleep(every_s)

    def close(self) -> None:
        """End the connection; the relay keeps the queue."""
        self._socket.close()

    def __enter__(self) -> RelayClient:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _ask(self, command: RelayCommand, payload: Login | Filter | None = None) -> bytes:
        return _payload(self._reply(command, payload.encode() if payload else b""))

    def _reply(self, command: RelayCommand, payload: bytes) -> Reply:
        request = Request(command, payload, self._accepted.client_id, self._accepted.token)
        self._socket.sendall(request.encode())
        header = ReplyHeader.decode(self._read(REPLY_BYTES))
        return Reply.decode(header, self._read(header.size))

    def _read(self, size: int) -> bytes:
        content = bytearray()
        while len(content) < size:
            part = self._socket.recv(min(size - len(content), 1 << 20))
            if not part:
                raise RelayDisconnected("the relay ended the connection")
            content += part
        return bytes(content)


def _payload(reply: Reply) -> bytes:
    if reply.result == Result.DISCONNECTED:
        raise RelayDisconnected(reply.text or "the relay ended the session")
    if reply.result != Result.OK:
        raise RelayRefused(reply.text or f"the relay answers 0x{reply.result:02x}")
    return reply.payload
