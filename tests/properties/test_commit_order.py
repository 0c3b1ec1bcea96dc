"""Whatever sessions do, in whatever order they commit, and whenever jobs run between them: at rest the slave is equal.

R1: transactions are published in the order of their largest keys, late commits included. R4: none is ever seen split.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.fuzzing import examples
from support.histories import MARKS, Publishing, Sessions, drain, no_transaction_is_split, ordinals_count_transactions
from support.world import SOURCE

DDL = """
CREATE TABLE parent (id integer PRIMARY KEY, name text UNIQUE);
CREATE TABLE child (id integer PRIMARY KEY DEFERRABLE, parent integer REFERENCES parent ON DELETE CASCADE, note text);
CREATE TABLE loose (a integer, b text);
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


@pytest.fixture
def world(build):
    made = build(MARKS + DDL, TABLES)
    made.catch_up()
    return made


@pytest.fixture
def clients(world):
    return [world.session() for _ in range(4)]


@settings(
    max_examples=examples(7, 25),
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
            before, end = world.queued(), world.context.manifest(SOURCE).end()
            publishing.sweep(number)
            assert before - world.queued() <= {change["repl_key"] for change in world.log(end.ordinal)}
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
