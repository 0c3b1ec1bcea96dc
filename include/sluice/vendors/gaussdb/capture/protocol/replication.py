"""A replication stream: one connection in the mode COPY BOTH, by libpq.

It belongs to one thread. Its reader has to come back before the server's patience ends: the server is told where we are
whenever the next message is asked for, and a server that hears nothing ends the stream.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Iterator

import psycopg
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from sluice import libpq, passwords, pooler, tls
from sluice.connections import ConnectionInfo
from sluice.errors import AGAIN, TransientError
from sluice.libpq import PORT, is_login_refused, parameters, refusal_sqlstate
from sluice.vendors.gaussdb.capture.protocol.frames import Alive, Data, frame, status
from sluice.vendors.gaussdb.capture.slot.lsn import number
from sluice.vendors.gaussdb.capture.slot.options import DecodingOptions
from sluice.vendors.gaussdb.session import options as pinned
from sluice.vendors.postgresql.errors import explained

# So long nothing at all may come, although we ask.
_SILENCE_S = 60.0
# After so long a silence we ask how far the server is.
_ASK_S = 0.2


class ReplicationStream:
    """A stream of a slot, from a place in the log on.

    Attributes:
        target: how far the server's log was when this was opened.

    Raises:
        TransientError: SLC-450, the stream cannot be started, or breaks off.
        SluiceError: SLC-690, a pooler is in between.
    """

    def __init__(
        self, info: ConnectionInfo, options: DecodingOptions, slot: str, lsn: int, silence_s: float | None = None
    ) -> None:
        how = {**parameters(info, "publish"), "options": pinned(), "replication": "database"}
        address = f"{info.host}:{info.port or PORT}/{info.database}"
        self._flushed = lsn
        self._interval_s = int(str(options.value("status-interval"))) / 1000
        self._silence_s = _SILENCE_S if silence_s is None else silence_s
        try:
            self._connection = libpq.open_session(info, how)
        except psycopg.Error as error:
            if insecure := tls.trouble(error, address):
                raise insecure from error
            state = refusal_sqlstate(error, how)
            if state in pooler.REFUSALS:
                raise pooler.refusal(address, "does not take what a session begins with", always=True) from error
            failure = explained(error, f"connecting to {address}", state)
            raise passwords.login_error(info, failure, is_refused=is_login_refused(state)) from error
        try:
            self._pgconn = self._connection.pgconn
            self.target = _lsn(self._asked(b"IDENTIFY_SYSTEM", ExecStatus.TUPLES_OK))
            self._asked(options.start_replication(slot, lsn).encode(), ExecStatus.COPY_BOTH)
            self._arrived = select.poll()
            self._arrived.register(self._pgconn.socket, select.POLLIN)
            self._told = self._heard = time.monotonic()
        except BaseException:
            self._connection.close()
            raise

    def _asked(self, command: bytes, right: ExecStatus) -> PGresult:
        result = self._pgconn.exec_(command)
        if result.status != right:
            raise self._broken(result.error_message.decode(errors="replace") or self._said())
        return result

    def messages(self, is_whole: Callable[[], bool]) -> Iterator[tuple[int, bytes]]:
        """The messages up to `target`, each with its place; and on to the end of the transaction that is open there.

        Args:
            is_whole: whether no transaction is open after what was given.
        """
        given = time.monotonic()
        while True:
            found = self._next()
            if isinstance(found, Data):
                yield found.lsn, found.message
                given = time.monotonic()
            elif found is None:
                # The server says by itself how far it is, but not often.
                self._tell(wants_answer=True)
            else:
                if found.wants_answer:
                    self._tell()
                if found.lsn >= self.target:
                    if is_whole():
                        return
                    if time.monotonic() - given > self._silence_s:
                        raise self._broken("the server has sent all, and a transaction has no end")

    def flushed(self, lsn: int) -> None:
        """Tell the server that all before `lsn` is ours for good, and wait until it has heard that."""
        self._flushed = lsn
        self._tell(wants_answer=True)
        while not isinstance(self._next(), Alive):
            pass

    def close(self) -> None:
        """End it."""
        self._connection.close()

    def _next(self) -> Data | Alive | None:
        """The next frame; None if nothing came for a moment."""
        asked = False
        while True:
            now = time.monotonic()
            if now - self._told >= self._interval_s:
                self._tell()
            size, data = self._pgconn.get_copy_data(1)
            if size > 0:
                self._heard = now
                return frame(bytes(data))
            if size < 0:
                raise self._broken(self._ended(), "the server ended the stream")
            if asked:
                if now - self._heard > self._silence_s:
                    raise self._broken(f"nothing came for {self._silence_s:g} s")
                return None
            asked = not self._arrived.poll(1000 * min(_ASK_S, self._interval_s))
            try:
                self._pgconn.consume_input()
            except psycopg.Error as error:
                raise self._broken(str(error)) from error

    def _tell(self, *, wants_answer: bool = False) -> None:
        self._told = time.monotonic()
        try:
            self._pgconn.put_copy_data(status(self._flushed, time.time(), wants_answer=wants_answer))
            self._pgconn.flush()
        except psycopg.Error as error:
            raise self._broken(str(error)) from error

    def _ended(self) -> str:
        result = self._pgconn.get_result()
        return (result.error_message.decode(errors="replace") if result else "") or self._said()

    def _said(self) -> str:
        return self._pgconn.get_error_message()

    def _broken(self, *said: str) -> TransientError:
        why = next((one.strip() for one in said if one.strip()), "the connection broke off")
        self._connection.close()
        return TransientError(
            450,
            f"the stream of the decoded log broke off: {why}",
            f"nothing of it was taken, {AGAIN}: the slot sends it anew. If it ends at once each time, see the log of "
            "the server, and change the option that it names",
        )


def _lsn(identified: PGresult) -> int:
    """How far the log is, in the answer to IDENTIFY_SYSTEM: its third column."""
    return number((identified.get_value(0, 2) or b"0/0").decode())
