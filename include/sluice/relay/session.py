"""One connection of a client: its requests, and the answers. It knows nothing of sockets."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from sluice.config.relay import Relay
from sluice.errors import SluiceError
from sluice.log import event
from sluice.relay.clients import Clients
from sluice.relay.counts import ServerCounts
from sluice.relay.feed import Feed
from sluice.relay.frames import POLLS, VERSION, MalformedFrame, RelayCommand, Reply, Request, Result
from sluice.relay.payloads import Filter, Login, LoginReply
from sluice.relay.queue import ClientQueue, to_wish
from sluice.relay.readers import RelayReader, unknown_reader

_PONG = Reply(Result.OK, b"PONG\0").encode()
_OK = Reply(Result.OK).encode()
_EMPTY = Reply(Result.EMPTY).encode()
_DISCONNECTED = Reply(Result.DISCONNECTED).encode()
_MOST_OF_A_NAME = 255


@dataclass(frozen=True)
class SessionAnswer:
    """The frame of a reply, and whether the connection ends with it."""

    frame: bytes
    last: bool = False


class Session:
    """Answers the requests of one connection.

    Args:
        readers: the clients that may connect, by name.
    """

    def __init__(
        self, clients: Clients, feed: Feed, settings: Relay, readers: Mapping[str, RelayReader], counts: ServerCounts
    ) -> None:
        self._counts = counts
        self._clients = clients
        self._feed = feed
        self._settings = settings
        self._readers = readers
        self._reader = unknown_reader()
        self._ids: frozenset[tuple[int, int]] = frozenset()
        self.queue: ClientQueue | None = None

    @property
    def is_held(self) -> bool:
        """Whether a client has logged in, and has not come again by another connection."""
        return self.queue is not None and self._clients.connected.get(self.queue.name) is self.queue

    async def answer(self, request: Request) -> SessionAnswer:
        """The answer to a request."""
        if not request.is_understood:
            return _error_answer(f"the version of the protocol is 0x{VERSION:08x}", last=True)
        named = request.client_id, request.token
        if self.queue is None:
            return self._answer_stranger(request)
        if not self.is_held:
            return SessionAnswer(_DISCONNECTED, last=True)
        if named not in self._ids:
            return SessionAnswer(_DISCONNECTED, last=True)
        if request.command in POLLS:
            second = request.command == RelayCommand.POLL_EVENT_V2
            return self._poll(self.queue, self._counts.instance if second else None)
        if request.command == RelayCommand.PING:
            return SessionAnswer(_PONG)
        if request.command == RelayCommand.ADD_FILTER:
            return await self._add_filter(self.queue, request.payload)
        return _error_answer("there is no such command, or not now")

    def end(self) -> None:
        """Note that the connection is gone; the queue is kept."""
        if self.queue is not None:
            self._clients.disconnect(self.queue)

    def _answer_stranger(self, request: Request) -> SessionAnswer:
        # A client that comes again may still name its session before: until it has logged in, that says nothing.
        if request.command == RelayCommand.PING:
            return SessionAnswer(_PONG)
        if request.command == RelayCommand.AUTHENTICATE:
            return self._log_in(request.payload)
        if (request.client_id, request.token) != (0, 0):
            return SessionAnswer(_DISCONNECTED, last=True)
        return _error_answer("authenticate first")

    def _log_in(self, payload: bytes) -> SessionAnswer:
        try:
            login = Login.decode(payload)
        except MalformedFrame as error:
            return _error_answer(str(error), last=True)
        reader = self._readers.get(login.name, self._reader)
        if not reader.has_key(login.auth_key):
            self._counts.wrong_secrets += 1
            # A peer that guesses fills no log.
            if self._counts.wrong_secrets.bit_count() == 1:
                event("WARNING login refused", why="wrong name or secret", times=self._counts.wrong_secrets)
            return _error_answer("the name or the secret is wrong", last=True)
        again = login.name in self._clients.connected
        if not again and len(self._clients.connected) >= self._settings.max_clients:
            return _error_answer(f"{self._settings.max_clients} clients are connected already", last=True)
        self._reader = reader
        self.queue = self._clients.connect(login.name, reader.may_read)
        self._feed.ask()
        accepted = LoginReply(login.auth_key, 1 + secrets.randbelow(2**32 - 1), 1 + secrets.randbelow(2**32 - 1))
        # Clients that read the reply as the id and the token alone find the halves of the key there.
        halves = login.auth_key & 0xFFFFFFFF, login.auth_key >> 32
        self._ids = frozenset({(accepted.client_id, accepted.token), halves})
        event("client connected", name=login.name)
        return SessionAnswer(Reply(Result.OK, accepted.encode()).encode())

    async def _add_filter(self, queue: ClientQueue, payload: bytes) -> SessionAnswer:
        try:
            added = Filter.decode(payload)
        except MalformedFrame as error:
            return _error_answer(str(error))
        if not (added.schema and added.table):
            return _error_answer("a filter names a schema and a table")
        if max(len(added.schema), len(added.table)) > _MOST_OF_A_NAME:
            return _error_answer(f"the name of a schema or a table has {_MOST_OF_A_NAME} characters at most")
        if not self._reader.may_read(to_wish(added)[0]):
            return _error_answer("this client may not read that table")
        known = queue.filters.get(to_wish(added))
        if known is None and added.kinds and len(queue.filters) >= self._settings.max_filters:
            return _error_answer(f"a client has {self._settings.max_filters} filters at most")
        if known != added:
            queue.add_filter(added, self._clients.ends)
            try:
                # Before the client relies on it.
                await self._clients.save()
            except SluiceError as error:
                return _error_answer(f"the filter could not be kept: {error.message}", last=True)
            self._feed.ask()
        return SessionAnswer(_OK)

    def _poll(self, queue: ClientQueue, instance: int | None) -> SessionAnswer:
        if queue.lost:
            text, queue.lost = queue.lost, None
            return _error_answer(text)
        packed = queue.poll()
        if queue.is_ready:
            self._feed_again(queue)
        return SessionAnswer(_EMPTY if packed is None else packed.reply(queue.size, instance))

    def _feed_again(self, queue: ClientQueue) -> None:
        """Have more read when a queue that was full has room again."""
        if queue.paused:
            queue.paused = False
            self._feed.ask()


def _error_answer(text: str, *, last: bool = False) -> SessionAnswer:
    return SessionAnswer(Reply.error(text).encode(), last)
