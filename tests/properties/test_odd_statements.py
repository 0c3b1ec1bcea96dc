"""Statements that change rows in unusual ways, in transactions that a coordinator may end: at rest the slave is equal.

MERGE and updates that move rows between partitions, COPY FREEZE, CTEs that change one table several times, TRUNCATE and
DDL that are rolled back with a part of their transaction, sessions that are replicas, two-phase commit (R1, R9).
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.fuzzing import examples
from support.histories import MARKS, Publishing, Sessions, drain, no_transaction_is_split, ordinals_count_transactions

DDL = """
CREATE DOMAIN five AS int DEFAULT 5;
CREATE TABLE keyed (
    id int PRIMARY KEY, n int, u int UNIQUE DEFERRABLE, d five, twice int GENERATED ALWAYS AS (n * 2) STORED);
CREATE TABLE counted (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int);
CREATE TABLE parted (id int, part int, n int, PRIMARY KEY (id, part)) PARTITION BY LIST (part);
CREATE TABLE p0 PARTITION OF parted FOR VALUES IN (0);
CREATE TABLE p1 PARTITION OF parted FOR VALUES IN (1) PARTITION BY RANGE (id);
CREATE TABLE p1_low PARTITION OF p1 FOR VALUES FROM (MINVALUE) TO (3);
CREATE TABLE p1_high PARTITION OF p1 FOR VALUES FROM (3) TO (MAXVALUE);
CREATE TABLE loose (id int, part int, n int) PARTITION BY LIST (part);
CREATE TABLE l0 PARTITION OF loose FOR VALUES IN (0);
CREATE TABLE l1 PARTITION OF loose FOR VALUES IN (1);
CREATE TABLE tree (id int PRIMARY KEY, above int REFERENCES tree ON UPDATE CASCADE ON DELETE CASCADE);
"""
TABLES = [f"public.{name}" for name in ("keyed", "counted", "parted", "loose", "tree", "mark")]
KEYS, PARTS = st.integers(1, 5), st.integers(0, 1)
SHAPES = st.one_of(
    st.builds("INSERT INTO keyed VALUES ({0}, {1}) ON CONFLICT (id) DO UPDATE SET n = keyed.n + 1".format, KEYS, KEYS),
    st.builds("UPDATE keyed AS a SET n = b.n, u = -b.id FROM keyed AS b WHERE a.id = b.id + {0}".format, PARTS),
    st.builds("UPDATE counted SET id = DEFAULT WHERE n = {0}".format, KEYS),
    st.builds("INSERT INTO counted OVERRIDING SYSTEM VALUE VALUES (-{0}, {1})".format, KEYS, KEYS),
    st.builds("INSERT INTO counted (n) VALUES ({0})".format, KEYS),
    st.builds("INSERT INTO loose VALUES ({0}, {1}, 0), ({0}, {1}, 0)".format, KEYS, PARTS),
    st.builds("UPDATE loose SET part = 1 - part, n = n + 1 WHERE id = {0}".format, KEYS),
    st.builds("INSERT INTO tree VALUES ({0}, nullif({1}, {0}))".format, KEYS, KEYS),
    st.builds("UPDATE tree SET id = id + {0}".format, st.sampled_from([10, -10])),
    st.builds("DELETE FROM tree WHERE id = {0}".format, KEYS),
)
MERGES = st.builds(
    "MERGE INTO {0} AS t USING (VALUES ({1}, {2}), ({1} + 1, 1)) AS s (id, part) ON t.id = s.id AND t.n < {1}"
    " WHEN MATCHED AND t.n = 0 THEN DELETE WHEN MATCHED AND t.n = 2 THEN DO NOTHING"
    " WHEN MATCHED THEN UPDATE SET part = s.part, n = t.n - 1, id = t.id + {2}"
    " WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.part, {1})".format,
    st.sampled_from(["parted", "loose"]),
    KEYS,
    PARTS,
)
CTES = st.builds(
    "WITH gone AS (DELETE FROM {0} WHERE id = {1} RETURNING *),"
    " back AS (INSERT INTO {0} SELECT id, 1 - part, n + 1 FROM gone), more AS (UPDATE {0} SET n = 9 WHERE id = {2})"
    " INSERT INTO {0} SELECT id + 1, part, n FROM gone".format,
    st.sampled_from(["parted", "loose"]),
    KEYS,
    KEYS,
)
# Everything of the inner block is rolled back but what its handler does.
CAUGHT = st.builds(
    "DO $$BEGIN {0}; INSERT INTO loose VALUES (0, 0); RAISE division_by_zero;"
    " EXCEPTION WHEN division_by_zero THEN INSERT INTO loose VALUES ({1}, {2}); END$$".format,
    st.sampled_from(
        ["TRUNCATE loose", "TRUNCATE p1, parted", "ALTER TABLE keyed DISABLE TRIGGER ALL", "DROP TABLE l0"]
    ),
    KEYS,
    PARTS,
)
RARE = st.sampled_from(
    [
        "TRUNCATE l0; COPY l0 FROM PROGRAM 'printf \"1,0,7\\n1,0,7\\n\"' (FORMAT csv, FREEZE)",
        "COPY parted (id, part, n) FROM PROGRAM 'printf \"7,0,7\\n8,1,7\\n\"' (FORMAT csv)",
        "TRUNCATE p1",
        "ALTER TABLE parted ADD COLUMN IF NOT EXISTS more text DEFAULT 'more'",
        "ALTER TABLE parted DROP COLUMN IF EXISTS more",
        "ALTER TABLE p1 DETACH PARTITION p1_low",
        "ALTER TABLE p1 ATTACH PARTITION p1_low FOR VALUES FROM (MINVALUE) TO (3)",
        "ALTER DOMAIN five SET DEFAULT 6",
        "SET session_replication_role = replica",
        "SET session_replication_role = origin",
        "SET CONSTRAINTS ALL IMMEDIATE",
        "SET CONSTRAINTS ALL DEFERRED",
    ]
)
SAVEPOINTS = st.sampled_from(["SAVEPOINT s", "ROLLBACK TO SAVEPOINT s", "RELEASE SAVEPOINT s"])
SESSIONS = st.integers(0, 2)
# Each kind as often as another, however many statements are of it.
KINDS = st.sampled_from([SHAPES, SHAPES, MERGES, CTES, CAUGHT, RARE, SAVEPOINTS])
RUN = st.tuples(st.just("run"), SESSIONS, KINDS.flatmap(lambda kind: kind))
STEPS = st.lists(
    st.one_of(
        RUN,
        RUN,
        RUN,
        st.tuples(st.sampled_from(["commit", "commit", "prepare", "rollback"]), SESSIONS, st.none()),
        st.tuples(st.just("decide"), SESSIONS, st.sampled_from(["COMMIT", "COMMIT", "ROLLBACK"])),
        st.tuples(st.sampled_from(["publish", "drain"]), st.integers(1, 9), st.none()),
    ),
    min_size=30,
    max_size=120,
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
    max_examples=examples(3, 10),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(steps=STEPS)
@example(
    # Two partitions get a column with a default, in a transaction that is prepared, after which others write.
    steps=[
        ("run", 0, "INSERT INTO parted VALUES (1, 0, 5), (1, 1, 5)"),
        ("commit", 0, None),
        ("run", 0, "ALTER TABLE parted ADD COLUMN IF NOT EXISTS more text DEFAULT 'more'"),
        ("prepare", 0, None),
        ("run", 1, "INSERT INTO loose VALUES (1, 0, 0)"),
        ("commit", 1, None),
        ("publish", 1, None),
        ("decide", 0, "COMMIT"),
    ]
)
def test_at_rest_the_slave_equals_the_master_whatever_statements_do_to_rows(world, clients, steps):
    sessions, publishing = Sessions(clients, guarded=True), Publishing(world)
    for kind, number, said in steps:
        if kind == "publish":
            publishing.sweep(number)
        elif kind == "drain":
            drain(world, number)
            assert no_transaction_is_split(world)
        elif kind == "run":
            sessions.run(number, said)
        else:
            getattr(sessions, kind)(*(one for one in (number, said) if one is not None))
    sessions.end()
    world.catch_up()
    assert world.differences() == {}
    assert ordinals_count_transactions(world.log())
