"""Tables are altered while several sessions write to them: no statement fails, and nothing is missing (R9)."""

from __future__ import annotations

import random

import pytest
from support.updating import background

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL DEFAULT 0, note text);
CREATE TABLE parted (part int, id int, n int NOT NULL DEFAULT 0, PRIMARY KEY (part, id)) PARTITION BY LIST (part);
CREATE TABLE p0 PARTITION OF parted FOR VALUES IN (0);
CREATE TABLE p1 PARTITION OF parted FOR VALUES IN (1);
INSERT INTO t SELECT g, 0, 'x' FROM generate_series(1, 200) AS g;
INSERT INTO parted SELECT g % 2, g FROM generate_series(1, 200) AS g;
"""
ALTERS = (
    "ALTER TABLE t ADD told text DEFAULT 'as ever'",
    "ALTER TABLE t RENAME note TO remark",
    "ALTER TABLE parted ADD more int NOT NULL DEFAULT 5",
    "ALTER TABLE t ALTER n TYPE bigint",
    "ALTER TABLE t DROP told, ADD other numeric",
    "ALTER TABLE t RENAME remark TO note",
    "ALTER TABLE parted DROP more",
    "ALTER TABLE t ALTER n TYPE int, DROP other",
)


def writes(session, seed):
    """Statements that name no column which comes or goes, of rows that a session of its own writes."""
    session.prepare_threshold = None
    chance = random.Random(seed)

    def once():
        one, other = (3 * chance.randrange(100) + seed for _ in range(2))
        with session.transaction(force_rollback=chance.random() < 0.1):
            session.execute("INSERT INTO t (id) VALUES (%s) ON CONFLICT (id) DO UPDATE SET n = t.n + 1", [one])
            session.execute("UPDATE parted SET n = n + 1 WHERE id IN (%s, %s)", [one, other])
            session.execute("DELETE FROM t WHERE id = %s", [other])

    return once


@pytest.mark.full
def test_writers_go_on_and_slaves_get_all_of_it(build):
    world = build(DDL, ["public.t", "public.parted"])
    world.catch_up()
    altering = world.session()
    with background(*(writes(world.session(), seed) for seed in range(3)), pause_s=0), background(world.publish):
        for statement in ALTERS * 2:
            altering.execute(statement.encode())
    world.catch_up()
    assert world.differences() == {}
    assert world.drain("zurich")["tolerated"] == 0
