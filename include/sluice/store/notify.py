"""Notifications of new segments (LISTEN and NOTIFY), instead of polling.

It only ends a wait early: a process that gets none, since a pooler or a server that is gone is between, looks later.
"""

from __future__ import annotations

import time

import psycopg
from sqlalchemy import Connection, func, select

from sluice.store.engine import Store

_CHANNEL = "sluice_segment"
# After a session was lost the next one is opened no sooner.
_AGAIN_S = 1.0


def send(connection: Connection, source: str) -> None:
    """Tell all who wait for a segment of this source, at the commit of this transaction."""
    connection.execute(select(func.pg_notify(_CHANNEL, source)))


class SegmentListener:
    """Waits for segments of one source, in a session of its own."""

    def __init__(self, store: Store, source: str) -> None:
        self._store = store
        self._source = source
        self._session: psycopg.Connection[tuple[object, ...]] | None = None

    def wait(self, seconds: float) -> None:
        """Wait until a segment was listed since the last look, but no longer than that."""
        end = time.monotonic() + seconds
        try:
            if self._session is None:
                self._session = self._store.session()
                self._session.execute(f"LISTEN {_CHANNEL}")
                # Nobody told of what was listed since the last look.
                return
            while (left := end - time.monotonic()) > 0:
                for notification in self._session.notifies(timeout=left, stop_after=1):
                    if notification.payload == self._source:
                        return
        except psycopg.Error:
            self.close()
            time.sleep(max(0.0, min(_AGAIN_S, end - time.monotonic())))

    def close(self) -> None:
        """End the session."""
        if self._session is not None:
            self._session.close()
            self._session = None
