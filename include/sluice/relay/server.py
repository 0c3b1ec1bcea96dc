"""The relay's process: it listens, reads frames within limits, and gives every connection a session."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from sluice.config.relay import Relay
from sluice.context import Context
from sluice.errors import ConfigError, FencedError, SluiceError
from sluice.log import event
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.relay import admin
from sluice.relay.clients import Clients, save_often
from sluice.relay.counts import ServerCounts
from sluice.relay.csv_log import CsvLogger
from sluice.relay.feed import EventConsumer, Feed
from sluice.relay.figures import figures, schemas
from sluice.relay.frames import POLLS, REQUEST_BYTES, MalformedFrame, Reply, Request, RequestHeader
from sluice.relay.log_reader import LogReader, sum_bytes
from sluice.relay.readers import RelayReader, read_secrets
from sluice.relay.session import Session
from sluice.store import activities, leases
from sluice.store.activities import Activity
from sluice.store.leases import Lease

LEASE = "relay"
_SAVE_S = 1.0
_RENEW_S = leases.SECONDS / 4
_LAST_SAVE_S = 5.0
_LINGER_S = 2.0
# For an answer; the control store, which some answers wait for, gives up earlier.
_ANSWER_S = 30.0
_AT_ONCE = 50
_PART = 65_536


@dataclass(frozen=True)
class RelayAddresses:
    """The addresses of a relay that listens."""

    address: str
    port: int
    admin_port: int | None


def serve(context: Context, ready: Callable[[RelayAddresses], None]) -> None:
    """Serve until the process is asked to end, by SIGTERM or SIGINT.

    Raises:
        ConfigError: SLC-002, the relay is not configured; SLC-014, a client has no secret; SLC-017, two share one.
        SluiceError: SLC-411, the address is not free.
        FencedError: SLC-050, another relay of this control store was started.
    """
    settings = context.config.relay
    if settings is None:
        raise ConfigError(
            2,
            "the configuration has no section `relay`",
            "add one with the clients that may connect: include/docs/relay.md",
        )
    asyncio.run(_Relay(context, settings, *read_secrets(context, settings)).run(ready))


class _Relay:
    def __init__(
        self, context: Context, settings: Relay, readers: Mapping[str, RelayReader], admin_secret: str | None
    ) -> None:
        self._context = context
        self._settings = settings
        self._allowed = readers
        self._admin_secret = admin_secret
        self._counts = ServerCounts()
        # Open connections, the oldest first.
        self._sessions: dict[asyncio.StreamWriter, Session] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._figures_lock = asyncio.Lock()

    async def run(self, ready: Callable[[RelayAddresses], None]) -> None:
        context, settings = self._context, self._settings
        names = settings.sources or list(context.config.sources)
        for name in names:
            context.config.source(name)
        self._readers = {name: LogReader(name, context.manifest(name), context.files()) for name in names}
        # Clients are let in when all is ready.
        servers = [await self._listen(settings.port, self._serve_connection, at_once=False)]
        try:
            # New tables may take longer than a client waits.
            with closing(replace(context, patience_s=None).store) as store:
                store.migrate()
            # The port keeps out a second relay on this machine; the lease, one on another machine.
            lease = leases.acquire(context.store, LEASE, force=True)
            self._feed = Feed(self._readers, lambda: self._consumers(logger), settings.poll_s)
            self._clients = Clients(context.store, lease, settings, self._feed.ends)
            logger = [CsvLogger(settings.csv_log, self._feed.ends)] if settings.csv_log else []
            admin_port = None
            if self._admin_secret:
                page = admin.AdminPage(self._admin_secret, self._figures)
                servers.append(await self._listen(settings.admin_port, page.serve, admin.LIMIT))
                admin_port = _port(servers[-1])
            await servers[0].start_serving()
            event("relay listens", address=settings.address, port=_port(servers[0]), sources=",".join(names))
            ready(RelayAddresses(settings.address, _port(servers[0]), admin_port))
            await self._work_until_end(lease)
        finally:
            await self._close(servers)

    def _consumers(self, logger: list[CsvLogger]) -> list[EventConsumer]:
        return [*logger, *self._clients.connected.values()]

    async def _listen(self, port: int, callback: Any, limit: int = 65_536, *, at_once: bool = True) -> asyncio.Server:
        address = self._settings.address
        try:
            return await asyncio.start_server(callback, address, port, limit=limit, start_serving=at_once)
        except OSError as error:
            raise SluiceError(
                411,
                f"the relay cannot listen on {address}, port {port}: {error.strerror or error}",
                "end what has that port, such as another relay, or change `relay` in the configuration",
            ) from None

    async def _work_until_end(self, lease: Lease) -> None:
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ended.set)
        work = [
            asyncio.create_task(self._feed.run()),
            asyncio.create_task(save_often(self._clients, _SAVE_S, self._settings.forget_hours)),
            asyncio.create_task(self._renew(lease)),
            asyncio.create_task(ended.wait()),
        ]
        try:
            done, _ = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            event("relay ends")
            async with asyncio.timeout(_LAST_SAVE_S):
                await self._clients.save()
                await asyncio.to_thread(leases.release, self._context.store, lease)
        except TimeoutError:
            event("WARNING positions not kept", why="the control store does not answer in time")
        finally:
            for task in work:
                task.cancel()

    async def _renew(self, lease: Lease) -> None:
        while True:
            await asyncio.sleep(_RENEW_S)
            try:
                await asyncio.to_thread(leases.renew, self._context.store, lease)
            except SluiceError as error:
                if isinstance(error, FencedError):
                    raise
                event("WARNING lease not renewed", why=error.message)

    async def _close(self, servers: list[asyncio.Server]) -> None:
        for server in servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _figures(self) -> dict[str, Any]:
        async with self._figures_lock:
            layouts, activity = await asyncio.to_thread(self._read_tables)
        return {**figures(self._counts, self._clients, self._feed, activity), "schemas": schemas(layouts)}

    def _read_tables(self) -> tuple[dict[str, list[Layout]], dict[str, dict[TableName, Activity]]]:
        context = self._context
        layouts = {name: context.manifest(name).newest_layouts() for name in self._readers}
        return layouts, {name: activities.by_table(context.store, name) for name in self._readers}

    # Connections ----------------------------------------------------------------------------------------------------

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self._counts.connections += 1
        session = Session(self._clients, self._feed, self._settings, self._allowed, self._counts)
        self._sessions[writer] = session
        idle = [each for each, other in self._sessions.items() if not other.is_held]
        if len(idle) > self._settings.max_clients:
            # A peer that only connects, or a client that comes again and again, keeps no other client away.
            self._counts.refused += 1
            self._leave(idle[0])
        try:
            await self._converse(session, reader, writer)
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            pass
        except MalformedFrame as error:
            self._counts.malformed += 1
            # A peer that sends nonsense fills no log; a client that sends it again and again is seen.
            if self._counts.malformed.bit_count() == 1:
                client = session.queue.name if session.queue else "not logged in"
                event("WARNING malformed frame", client=client, why=str(error), times=self._counts.malformed)
            with suppress(OSError):
                writer.write(Reply.error(str(error)).encode())
        except Exception as error:
            event("WARNING connection ended", why=f"{type(error).__name__}: {error}")
        finally:
            session.end()
            self._tasks.discard(task)
            self._leave(writer)

    async def _converse(self, session: Session, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        login_by = loop.time() + self._settings.login_s
        for turn in count(1):
            until = loop.time() + self._settings.idle_s if session.queue is not None else login_by
            async with asyncio.timeout_at(until):
                header = RequestHeader.decode(await reader.readexactly(REQUEST_BYTES))
                payload, left_out = b"", 0
                if session.queue is not None and header.command in POLLS:
                    left_out = await _skip_payload(reader, header.size)
                elif header.size > self._settings.max_payload:
                    raise MalformedFrame(f"a payload has {self._settings.max_payload} bytes at most")
                else:
                    payload = await reader.readexactly(header.size)
            async with asyncio.timeout(_ANSWER_S):
                answer = await session.answer(Request.decode(header, payload, left_out))
            writer.write(answer.frame)
            # A client that does not read has no more than one reply in memory.
            async with asyncio.timeout(self._settings.login_s if session.queue is None else self._settings.idle_s):
                await writer.drain()
            if answer.last:
                return
            if turn % _AT_ONCE == 0:
                # Requests that came together are answered without a pause, else.
                await asyncio.sleep(0)

    def _leave(self, writer: asyncio.StreamWriter) -> None:
        self._sessions.pop(writer, None)
        writer.close()
        # Closing waits for a client that does not read.
        asyncio.get_running_loop().call_later(_LINGER_S, writer.transport.abort)


async def _skip_payload(reader: asyncio.StreamReader, size: int) -> int:
    """Skip a poll's payload and return its byte sum. Some clients send the previous reply there, of any size."""
    total = 0
    while size:
        if not (part := await reader.read(min(size, _PART))):
            raise asyncio.IncompleteReadError(b"", size)
        total, size = total + sum_bytes(part), size - len(part)
    return total


def _port(server: asyncio.Server) -> int:
    return int(server.sockets[0].getsockname()[1])
