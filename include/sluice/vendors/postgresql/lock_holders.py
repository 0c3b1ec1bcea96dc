"""Who holds a lock that a session of ours waits for: after the wait nobody can tell any more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from sluice.connections import ConnectionInfo
from sluice.errors import LockTimeout, SluiceError
from sluice.log import event
from sluice.vendors.postgresql.session import Connection, composed, connect, process_of

# How long a drain waits for a lock: one that is held for longer would keep a place for steps from others.
LOCK_WAIT = "20s"
# Shorter than any wait that ends with an error, and longer than nearly every batch.
_LOOK_S = 3.0


@contextmanager
def naming_holders(info: ConnectionInfo, session: Connection) -> Iterator[None]:
    """Within its block, let the error of a lock that did not come say who held it.

    Raises:
        LockTimeout: SLC-036.
    """
    watch = _Watch(info, process_of(session))
    watch.start()
    try:
        yield
    except LockTimeout as error:
        if watch.holders:
            error.fact = f"{error.fact}. The lock was held by {watch.holders}"
        raise
    finally:
        watch.over.set()


class _Watch(threading.Thread):
    def __init__(self, info: ConnectionInfo, pid: int) -> None:
        super().__init__(name="lock holders", daemon=True)
        self._info = info
        self._pid = pid
        self.over = threading.Event()
        self.holders = ""

    def run(self) -> None:
        """Look now and then, in a session that is begun when a block takes long."""
        session: Connection | None = None
        try:
            while not self.over.wait(_LOOK_S):
                session = session or connect(self._info, "watch", autocommit=True)
                rows = session.execute(composed("session/holders"), {"pid": self._pid}).fetchall()
                self.holders = ", ".join(_who(*row) for row in rows) or self.holders
        except (SluiceError, psycopg.Error) as error:
            event("not watched", why=str(error).splitlines()[0])
        finally:
            if session:
                session.close()


def _who(pid: int, user: str | None, application: str | None) -> str:
    # The server shows those as process 0.
    return f"process {pid} of {user} ({application})" if pid else "a prepared transaction (see pg_prepared_xacts)"
