"""Histories of sessions of a master, interleaved with its jobs: carried out step by step, as a test generates them."""

from __future__ import annotations

from typing import Any

import psycopg
from support.world import SOURCE

from sluice.drain.drain import Drain
from sluice.store.leases import acquire

# Each transaction writes one row into it at its beginning and one at its end.
MARKS = "CREATE TABLE mark (step integer, edge text, PRIMARY KEY (step, edge));"
_OF_SAVEPOINTS = ("SAVEPOINT", "ROLLBACK", "RELEASE")


class Sessions:
    """Clients of the master, each with at most one open transaction, framed by two marks.

    Args:
        clients: the last of them ends transactions that others have prepared.
        guarded: a statement that fails leaves its transaction as it was.
    """

    _step = 0

    def __init__(self, clients: list[psycopg.Connection[Any]], *, guarded: bool = False) -> None:
        self._open: dict[int, int] = {}
        self._prepared: list[str] = []
        *self._sessions, self._coordinator = clients
        self._guarded = guarded
        for session in clients:
            session.execute("ROLLBACK")
            # Who would wait for another, that cannot go on meanwhile, gives up instead.
            session.execute("RESET ALL; SET lock_timeout = '20ms'")

    def run(self, number: int, statement: str) -> None:
        session = self._sessions[number]
        if number not in self._open:
            Sessions._step += 1
            self._open[number] = Sessions._step
            session.execute("BEGIN")
            self._mark(number, "first")
        self._attempt(number, statement)

    def commit(self, number: int) -> None:
        if number in self._open and self._attempt(number, None):
            del self._open[number]

    def prepare(self, number: int) -> None:
        """Leave a transaction to a coordinator, who ends it at any time."""
        name = f"step {self._open.get(number)}"
        if number in self._open and self._attempt(number, None, f"PREPARE TRANSACTION '{name}'"):
            del self._open[number]
            self._prepared.append(name)

    def decide(self, number: int, how: str) -> None:
        """Commit one of them, or roll it back."""
        if self._prepared:
            name = self._prepared.pop(number % len(self._prepared))
            self._coordinator.execute(f"{how} PREPARED '{name}'".encode())

    def rollback(self, number: int) -> None:
        if self._open.pop(number, None):
            self._sessions[number].execute("ROLLBACK")

    def end(self) -> None:
        for number in range(len(self._sessions)):
            self.commit(number)
        while self._prepared:
            self.decide(0, "COMMIT")

    def _mark(self, number: int, edge: str) -> None:
        self._sessions[number].execute("INSERT INTO mark VALUES (%s, %s)", [self._open[number], edge])

    def _attempt(self, number: int, statement: str | None, end: str = "COMMIT") -> bool:
        execute = self._sessions[number].execute
        guarded = self._guarded and statement is not None and not statement.startswith(_OF_SAVEPOINTS)
        try:
            if statement is None:
                self._mark(number, "last")
            elif guarded:
                execute("SAVEPOINT guard")
            execute((statement or end).encode())
        except psycopg.Error:
            if guarded:
                execute("ROLLBACK TO guard")
            else:
                self.rollback(number)
            return False
        return True


class Publishing:
    """A publisher, which another may overtake between two sweeps."""

    def __init__(self, world: Any) -> None:
        self._world = world
        self.overtake()

    def overtake(self) -> None:
        """Go on with a publisher that knows nothing of the one before."""
        self._publisher = self._world.publisher()

    def sweep(self, bound: int) -> None:
        """One sweep of about so many changes."""
        self._publisher.publish(bound)


def drain(world: Any, size: int) -> None:
    """One batch of at least so many changes, by a drain that takes over from whoever was there."""
    pair = world.pair(world.slaves[0])
    slave = world.context.slave(pair)
    one = Drain(slave, world.context.manifest(SOURCE), world.context.files(), size, world.context.read_snapshot(SOURCE))
    one.begin(acquire(world.context.store, f"drain {pair}", force=True).epoch)
    one.deliver()
    slave.close()


def no_transaction_is_split(world: Any) -> bool:
    query = "SELECT count(*) FROM mark GROUP BY step HAVING count(*) <> 2"
    return not world.reader(world.slaves[0]).execute(query).fetchall()


def ordinals_count_transactions(log: list[dict[str, Any]]) -> bool:
    by_ordinal: dict[int, set[str]] = {}
    for change in log:
        by_ordinal.setdefault(change["ordinal"], set()).add(change["trans_key"])
    one_each = all(len(keys) == 1 for keys in by_ordinal.values())
    distinct = len({key for keys in by_ordinal.values() for key in keys}) == len(by_ordinal)
    return one_each and distinct and sorted(by_ordinal) == list(range(1, len(by_ordinal) + 1))
