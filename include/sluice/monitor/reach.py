"""Whether sources and slaves answer, as pages show it: they look in the background, so that no page waits for a
server that is away."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice
from threading import Lock, Thread

from sluice.context import Context
from sluice.drain import offline_slaves
from sluice.errors import SluiceError, TransientError
from sluice.log import event
from sluice.model.names import Pair
from sluice.monitor import advice
from sluice.monitor.advice import SourceNotes

SECONDS_BETWEEN_LOOKS = 15.0
# So many servers are asked at the same time.
_AT_ONCE = 16


class Reach:
    """The findings of the last look. Without a visitor there is none."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked = float("-inf")
        self._looks: Thread | None = None
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

    def known(self, pair: Pair) -> bool:
        """Whether anybody has looked at this slave."""
        return pair in self._absent

    def absent(self, pair: Pair) -> TransientError | None:
        """Why a slave does not answer; None if it does, or nobody has looked."""
        return self._absent.get(pair)

    def source(self, name: str) -> SourceNotes:
        """The notes of a source."""
        return self._notes.get(name, SourceNotes())

    def _look(self, context: Context) -> None:
        pairs = iter([Pair(one.source, one.slave) for one in context.config.replications])
        try:
            while some := list(islice(pairs, _AT_ONCE)):
                self._note_slaves(context, some)
            self._notes = {name: advice.for_source(context, name) for name in context.config.sources}
        except SluiceError as error:
            event("not looked at", why=error.fact)
        self.looked = datetime.now(UTC)

    def _note_slaves(self, context: Context, pairs: Sequence[Pair]) -> None:
        named = [pair for pair in pairs if context.config.slave(pair.slave).connection in context.connections]
        absent = offline_slaves.unanswered(context, named)
        self._absent = self._absent | {pair: absent.get(pair) for pair in named}
