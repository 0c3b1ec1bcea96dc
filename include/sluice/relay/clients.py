"""The clients that the relay knows, connected or not, and what the control store keeps of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from sluice.config.relay import Relay
from sluice.errors import FencedError, SluiceError
from sluice.log import event
from sluice.model.names import TableName
from sluice.relay.payloads import Discard, EventKind, Filter
from sluice.relay.queue import ClientQueue, to_wish
from sluice.store import relay_clients
from sluice.store.engine import Store
from sluice.store.leases import Lease
from sluice.store.relay_clients import RelayClientState

# Between two notes that a connected client is there.
_SEEN_S = 60.0
_FORGET_S = 600.0
_TENTH_OF_AN_HOUR = 360.0


class Clients:
    """The clients and their queues.

    Args:
        ends: by source, where its log ends, now and later: first filters begin there.
    """

    def __init__(self, store: Store, lease: Lease, settings: Relay, ends: Mapping[str, int]) -> None:
        self.connected: dict[str, ClientQueue] = {}
        self.ends = ends
        self._store = store
        self._lease = lease
        self._settings = settings
        self._states = relay_clients.list_clients(store)
        self._saved_states = dict(self._states)
        self._save_lock = asyncio.Lock()
        self._seen_at = 0.0

    @property
    def known_count(self) -> int:
        """The number of clients that have a queue, connected or not."""
        return len(self._states)

    def connect(self, name: str, may_read: Callable[[TableName], bool]) -> ClientQueue:
        """The queue of a client, which takes it over if it is connected already."""
        if name in self.connected:
            self.disconnect(self.connected[name])
        state = self._states.get(name)
        # It may be allowed less than when they were kept.
        filters = (
            wanted for wanted in map(_from_plain, state.filters if state else ()) if may_read(to_wish(wanted)[0])
        )
        # Of a source that was added since, it gets what comes from now on.
        cursors = {source: state.positions.get(source, end) if state else end for source, end in self.ends.items()}
        queue = ClientQueue(name, filters, cursors, self._settings.queue_bytes)
        self.connected[name] = queue
        return queue

    def disconnect(self, queue: ClientQueue) -> None:
        """Take a client out. Events that it has not confirmed are read again when it comes back."""
        if self.connected.get(queue.name) is queue:
            del self.connected[queue.name]
            self._note(queue)

    async def save(self) -> None:
        """Keep what is new of clients. Raises SluiceError if the store does not."""
        # It goes on when its caller is cancelled: a later save could be written before it.
        await asyncio.shield(self._save())

    async def _save(self) -> None:
        async with self._save_lock:
            for queue in self.connected.values():
                self._note(queue)
            # Now and then also to say that clients were seen. One that takes nothing must not hold the log.
            if is_due := time.monotonic() > self._seen_at + min(
                _SEEN_S, self._settings.forget_hours * _TENTH_OF_AN_HOUR
            ):
                self._seen_at = time.monotonic()
            changed = [
                state
                for name, state in self._states.items()
                if self._saved_states.get(name) != state or (is_due and self._has_all(name))
            ]
            if changed:
                await asyncio.to_thread(relay_clients.save, self._store, self._lease, changed)
                self._saved_states |= {state.name: state for state in changed}

    async def forget(self) -> None:
        """Forget clients that have not come, or took nothing, for long. Raises SluiceError."""
        unseen = timedelta(hours=self._settings.forget_hours)
        names = await asyncio.to_thread(relay_clients.forget, self._store, self._lease, unseen)
        for name in names:
            event("client forgotten", name=name)
            for clients in (self._states, self._saved_states, self.connected):
                clients.pop(name, None)

    def _has_all(self, name: str) -> bool:
        return name in self.connected and self.connected[name].has_all

    def _note(self, queue: ClientQueue) -> None:
        if queue.filters or queue.name in self._states:
            # Without a filter nothing of a log has to be kept for it.
            positions = {source: queue.position(source) for source in queue.cursors if queue.filters}
            plain = [_plain(wanted) for wanted in queue.filters.values()]
            self._states[queue.name] = RelayClientState(queue.name, plain, positions)


async def save_often(clients: Clients, every_s: float, forget_hours: float) -> None:
    """Keep positions again and again; a store that is away is asked later."""
    forgotten, loop = 0.0, asyncio.get_running_loop()
    forget_s = min(_FORGET_S, forget_hours * _TENTH_OF_AN_HOUR)
    while True:
        await asyncio.sleep(every_s)
        try:
            await clients.save()
            if loop.time() - forgotten > forget_s:
                await clients.forget()
                forgotten = loop.time()
        except SluiceError as error:
            if isinstance(error, FencedError):
                raise
            event("WARNING positions not kept", why=error.message)


def _plain(wanted: Filter) -> dict[str, Any]:
    fields = {"kinds": int(wanted.kinds), "discard": int(wanted.discard), "limit": wanted.limit}
    return {"schema": wanted.schema, "table": wanted.table, **fields}


def _from_plain(plain: Mapping[str, Any]) -> Filter:
    kinds, discard = EventKind(plain["kinds"]), Discard(plain["discard"])
    return Filter(plain["schema"], plain["table"], kinds, discard, plain["limit"])
