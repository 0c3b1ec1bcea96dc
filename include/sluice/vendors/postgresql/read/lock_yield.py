"""Reading a snapshot gives way to a statement that waits for one of its locks: an ALTER TABLE, say, behind which every
other statement on that table waits, too.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Sequence
from types import TracebackType

import psycopg

from sluice.connections import ConnectionInfo
from sluice.errors import VALUES_ENV, LockTimeout, SluiceError, TransientError
from sluice.log import event
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import Connection, composed, connect, plain_id

# The server is asked this often, or ten times in the time that a statement may wait.
_LOOK_S = 1.0
# A reader that cannot have its lock waits behind such a statement itself.
_LITERAL = re.compile(r"'(?:[^']|'')*'|\$(\w*)\$.*?\$\1\$", re.DOTALL)
_SHOWN = 200


class LockYield:
    """While its block runs, it ends all sessions of a snapshot as soon as a statement has waited too long for one of
    them. The error that this leads to is replaced by one that tells the reason.

    Args:
        snapshot_id: the names of sessions that read this snapshot end with its id.
        after_s: how long a statement may wait; None or 0: as long as it takes.
        holders: sessions that hold the snapshot, and its tables.
    """

    def __init__(
        self,
        info: ConnectionInfo,
        snapshot_id: str,
        after_s: float | None,
        holders: Sequence[Connection] = (),
    ) -> None:
        self._info = info
        pids = [pid for one in holders for (pid,) in one.execute("SELECT pg_backend_pid()")]
        self._ours = {"snapshot": plain_id(snapshot_id), "holders": pids}
        self._after_s = after_s or 0.0
        self._reason: TransientError | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="giving way", daemon=True)

    @property
    def reason(self) -> TransientError | None:
        """Why it ended the sessions; None if it did not."""
        return self._reason

    def __enter__(self) -> LockYield:
        if self._after_s:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._after_s:
            self._thread.join()
        if not isinstance(error, SluiceError):
            return
        if isinstance(error, LockTimeout) and not self._reason:
            with translated("looking at who waits"), connect(self._info, "watch", autocommit=True) as session:
                self._reason = self._waiting(session, 0.0)
        if self._reason:
            raise self._reason from error

    def _watch(self) -> None:
        session: Connection | None = None
        while not self._over.wait(min(_LOOK_S, self._after_s / 10)):
            try:
                session = session or connect(self._info, "watch", autocommit=True)
                if reason := self._waiting(session, self._after_s):
                    self._reason = self._reason or reason
                    event("gives way", why=reason.fact)
                    session.execute(composed("read/locks/end"), self._ours)
            except (SluiceError, psycopg.Error) as error:
                event("not watched", why=str(error).splitlines()[0])
                if session:
                    session.close()
                session = None
        if session:
            session.close()

    def _waiting(self, session: Connection, after_s: float) -> TransientError | None:
        """Why to give way, if a statement has waited that long."""
        values = {**self._ours, "after_s": after_s}
        if not (row := session.execute(composed("read/locks/waiting"), values).fetchone()):
            return None
        pid, role, table, statement, seconds, since = row
        return TransientError(
            275,
            f"{table} was being read, and its reader gave way: process {pid} (role {role}) had waited {seconds:.0f} s, "
            f"since {since}, for this: {_shown(statement)}",
            "nothing is lost: what is in stays, and the run tries again by itself. `yields_after_s` of the source says "
            "how long a statement waits at most; `SET lock_timeout = '2s'` in front of an ALTER TABLE lets it give up "
            "sooner, and you try it again",
        )


def _shown(statement: str) -> str:
    """A statement on one line, without the values in it."""
    text = statement if os.environ.get(VALUES_ENV) else _LITERAL.sub("'...'", statement)
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."
