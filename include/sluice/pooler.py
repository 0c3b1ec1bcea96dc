"""Connection poolers in front of a PostgreSQL server, such as PgBouncer.

Many refuse `options` when a session begins. Then settings are given by SET, and only in a session that is ours alone:
one that a pooler gives to others after each transaction would give them our settings, and us theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any
from uuid import uuid4

import psycopg

from sluice import libpq, shell
from sluice.errors import AGAIN, SluiceError, TransientError

# A setting that this session alone has: it tells that what else was set in it since it began still holds. Statements
# that count on that read it back, beside what they read anyway.
MARK = "sluice.session"
# How a pooler refuses a parameter of the start-up: PgBouncer as a violation of the protocol, RDS Proxy as a feature
# that is not supported. No server refuses `options` so.
REFUSALS = ("08P01", "0A000")

_ROUNDS = 3
_PROCESS = "SELECT pg_catalog.pg_backend_pid()"
_LEFT = "SELECT pg_catalog.current_setting(%s, true)"
# Where this process has proven it.
_proven: set[tuple[object, ...]] = set()


def is_proven(how: Mapping[str, Any]) -> bool:
    """Whether `prove` has succeeded in this process, for a connection with these parameters of libpq."""
    return _place(how) in _proven


def forget() -> None:
    """Forget all proofs."""
    _proven.clear()


def prove(session: psycopg.Connection[Any], how: Mapping[str, Any], address: str) -> None:
    """See that each client has a session of the server until it leaves, whatever is in between.

    Two clients are held at once, and asked which process serves them. A pooler of transactions gives an idle client
    none, so it serves both by the process that became free last (or by the next one in turn, if it goes round). Each
    round makes the process of one client become free right before the other client asks, and asks twice: on a quiet
    pool the first round tells. On a busy one others take processes in between, so that a client would have to be given
    the same one of many in each of a dozen looks. Transactions only read until that is seen. Should a pooler still
    pass, or be changed later, each session is told by its mark, see `sluice.vendors.postgresql.session`.

    At last a mark is left to the next client: a pooler that resets nothing would give others our settings.

    Args:
        session: one of the two, in autocommit.
        how: its parameters, as libpq names them.

    Raises:
        SluiceError: SLC-690, it does not.
        TransientError: SLC-658, it gives us no second session.
        psycopg.Error: a session is lost.
    """
    if is_proven(how):
        return
    with closing(libpq.connect(**how)) as other:
        try:
            look = _Processes(address)
            look.at(session, other)
            for _ in range(_ROUNDS):
                with session.transaction():
                    look.at(session)
                    with other.transaction():
                        look.at(other)
                look.at(other, other, session, session)
        except psycopg.OperationalError as error:
            if session.closed:
                raise
            raise TransientError(
                658,
                f"the connection pooler at {address} gives no second session: {str(error).strip()}",
                f"let it have more sessions of the server (PgBouncer: default_pool_size); nothing was set, {AGAIN}",
            ) from error
        other.execute("SELECT pg_catalog.set_config(%s, %s, false)", [MARK, uuid4().hex])
    with closing(libpq.connect(**how)) as following:
        expect_unmarked(following, address)
    _proven.add(_place(how))


def expect_unmarked(session: psycopg.Connection[Any], address: str) -> None:
    """See that no earlier client left settings in a session. Raises SluiceError SLC-690."""
    (left,) = session.execute(_LEFT, [MARK]).fetchone() or (None,)
    if left:
        raise refusal(address, "gives a session of the server on as its last client left it")


def refusal(address: str, what: str, *, always: bool = False) -> SluiceError:
    """A pooler does something by which nothing can be done over it.

    Args:
        always: however it is set.
    """
    other = (
        ". Or let the pooler keep a session for each client, and reset it then (PgBouncer: pool_mode = session, "
        "server_reset_query = DISCARD ALL)"
    )
    return SluiceError(
        690,
        f"a connection pooler at {address} {what}",
        "no row was read or written. Let the connection lead to the address of the server itself, which managed "
        f"databases have beside the address of their pooler; type: {shell.connect('ID')}{'' if always else other}",
    )


class _Processes:
    """The processes that serve two clients."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._processes: dict[int, int] = {}

    def at(self, *clients: psycopg.Connection[Any]) -> None:
        """Ask for the process of each. Raises SluiceError SLC-690: it changed, or serves both."""
        for client in clients:
            (process,) = client.execute(_PROCESS, prepare=False).fetchone() or (0,)
            others = [known for number, known in self._processes.items() if number != id(client)]
            if self._processes.setdefault(id(client), process) != process or process in others:
                raise refusal(self._address, "gives each transaction to another session of the server")


def _place(how: Mapping[str, Any]) -> tuple[object, ...]:
    return tuple(how.get(name) for name in ("host", "hostaddr", "port", "dbname", "user"))
