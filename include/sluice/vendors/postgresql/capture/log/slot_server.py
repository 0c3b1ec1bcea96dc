"""The server on which a slot is made and read: the master's own, or a standby of it (PostgreSQL 16 and later).

All that is written and recorded is the master's, and a snapshot of the master decides what is taken. So whoever reads
the slot on a standby waits until the standby has replayed what the master has flushed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

from psycopg import sql

from sluice import shell
from sluice.connections import ConnectionInfo
from sluice.errors import AGAIN, ConfigError, TransientError, sanitize
from sluice.model.byte_size import size
from sluice.vendors.postgresql.session import Connection, composed, connect
from sluice.vendors.postgresql.statements import transaction_fate

T = TypeVar("T")

# How long a look waits for the standby.
_PATIENCE_S, _PAUSE_S = 15.0, 0.01
# A standby begins a slot where the master noted its running transactions, perhaps three times.
_NOTE_S = 0.2


class SlotServer:
    """See the module.

    Args:
        info: the master.
        master: its session, opened when it is needed.
        standby: a standby of it; None where the slot is the master's.
    """

    def __init__(
        self,
        info: ConnectionInfo,
        master: Callable[[], Connection],
        parts: Mapping[str, sql.Composable],
        standby: ConnectionInfo | None = None,
    ) -> None:
        self._info = info
        self.master = master
        self._parts = parts
        self._standby = standby
        self._session: Connection | None = None
        self._flushing: Connection | None = None
        # The sessions at the master and at its standby between which it was seen.
        self._proven: tuple[Connection, Connection] | None = None

    @property
    def is_standby(self) -> bool:
        """Whether it is another server than the master."""
        return self._standby is not None

    def open(self) -> Connection:
        """The session that the slot is read in.

        Raises:
            ConfigError: SLC-552, the standby is none; it is none of this master.
        """
        if self._standby is None:
            return self.master()
        if self._session is None or self._session.closed:
            session = connect(self._standby, "decode", autocommit=True)
            try:
                self._expect_standby(session)
            except BaseException:
                session.close()
                raise
            self._session = session
        return self._session

    def flush(self) -> int:
        """Make durable on the master all that is committed there; up to where its log is flushed then.

        The session that does it is in no transaction. Nothing hangs on whether it lives: the slot gives what is
        flushed.
        """
        if self._flushing is None or self._flushing.closed:
            self._flushing = transaction_fate.beside(self._info)
        transaction_fate.flush(self._flushing)
        return _flushed(self._flushing)

    def has(self, lsn: int) -> bool:
        """Whether the master's log can be read here up to this place.

        Raises:
            ConfigError: SLC-552, the standby was promoted.
        """
        return self._standby is None or self._replayed() >= lsn

    def reach(self, lsn: int) -> None:
        """Wait until the master's log can be read here up to a place that is flushed there.

        Raises:
            ConfigError: SLC-552, the standby was promoted.
            TransientError: SLC-554, it is too far behind.
        """
        end = time.monotonic() + _PATIENCE_S
        while not self.has(lsn):
            if time.monotonic() > end:
                raise TransientError(
                    554,
                    f"the standby at {self._address} is {size(lsn - self._replayed())} of the server's log behind the "
                    f"master, and did not catch up within {_PATIENCE_S:g} s",
                    f"nothing was published, and nothing is lost; {AGAIN}. If that lasts, see there in "
                    "pg_stat_wal_receiver and its log why. If replay is paused, type SELECT pg_wal_replay_resume(); "
                    "end queries that hold it up (max_standby_streaming_delay); take recovery_min_apply_delay out",
                )
            time.sleep(_PAUSE_S)

    def catch_up(self) -> None:
        """See that all that is committed by now can be read. Raises as `reach`."""
        flushed = self.flush()
        self.reach(flushed)

    def behind(self) -> int | None:
        """How many bytes of the master's log a standby has not replayed yet; None where there is none."""
        if self._standby is None:
            return None
        flushed = _flushed(self.master())
        return max(flushed - self._replayed(), 0)

    def expect_follower(self, epoch: int) -> None:
        """See, once for two sessions, that what is written to the master arrives at the standby. Two servers that were
        promoted from copies of one master have the same name, and places of the log with the same numbers.

        Args:
            epoch: of the publisher; if another one has taken its place, nothing is seen.

        Raises:
            ConfigError: SLC-552, it does not.
            TransientError: SLC-554, it has not arrived yet.
        """
        if self._standby is None:
            return
        pair = self.master(), self.open()
        if pair == self._proven:
            return
        touched = self.master().execute(composed("capture/log/touch", **self._parts), {"epoch": epoch}).fetchone()
        if touched is None:
            return
        self.catch_up()
        look = composed("capture/log/touched", **self._parts)
        if self.open().execute(look).fetchone() == touched:
            self._proven = pair
        elif self.master().execute(look).fetchone() == touched:
            raise self._of_another("what was written to the master is not there")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A session in a transaction, where the master's is in one.

        Raises:
            TransientError: SLC-083, it is another session than that in which `expect_follower` has looked.
        """
        session = self.open()
        if self._standby is None:
            yield session
            return
        if self._proven is None or session is not self._proven[1]:
            raise TransientError(
                83,
                f"the session at the standby at {self._address} was lost",
                "nothing was published, and nothing is lost: the next run begins another one",
            )
        session.execute("BEGIN")
        try:
            yield session
        except BaseException:
            # Perhaps in the middle of its COPY, where a ROLLBACK would wait for the rest of it for ever.
            session.close()
            raise
        session.execute("ROLLBACK")

    def made(self, make: Callable[[Connection], T]) -> T:
        """What `make` gives, which makes a slot. On a standby that waits for notes of the master."""
        session = self.open()
        if self._standby is None:
            return make(session)
        notes, may = composed("capture/log/note_running"), composed("capture/log/may_note")
        with (
            ThreadPoolExecutor(1) as pool,
            connect(self._info, "note", autocommit=True) as noting,
        ):
            is_able = noting.execute(may).fetchone() == (True,)
            making = pool.submit(make, session)
            while not wait([making], _NOTE_S).done:
                if is_able:
                    noting.execute(notes)
            return making.result()

    def unmade(self, name: str, wait: str) -> TransientError:
        """An error: to make a slot took longer than this."""
        why, rights = f"transactions on this server stay open for longer than {wait}", ""
        if self._standby is not None:
            why = (
                f"the master did not note within {wait}, as far as the standby at {self._address} knows, that all "
                "transactions which were open have ended"
            )
            if self.master().execute(composed("capture/log/may_note")).fetchone() != (True,):
                rights = f"let an administrator run the script of {shell.sluice('grants', 'SOURCE')}; "
        return TransientError(
            408,
            f"the slot {name} cannot be made: {why}",
            f"{rights}see pg_stat_activity of the master which are open, and end those that were forgotten; {AGAIN}",
        )

    def close(self) -> None:
        """End the sessions; not the master's."""
        for session in (self._session, self._flushing):
            if session is not None:
                session.close()
        self._session = self._flushing = self._proven = None

    @property
    def _address(self) -> str:
        info = self._standby or self._info
        return f"{info.host}:{info.port}/{info.database}"

    def _replayed(self) -> int:
        is_standby, lsn = self.open().execute(composed("capture/log/replayed")).fetchone() or (False, 0)
        if not is_standby:
            raise self._no_standby()
        return int(lsn or 0)

    def _expect_standby(self, session: Connection) -> None:
        look = composed("capture/log/which_server")
        is_standby, *ours = session.execute(look).fetchone() or (False,)
        if not is_standby:
            raise self._no_standby()
        # If the master is a standby itself, the first write says it.
        _, system, database = self.master().execute(look).fetchone() or (False, "", "")
        if ours[0] != system:
            raise self._of_another("its system identifier is another one")
        if ours[1] != database:
            raise self._of_another(f"the master's database is {sanitize(database)}")

    def _no_standby(self) -> ConfigError:
        return ConfigError(
            552,
            f"`standby_connection` leads to {self._address}, which is no standby",
            "nothing was published, and nothing is lost. Let it lead to a standby of the master. If that one was "
            "promoted and takes the master's place, let `connection` lead to it, and take `standby_connection` out: "
            "publishing goes on there",
        )

    def _of_another(self, why: str) -> ConfigError:
        return ConfigError(
            552,
            f"`standby_connection` leads to {self._address}, which is no standby of this master: {why}",
            "nothing was published, and nothing is lost. Mend the connection: let it lead to the same database of a "
            "server that replays the log of the master that `connection` leads to",
        )


def _flushed(master: Connection) -> int:
    (_, flushed) = master.execute(composed("capture/log/written")).fetchone() or (0, 0)
    return int(flushed)
