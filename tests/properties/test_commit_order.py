"""Whatever sessions do, in whatever order they commit, and whenever jobs run between them: at rest the slave is equal.

R1: transactions are published in the order of their largest keys, late commits included. R4: none is ever seen split.
"""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.world import SOURCE

from sluice.control.leases import acquire
from sluice.dispatch.drain import Drain

DDL = """
CREATE TABLE parent (id integer PRIMARY KEY, name text UNIQUE);
CREATE TABLE child (id integer PRIMARY KEY DEFERRABLE, parent integer REFERENCES parent ON DELETE CASCADE, note text);
CREATE TABLE loose (a integer, b text);
CREATE TABLE mark (step integer, edge text, PRIMARY KEY (step, edge));
"""
TABLES = ["public.parent", "public.child", "public.loose", "public.mark"]
KEYS = st.integers(1, 6)
STATEMENTS = st.one_of(
    st.builds("INSERT INTO parent VALUES ({0}, 'n{1}')".format, KEYS, KEYS),
    st.builds("UPDATE parent SET name = 'n{1}' WHERE id = {0}".format, KEYS, KEYS),
    st.builds("UPDATE parent SET name = NULL WHERE id = {0}".format, KEYS),
    st.builds("DELETE FROM parent WHERE id = {0}".format, KEYS),
    st.builds("INSERT INTO child VALUES ({0}, {1}, 'x')".format, KEYS, KEYS),
    st.builds("UPDATE child SET id = id + {0}".format, st.sampled_from([1, -1, 2])),
    st.builds("UPDATE child SET note = note || 'y' WHERE parent = {0}".format, KEYS),
    st.builds("DELETE FROM child WHERE id = {0}".format, KEYS),
    st.builds("INSERT INTO loose VALUES ({0}, NULL), ({0}, NULL)".format, KEYS),
    st.builds("DELETE FROM loose WHERE ctid = (SELECT ctid FROM loose WHERE a = {0} LIMIT 1)".format, KEYS),
    st.builds("UPDATE loose SET b = 'b{0}' WHERE a = {1}".format, KEYS, KEYS),
    st.sampled_from(["SAVEPOINT s", "ROLLBACK TO SAVEPOINT s", "TRUNCATE loose"]),
)
SESSIONS = st.integers(0, 2)
BOUNDS = st.one_of(st.integers(1, 5), st.integers(1, 40))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("run"), SESSIONS, STATEMENTS),
        st.tuples(st.just("run"), SESSIONS, STATEMENTS),
        st.tuples(st.just("run"), SESSIONS, STATEMENTS),
        st.tuples(st.just("commit"), SESSIONS, st.none()),
        st.tuples(st.just("rollback"), SESSIONS, st.none()),
        st.tuples(st.just("publish"), BOUNDS, st.none()),
        st.tuples(st.just("publish"), BOUNDS, st.none()),
        st.tuples(st.just("overtake"), st.integers(1, 5), st.none()),
        st.tuples(st.just("drain"), st.integers(1, 5), st.none()),
    ),
    min_size=10,
    max_size=60,
)


class Sessions:
    """Three clients of the master, each with at most one open transaction, framed by two marks."""

    _step = 0

    def __init__(self, clients: list[psycopg.Connection[Any]]) -> None:
        self._open: dict[int, int] = {}
        self._sessions = clients
        for session in clients:
            session.execute("ROLLBACK")

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

    def rollback(self, number: int) -> None:
        if self._open.pop(number, None):
            self._sessions[number].execute("ROLLBACK")

    def end(self) -> None:
        for number in range(3):
            self.commit(number)

    def _mark(self, number: int, edge: str) -> None:
        self._sessions[number].execute("INSERT INTO mark VALUES (%s, %s)", [self._open[number], edge])

    def _attempt(self, number: int, statement: str | None) -> bool:
        try:
            if statement is None:
                self._mark(number, "last")
                self._sessions[number].execute("COMMIT")
            else:
                self._sessions[number].execute(statement.encode())
        except psycopg.Error:
            self.rollback(number)
            return False
        return True


@pytest.fixture
def world(build):
    made = build(DDL, TABLES)
    made.catch_up()
    return made


@pytest.fixture
def clients(world):
    sessions = [world.session() for _ in range(3)]
    for session in sessions:
        # A session that would wait for another, which cannot go on meanwhile, gives up instead.
        session.execute("SET lock_timeout = '20ms'")
    return sessions


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=STEPS)
@example(
    # The first to begin changes what the second brought and committed: neither first keys nor ids tell the order.
    steps=[
        ("run", 0, "INSERT INTO loose VALUES (1, NULL), (1, NULL)"),
        ("run", 1, "INSERT INTO parent VALUES (1, 'n1')"),
        ("commit", 1, None),
        ("run", 0, "UPDATE parent SET name = NULL WHERE id = 1"),
        ("commit", 0, None),
    ]
)
def test_at_rest_the_slave_equals_the_master_however_sessions_and_jobs_interleave(world, clients, steps):
    sessions = Sessions(clients)
    publishing = Publishing(world)
    reached = world.position()
    for kind, number, statement in steps:
        if kind == "run":
            sessions.run(number, statement)
        elif kind == "commit":
            sessions.commit(number)
        elif kind == "rollback":
            sessions.rollback(number)
        elif kind == "publish":
            before = world.queued()
            publishing.sweep(number)
            assert before - world.queued() <= {change["repl_key"] for change in world.log()}
        elif kind == "overtake":
            publishing.overtake()
        else:
            drain(world, number)
            assert reached <= world.position()
            reached = world.position()
            assert no_transaction_is_split(world)
    sessions.end()
    world.catch_up()
    assert world.differences() == {}
    assert no_transaction_is_split(world)
    assert ordinals_count_transactions(world.log())


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
    one = Drain(slave, world.context.manifest(SOURCE), world.context.files(), size)
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
