"""Whether sources and slaves answer, as pages show it: they look in the background, so that no page waits for a
server that is away. Nor does a server wait for another one: each is looked at by a thread of its own, for some seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from threading import Lock, Thread

from sluice.bounded_calls import BoundedCalls
from sluice.context import Context
from sluice.drain import offline_slaves
from sluice.errors import SluiceError, TransientError
from sluice.log import event
from sluice.model.names import Pair
from sluice.monitor import advice
from sluice.monitor.advice import SourceNotes

SECONDS_BETWEEN_LOOKS = 15.0
# A server that has not answered by then does not: longer than a session takes to be refused.
PATIENCE_S = 20.0
# So many servers are asked at the same time.
_AT_ONCE = 16


class Reach:
    """The findings of the last look. Without a visitor there is none.

    Args:
        patience_s: how long a server is waited for.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._lock = Lock()
        self._patience_s = patience_s
        self._asked = float("-inf")
        self._looks: Thread | None = None
        self._calls = BoundedCalls[Pair | str](_AT_ONCE)
        self._absent: dict[Pair, TransientError | None] = {}
        self._notes: dict[str, SourceNotes] = {}
        self.looked: datetime | None = None

    def look(self, context: Context) -> None:
        """Begin another look, if the last one is some time ago and over."""
        with self._lock:
            if (self._looks and self._looks.is_alive()) or time.monotonic() - self._asked < SECONDS_BETWEEN_LOOKS:
                return
            self._asked = time.monotonic()
            self._looks = Thread(target=self._look, args=(context,), daemon=True, name="reach")
            self._looks.start()

    def look_now(self, context: Context) -> Reach:
        """Look, and wait for the findings."""
        self._look(context)
        return self

    def has_looked(self, pair: Pair) -> bool:
        """Whether anybody has looked at this slave."""
        return pair in self._absent

    def absent(self, pair: Pair) -> TransientError | None:
        """The reason why a slave does not answer; None if it does, or was not asked yet."""
        return self._absent.get(pair)

    def source(self, name: str) -> SourceNotes:
        """The notes of a source."""
        return self._notes.get(name, SourceNotes())

    def _look(self, context: Context) -> None:
        known, config = context.connections, context.config
        pairs = [Pair(replication.source, replication.slave) for replication in config.replications]
        wanted: list[tuple[Pair | str, Callable[[], None]]] = [
            (pair, partial(self._look_at_slave, context, pair))
            for pair in pairs
            if config.slave(pair.slave).connection in known
        ]
        wanted += [(name, partial(self._look_at_source, context, name)) for name in config.sources]
        remaining = iter(wanted)
        while batch := dict(islice(remaining, _AT_ONCE)):
            for server in batch.keys() - self._calls.results(batch, self._patience_s).keys():
                self._note_hanging(context, server)
        self.looked = datetime.now(UTC)

    def _note_hanging(self, context: Context, server: Pair | str) -> None:
        fact = f"it has not answered for {self._patience_s:g} seconds"
        if isinstance(server, Pair):
            hint = "start the database, or fix the way to it; nothing is lost"
            self._absent[server] = TransientError(30, f"{server.slave}: {fact}", hint)
        else:
            waiting = context.capture_way(server).waiting
            self._notes[server] = SourceNotes(
                f"whether anything is published is not known: {fact}. {waiting}.\n"
                "HINT: look whether the database of the source is well, and the way to it"
            )

    def _look_at_slave(self, context: Context, pair: Pair) -> None:
        self._absent[pair] = offline_slaves.why_unreachable(context, pair)

    def _look_at_source(self, context: Context, name: str) -> None:
        try:
            self._notes[name] = advice.for_source(context, name)
        except SluiceError as error:
            event("not looked at", source=name, why=error.fact)
