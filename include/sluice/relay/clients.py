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
from sluice.relay.payloads import Discard, Filter, Kind
from sluice.relay.queue import ClientQueue, wish_of
from sluice.store import relay_clients
from sluice.store.engine import Store
from sluice.store.leases import Lease
from sluice.store.relay_clients import RelayClientState

# Between two notes that a connected client is there.
_SEEN_S = 60.0
_FORGET_S = 600.0
_TENTH_OF_AN_HOUR = 360.0


class Clients:
    """See the module.

    Args:
        ends: by source, where its log ends, now and later: first filters begin there.
    """

    def __init__(self, store: Store, held: Lease, settings: Relay, ends: Mapping[str, int]) -> None:
        self.connected: dict[str, ClientQueue] = {}
        self.ends = ends
        self._store = store
        self._held = held
        self._settings = settings
        self._known = relay_clients.list_clients(store)
        self._saved = dict(self._known)
        self._saving = asyncio.Lock()
        self._seen_at = 0.0

    @property
    def known(self) -> int:
        """How many clients are known."""
        return len(self._known)

    def connect(self, name: str, may_read: Callable[[TableName], bool]) -> ClientQueue:
        """The queue of a client, which takes it over if it is connected already."""
        if name in self.connected:
            self.disconnect(self.connected[name])
        known = self._known.get(name)
        # It may be allowed less than when they were kept.
        filters = (one for one in map(_from_plain, known.filters if known else ()) if may_read(wish_of(one)[0]))
        # Of a source that was added since, it gets what comes from now on.
        cursors = {source: known.positions.get(source, end) if known else end for source, end in self.ends.items()}
        queue = ClientQueue(name, filters, cursors, self._settings.queue_bytes)
        self.connected[name] = queue
        return queue

    def disconnect(self, queue: ClientQueue) -> None:
        """What it has not confirmed is read for it again, when it comes back."""
        if self.connected.get(queue.name) is queue:
            del self.connected[queue.name]
            self._note(queue)

    async def save(self) -> None:
        """Keep what is new of clients. Raises SluiceError if the store does not."""
        # It goes on when nobody waits for it any more: another one that began meanwhile could be written before it.
        await asyncio.shield(self._save())

    async def _save(self) -> None:
        async with self._saving:
            for queue in self.connected.values():
                self._note(queue)
            # Once in a while also to say that they were seen; but one that takes nothing is to hold no log for ever.
            if seen := time.monotonic() > self._seen_at + min(_SEEN_S, self._settings.forget_hours * _TENTH_OF_AN_HOUR):
                self._seen_at = time.monotonic()
            wanted = [
                state
                for name, state in self._known.items()
                if self._saved.get(name) != state or (seen and self._has_all(name))
            ]
            if wanted:
                await asyncio.to_thread(relay_clients.save, self._store, self._held, wanted)
                self._saved |= {state.name: state for state in wanted}

    async def forget(self) -> None:
        """Forget clients that have not come, or took nothing, for long. Raises SluiceError."""
        unseen = timedelta(hours=self._settings.forget_hours)
        names = await asyncio.to_thread(relay_clients.forget, self._store, self._held, unseen)
        for name in names:
            event("client forgotten", name=name)
            for those in (self._known, self._saved, self.connected):
                those.pop(name, None)

    def _has_all(self, name: str) -> bool:
        return name in self.connected and self.connected[name].has_all

    def _note(self, queue: ClientQueue) -> None:
        if queue.filters or queue.name in self._known:
            # Without a filter nothing of a log has to be kept for it.
            positions = {source: queue.position(source) for source in queue.cursors if queue.filters}
            plain = [_plain(one) for one in queue.filters.values()]
            self._known[queue.name] = RelayClientState(queue.name, plain, positions)


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


def _plain(one: Filter) -> dict[str, Any]:
    fields = {"kinds": int(one.kinds), "discard": int(one.discard), "limit": one.limit}
    return {"schema": one.schema, "table": one.table, **fields}


def _from_plain(plain: Mapping[str, Any]) -> Filter:
    kinds, discard = Kind(plain["kinds"]), Discard(plain["discard"])
    return Filter(plain["schema"], plain["table"], kinds, discard, plain["limit"])
