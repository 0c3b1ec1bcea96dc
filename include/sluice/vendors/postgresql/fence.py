"""Fences of a source and of its slaves: raising one, and holding that of a slave while it is written to (R6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial

from psycopg import errors, sql
from psycopg.rows import TupleRow

from sluice.errors import FencedError
from sluice.libpq import name_session
from sluice.model.names import Pair
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import Connection, begun_with, composed, restore

# Begins a transaction, which the end of its block commits.
Transactions = Callable[[], AbstractContextManager[Connection]]


def loading(pair: Pair, *, in_blocks: bool = False) -> str:
    """The application name of a session that loads a slave, by which a later job finds it.

    Args:
        in_blocks: beside its drain, which waits for it.
    """
    return f"{'blocks' if in_blocks else 'load'} {pair}"


def loads(pair: Pair, *, blocks: bool) -> list[str]:
    """The names of these sessions as the slave's server has them; those that load in blocks are among them or not."""
    kinds = (False, True) if blocks else (False,)
    return [name_session(loading(pair, in_blocks=each)) for each in kinds]


def raised(
    session: Connection, take_over: sql.Composed, holder: sql.Composed, values: Mapping[str, object]
) -> TupleRow | None:
    """Raise a fence; returns the row of `take_over`, or None if a job with a later epoch is active.

    A session that hangs in a transaction with its row is ended.

    Args:
        holder: gives the process ids of those who may hang so.
    """
    session.execute("SET lock_timeout = '2s'")
    try:
        row = session.execute(take_over, values).fetchone()
    except errors.LockNotAvailable:
        for (pid,) in session.execute(holder, values).fetchall():
            session.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        row = session.execute(take_over, values).fetchone()
    session.execute(sql.SQL("SET lock_timeout = {}").format(begun_with(session, "lock_timeout")))
    return row


def lock_fence(session: Connection, position: sql.Composable, pair: Pair, epoch: int) -> None:
    """Lock the fence of a slave until the transaction ends: a job that takes over waits for it, or ends our session.
    Before that the session is restored: whatever ran in the transaction before it.

    Raises:
        FencedError: SLC-050, another job took over.
        SluiceError: SLC-373, this is not the session that was begun.
    """
    names = {"source": pair.source, "slave": pair.slave}
    # What a transaction begins with is set before it.
    session.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE")
    restore(session)
    if session.execute(composed("position/fence", position=position), names).fetchone() != (epoch,):
        raise fenced(pair, epoch)


def fenced(pair: Pair, epoch: int) -> FencedError:
    """Somebody took over a slave, or set its position."""
    return FencedError(
        50,
        f"somebody took over slave {pair.slave} of {pair.source} (our epoch was {epoch}), or set its position back: it "
        "is not where the last transaction left it",
    )


class Sessions:
    """Sessions that write to a slave under the fence of an epoch, each transaction by itself: one that is kept for step
    after step, and more beside it.
    """

    def __init__(
        self, pair: Pair, position: sql.Composable, epoch: int, connected: Callable[[str], Connection]
    ) -> None:
        """`connected` makes one of that name."""
        self._new = connected
        self._pair = pair
        self._position = position
        self._epoch = epoch
        self._session: Connection | None = None

    @contextmanager
    def writing(self, doing: str) -> Iterator[Connection]:
        """A transaction for the next step. Raises FencedError SLC-050, another job took over."""
        with translated(doing), self._fenced(self._open()) as session:
            yield session

    @contextmanager
    def reading(self, doing: str) -> Iterator[Connection]:
        """A transaction for the next step, without a check of the fence."""
        with translated(doing), self._open().transaction() as begun:
            yield begun.connection

    @contextmanager
    def beside(self, doing: str) -> Iterator[Transactions]:
        """One more session; its transactions raise FencedError SLC-050 if another job took over."""
        with translated(doing), closing(self._connected()) as session:
            yield partial(self._fenced, session)

    def close(self) -> None:
        """End the one that is kept."""
        if self._session is not None:
            self._session.close()

    @contextmanager
    def _fenced(self, session: Connection) -> Iterator[Connection]:
        with session.transaction():
            lock_fence(session, self._position, self._pair, self._epoch)
            yield session

    def _open(self) -> Connection:
        if self._session is None or self._session.closed:
            self._session = self._connected()
        return self._session

    def _connected(self) -> Connection:
        return self._new(loading(self._pair))
