"""Lets loads in blocks and comparisons wait while other sessions are busy on the master."""

from __future__ import annotations

import time

from sluice.context import Context
from sluice.errors import SluiceError
from sluice.vendors.registry import master

# While it waits, the master is asked no more often.
_REST_S = 3.0


def active(context: Context, source: str) -> int:
    """The number of active sessions of others on a master.

    Raises:
        SluiceError: SLC-236, its role may not know; or it cannot be asked.
    """
    settings = context.config.source(source)
    return master(settings.vendor).active(context.connection(settings.connection))


class Throttle:
    """Decides whether more may be read from a master now; those that read it for several slaves share it.

    Args:
        most: as many active sessions of others may be there; None: any number.
    """

    def __init__(self, context: Context, source: str, most: int | None) -> None:
        self._context = context
        self._source = source
        self._most = most
        self._why, self._until = "", 0.0

    def why_not(self) -> str:
        """Why not; empty if it may. Of a master that cannot be asked, or takes no more sessions, nothing is read
        either.
        """
        if self._most is None:
            return ""
        if time.monotonic() < self._until:
            return self._why
        try:
            sessions = active(self._context, self._source)
            reason = f"active sessions of others on the master: {sessions}, more than {self._most} (`max_active`)"
            self._why = reason if sessions > self._most else ""
        except SluiceError as error:
            self._why = error.message
        self._until = time.monotonic() + _REST_S if self._why else 0.0
        return self._why
