"""Constraints that not every row meets, and keys of periods: made on slaves as they are on the master."""

from __future__ import annotations

import re

import pytest

from sluice.errors import SluiceError

pytestmark = [pytest.mark.postgres]

TABLES = ("p", "t", "room", "stay", "pair", "half")
PLAIN = """
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE t (id int PRIMARY KEY, p int, q int, n int, v text);
"""
DDL = f"""
{PLAIN}
CREATE TABLE room (id int4range, during daterange, v text, PRIMARY KEY (id, during WITHOUT OVERLAPS));
CREATE TABLE stay (id int PRIMARY KEY, room int4range, during daterange, v text,
                   UNIQUE (room, during WITHOUT OVERLAPS),
                   FOREIGN KEY (room, PERIOD during) REFERENCES room (id, PERIOD during));
CREATE TABLE pair (a int, b int, PRIMARY KEY (a, b));
CREATE TABLE half (id int PRIMARY KEY, a int, b int, FOREIGN KEY (a, b) REFERENCES pair ON DELETE SET NULL (b));
"""
# Rows come first, so that some of them do not meet what comes then.
OLD = """
INSERT INTO p VALUES (1);
INSERT INTO t VALUES (1, 1, 1, 1, 'a'), (2, 7, 8, -1, NULL);
"""
ROWS = f"""
{OLD}
INSERT INTO room VALUES ('[1,1]', '[2026-01-01,2026-02-01)', 'a'), ('[1,1]', '[2026-02-01,2026-03-01)', 'b');
INSERT INTO stay VALUES (1, '[1,1]', '[2026-01-20,2026-02-10)');
"""
CONSTRAINTS = """
ALTER TABLE t ADD CONSTRAINT late FOREIGN KEY (p) REFERENCES p NOT VALID;
ALTER TABLE t ADD CONSTRAINT told FOREIGN KEY (q) REFERENCES p ON DELETE CASCADE NOT ENFORCED;
ALTER TABLE t ADD CONSTRAINT late_check CHECK (n > 0) NOT VALID;
ALTER TABLE t ADD CONSTRAINT told_check CHECK (n > 0) NOT ENFORCED;
ALTER TABLE t ADD CONSTRAINT filled NOT NULL v NOT VALID;
"""
SHAPE = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace IN ('public'::regnamespace, to_regnamespace('branch')) AND contype <> 'n'
"""


def constraints(world, name):
    rows = world.reader(name).execute(SHAPE).fetchall()
    found = {tuple(re.sub(r"(branch|public)\.", "", part) for part in row) for row in rows}
    return {one for one in found if one[0] in TABLES}


def same(world):
    world.catch_up()
    assert world.differences() == {}
    for slave in world.slaves:
        assert constraints(world, slave) == constraints(world, "master")


@pytest.fixture
def world(updating):
    made = updating(DDL, [f"public.{name}" for name in TABLES])
    made.master.execute(ROWS)
    made.master.execute(CONSTRAINTS)
    return made


@pytest.mark.full
def test_an_initial_update_makes_constraints_as_they_are_and_takes_every_row_again_and_again(world):
    world.update()
    same(world)
    world.master.execute("INSERT INTO t VALUES (3, 1, 9, 3, 'c'); UPDATE t SET n = 5, v = 'd', p = 1 WHERE id = 2")
    world.master.execute("INSERT INTO t VALUES (4, 1, 9, 3, 'c'); DELETE FROM t WHERE id = 1")
    same(world)
    world.master.execute("ALTER TABLE t VALIDATE CONSTRAINT late; ALTER TABLE t VALIDATE CONSTRAINT late_check")
    world.master.execute("ALTER TABLE t VALIDATE CONSTRAINT filled")
    same(world)
    assert world.reader("zurich").execute("SELECT attnotnull FROM pg_attribute WHERE attrelid = 't'::regclass"
                                          " AND attname = 'v'").fetchone() == (True,)  # fmt: skip
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    same(world)


@pytest.mark.full
def test_an_alter_in_the_stream_makes_them_as_they_are(updating):
    world = updating(DDL, [f"public.{name}" for name in TABLES])
    world.update()
    world.master.execute(ROWS)
    world.master.execute(CONSTRAINTS)
    same(world)
    world.master.execute("ALTER TABLE t ADD w timestamptz DEFAULT clock_timestamp()")
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_periods_follow_whatever_becomes_of_them(world):
    world.update()
    for statement in (
        "DELETE FROM stay; UPDATE room SET during = '[2026-02-05,2026-03-01)' WHERE v = 'b'; INSERT INTO room VALUES"
        " ('[1,1]', '[2026-02-01,2026-02-05)', 'e')",
        "UPDATE room SET during = '[2020-01-01,2020-02-01)' WHERE v = 'b';"
        "UPDATE room SET during = '[2019-01-01,2019-02-01)' WHERE v = 'a';"
        "UPDATE room SET during = '[2026-01-01,2026-02-01)', v = 'c' WHERE v = 'e';"
        "UPDATE room SET during = '[2026-02-01,2026-03-01)' WHERE v = 'a'",
        "INSERT INTO room VALUES ('[2,2]', '[2026-01-01,2026-02-01)', 'f'), ('[2,2]', '[2026-03-01,2026-04-01)', 'g')",
        # They change places.
        "BEGIN; UPDATE room SET during = '[2027-01-01,2027-02-01)' WHERE v = 'f';"
        "UPDATE room SET during = '[2026-01-15,2026-01-20)' WHERE v = 'g';"
        "UPDATE room SET during = '[2026-03-01,2026-04-01)' WHERE v = 'f'; COMMIT",
        "DELETE FROM room WHERE v = 'g'; INSERT INTO stay VALUES (9, '[2,2]', '[2026-03-02,2026-03-03)')",
    ):
        world.master.execute(statement)
        world.publish()
    same(world)
    world.configure(lambda settings: settings["replications"][0].update(mode="one_to_one"))
    world.master.execute("DELETE FROM stay; UPDATE room SET during = '[2028-01-01,2028-02-01)', v = 'h' WHERE v = 'f'")
    world.master.execute("INSERT INTO room VALUES ('[3,3]', '[2026-01-01,)', 'i')")
    same(world)


@pytest.mark.full
def test_a_slave_of_an_older_version_goes_without_what_holds_nothing_back(updating, older):
    world = updating(PLAIN, ["public.p", "public.t"], elsewhere={"zurich": older})
    world.master.execute(OLD)
    world.master.execute(CONSTRAINTS)
    world.update()
    world.master.execute("ALTER TABLE t DROP CONSTRAINT told_check; ALTER TABLE t ADD CHECK (q > 0) NOT ENFORCED")
    world.master.execute("ALTER TABLE p ADD FOREIGN KEY (id) REFERENCES t (id) NOT ENFORCED")
    world.catch_up()
    assert world.differences() == {}
    ours = constraints(world, "master")
    told = {one for one in ours if one[2].endswith("NOT ENFORCED")}
    assert constraints(world, "zurich") == ours - told
    assert constraints(world, "geneva") == ours


@pytest.mark.full
def test_a_slave_of_an_older_version_is_refused_keys_of_periods_before_it_is_touched(updating, older):
    world = updating(PLAIN, ["public.*"], elsewhere={"zurich": older})
    world.master.execute(
        "CREATE TABLE room (id int4range, during daterange, PRIMARY KEY (id, during WITHOUT OVERLAPS))"
    )
    with pytest.raises(SluiceError, match=r"SLC-432: .*public.room"):
        world.inhibit()
    assert world.reader("zurich").execute("SELECT to_regclass('p')").fetchone() == (None,)
    world.reader("zurich").execute(
        "CREATE TABLE room (id int4range NOT NULL, during daterange NOT NULL,"
        " EXCLUDE USING gist (id WITH =, during WITH &&))"
    )
    world.update("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
