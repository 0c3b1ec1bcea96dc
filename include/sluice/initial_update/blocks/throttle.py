"""Throttles a load in blocks by the activity of other sessions on the master."""

from __future__ import annotations

import time

from sluice.context import Context
from sluice.errors import SluiceError
from sluice.vendors.registry import master

# While it waits, the master is asked no more often.
_REST_S = 3.0


def active(context: Context, source: str) -> int | None:
    """The number of active sessions of others on a master; None if no load needs it.

    Raises:
        SluiceError: SLC-236, its role may not know; or it cannot be asked.
    """
    settings = context.config.source(source)
    if settings.blocks.max_active is None:
        return None
    return master(settings.vendor).active(context.connection(settings.connection))


class Throttle:
    """Decides whether a block may be read from a master now; loads of several slaves share it."""

    def __init__(self, context: Context, source: str) -> None:
        self._context = context
        self._source = source
        self._most = context.config.source(source).blocks.max_active
        self._why, self._until = "", 0.0

    def why_not(self) -> str:
        """Why not; empty if it may. Of a master that cannot be asked, or takes no more sessions, no block is read
        either."""
        if time.monotonic() < self._until:
            return self._why
        try:
            found = active(self._context, self._source) or 0
            busy = self._most is not None and found > self._most
            reason = f"active sessions of others on the master: {found}, more than {self._most} (`max_active`)"
            self._why = reason if busy else ""
        except SluiceError as error:
            self._why = error.message
        self._until = time.monotonic() + _REST_S if self._why else 0.0
        return self._why
