"""A writer that keeps changing the master: several threads, each with two sessions, at a steady rate until stopped.

Every so often a thread opens a transaction on its second session, changes a row, lets others commit after it, and only
then commits: its changes have smaller keys than changes that were visible long before it (R1).
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import NamedTuple

import psycopg
from psycopg import errors

from sluice.demo import traffic
from sluice.demo.traffic import Action, Desk
from sluice.vendors.postgresql.session import Connection

# What concurrent sessions do to each other; the work is given up, as an application would before it tries again.
_CONFLICTS = (errors.IntegrityError, errors.SerializationFailure, errors.DeadlockDetected, errors.LockNotAvailable)
_LATE_ONE_IN = 25


class Counts(NamedTuple):
    """Transactions so far, by their end."""

    committed: int
    rolled_back: int


class DemoWriter:
    """Changes the demo's tables until it is stopped. What each thread does follows from the seed alone.

    Args:
        connect: opens a session on the master.
        rate: transactions a second, all threads together.
    """

    def __init__(
        self, connect: Callable[[], Connection], *, rate: float = 150, threads: int = 3, seed: int = 2013
    ) -> None:
        self._over = threading.Event()
        self._workers = [_Worker(number, connect, threads / rate, seed, self._over) for number in range(threads)]

    def start(self) -> None:
        """Begin."""
        for worker in self._workers:
            worker.start()

    def stop(self) -> None:
        """End within a second, with nothing left open. Raises what ended a thread early, if anything did."""
        self._over.set()
        for worker in self._workers:
            worker.join()
        for worker in self._workers:
            if worker.error:
                raise worker.error

    def counts(self) -> Counts:
        """Transactions so far."""
        committed = sum(worker.committed for worker in self._workers)
        return Counts(committed, sum(worker.rolled_back for worker in self._workers))


class _Worker(threading.Thread):
    """One thread: a session for work, one for transactions that commit late."""

    def __init__(
        self, number: int, connect: Callable[[], Connection], pause_s: float, seed: int, over: threading.Event
    ) -> None:
        super().__init__(name=f"writer {number}", daemon=True)
        self._connect = connect
        self._pause_s = pause_s
        self._over = over
        self._number = number
        self._seed = seed
        self._dice = random.Random(seed * 1000 + number)
        self.committed = self.rolled_back = 0
        self.error: Exception | None = None

    def run(self) -> None:
        """Work until the day is over."""
        try:
            with self._session() as session, self._session() as late:
                desk = Desk(self._number, self._dice, traffic.sample(session, self._seed))
                self._work(session, late, desk)
        except Exception as error:
            self.error = error

    def _work(self, session: Connection, late: Connection, desk: Desk) -> None:
        actions, weights = list(traffic.WEIGHTS), list(traffic.WEIGHTS.values())
        with ExitStack() as rest:
            due = time.monotonic()
            while not self._over.wait(max(0.0, due - time.monotonic())):
                # After a stall it goes on at its rate, it does not make up for what it missed.
                due = max(due, time.monotonic() - 1) + self._pause_s
                if self._dice.randrange(_LATE_ONE_IN) == 0:
                    rest.close()
                    rest.callback(self._begin(late, desk))
                if self._once(session, desk, self._dice.choices(actions, weights)[0]):
                    # A session that waits for a lock may wait for one that waits for our late transaction.
                    rest.close()

    def _once(self, session: Connection, desk: Desk, action: Action) -> bool:
        """One transaction, ended one way or the other. Returns whether it was because of a lock."""
        kept, locked = list(desk.fresh), False
        try:
            with session.transaction() as transaction:
                action(session, desk)
            undone = transaction.status == psycopg.Transaction.Status.ROLLED_BACK_EXPLICITLY
        except _CONFLICTS as conflict:
            undone, locked = True, isinstance(conflict, errors.LockNotAvailable)
        if undone:
            desk.fresh[:] = kept
        self._count(undone)
        return locked

    def _begin(self, late: Connection, desk: Desk) -> Callable[[], None]:
        """Change a row now; the function given commits it, some transactions later."""
        late.execute("BEGIN")
        try:
            traffic.delay(late, desk)
        except _CONFLICTS:
            late.execute("ROLLBACK")
            self._count(True)
            return lambda: None

        def commit() -> None:
            late.execute("COMMIT")
            self._count(False)

        return commit

    def _count(self, undone: bool) -> None:
        if undone:
            self.rolled_back += 1
        else:
            self.committed += 1

    def _session(self) -> Connection:
        session = self._connect()
        session.autocommit = True
        session.execute("SET search_path = public")
        # A thread may wait for a row that its own late transaction holds.
        session.execute("SET lock_timeout = '200ms'")
        return session
