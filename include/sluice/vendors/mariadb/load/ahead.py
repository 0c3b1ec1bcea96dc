"""Rows on their way to the server by a thread, while the next ones are read and made.

A session takes one statement at a time. So whoever uses it for another one settles first.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from sluice.vendors.mariadb.session import Connection


class LoadAhead:
    """One load at a time. Nothing more is begun after one that failed."""

    def __init__(self, session: Connection) -> None:
        self._session = session
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="load")
        self._under_way: Future[None] | None = None

    def begin(self, load: Callable[[], None]) -> None:
        """Begin a load when the one before has ended. Raises what that raised."""
        self.settle()
        self._under_way = self._thread.submit(load)

    def settle(self) -> None:
        """Wait for the load that is under way. Raises what it raised, and again whenever it is asked."""
        if self._under_way:
            self._under_way.result()
            self._under_way = None

    def close(self) -> None:
        """End the thread. A load that is under way breaks off, and with it the session: the server rolls back."""
        if self._under_way and not self._under_way.done():
            # Not the method of a TLS socket: that would have the thread go on in plain text. One that waits for the
            # server is woken by this, and not by closing the socket.
            with suppress(OSError):
                socket.socket.shutdown(self._session._sock, socket.SHUT_RDWR)
        self._thread.shutdown()
