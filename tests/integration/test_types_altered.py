"""DDL on types of users that changes what rows hold: nobody can carry it, so the slaves are told (R9)."""

from __future__ import annotations

from contextlib import closing

import pytest
from support.exactly import differences
from support.issuing import everywhere, execute, standings
from support.world import SOURCE

from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TYPE mood AS ENUM ('a', 'b'); CREATE DOMAIN moods AS mood[]; CREATE TYPE span AS RANGE (SUBTYPE = mood);
CREATE TYPE comp AS (x int, y int, m mood); CREATE TYPE whole AS (c comp[]);
CREATE TABLE rows (x int, y int); CREATE TYPE other AS ENUM ('a');
CREATE TABLE plain (id int PRIMARY KEY, v text, o other);
CREATE TABLE labels (id int PRIMARY KEY, m mood);
CREATE TABLE arrays (id int PRIMARY KEY, m moods) PARTITION BY RANGE (id);
CREATE TABLE arrays_1 PARTITION OF arrays DEFAULT;
CREATE TABLE spans (id int PRIMARY KEY, s span, ss span_multirange);
CREATE TABLE records (id int PRIMARY KEY, w whole, r rows);
"""
WATCHED = [f"public.{name}" for name in ("plain", "labels", "arrays", "spans", "records")]
ROWS = """
INSERT INTO plain VALUES (1, 'a', 'a'); INSERT INTO labels VALUES (1, 'a'); INSERT INTO arrays VALUES (1, '{a,b}');
INSERT INTO spans VALUES (1, '[a,b]', '{[a,b]}');
INSERT INTO records VALUES (1, ROW(ARRAY[ROW(1, 2, 'a')::comp]), ROW(1, 2));
"""
# What no slave need know.
HARMLESS = """
ALTER TYPE mood ADD VALUE 'c'; ALTER TYPE mood ADD VALUE 'ab' BEFORE 'b'; ALTER TYPE comp RENAME ATTRIBUTE y TO z;
ALTER TABLE labels ALTER m TYPE text; ALTER TABLE labels ALTER m TYPE mood USING m::mood; ALTER TABLE rows RENAME x TO z
"""
ALL = {"labels", "arrays", "spans", "records"}
# What changes rows, and of which tables.
LOSSES = {
    "a label": ("ALTER TYPE mood RENAME VALUE 'a' TO 'zz'", ALL),
    "a label that came later": ("ALTER TYPE mood RENAME VALUE 'c' TO 'd'", ALL),
    "labels that change places": (
        "ALTER TYPE mood RENAME VALUE 'zz' TO 't'; ALTER TYPE mood RENAME VALUE 'b' TO 'zz';"
        "ALTER TYPE mood RENAME VALUE 't' TO 'b'",
        ALL,
    ),
    "an attribute less": ("ALTER TYPE comp DROP ATTRIBUTE z", {"records"}),
    "an attribute more": ("ALTER TYPE comp ADD ATTRIBUTE y int", {"records"}),
    "an attribute for another": ("ALTER TYPE comp DROP ATTRIBUTE y, ADD ATTRIBUTE y int", {"records"}),
    "an attribute that goes with its type": ("DROP TYPE mood CASCADE", {"records"}),
    "a column of a table whose rows are values": ("ALTER TABLE rows DROP y", {"records"}),
}

# What every slave does as well.
ISSUED = ["ALTER TYPE mood RENAME VALUE 'a' TO 'zz'", "ALTER TYPE comp DROP ATTRIBUTE x"]


def lost(world):
    """The tables that are LOST, or become so at the next look."""
    with closing(world.context.source(SOURCE)) as source:
        source.capture.poll_ddl()
    return {name for (name,) in world.master.execute("SELECT tablename FROM repl_tables WHERE status = 'LOST'")}


@pytest.mark.full(but=["polled"])
@pytest.mark.parametrize("superuser", [True, False], ids=["seen", "polled"])
def test_a_type_whose_values_became_others_makes_its_tables_lost_and_no_others(build, weak, superuser):
    world = build(DDL, WATCHED, elsewhere={} if superuser else {"master": weak})
    world.master.execute(ROWS)
    world.catch_up()
    for ddl in HARMLESS.split(";"):
        world.master.execute(ddl.encode())
    assert lost(world) == set()
    for name, (ddl, tables) in LOSSES.items():
        world.master.execute(ddl.encode())
        assert lost(world) == tables, name
        world.master.execute("UPDATE repl_tables SET status = 'OK'")
        assert lost(world) == set(), name
    assert world.status("zurich") is Status.NORMAL
    world.master.execute("ALTER TYPE comp ADD ATTRIBUTE more int")
    for _ in range(2):
        world.publish()
    assert "public.records" in world.left_out()
    assert world.master.execute("SELECT DISTINCT status FROM repl_tables").fetchall() == [("OK",)]
    assert "a type of its columns another one" in world.standing().why


@pytest.mark.full
def test_a_type_that_a_statement_of_ours_alters_everywhere_loses_nothing(build, weak):
    world = build(DDL, WATCHED, elsewhere={"master": weak})
    world.master.execute(ROWS)
    world.catch_up()
    done = [execute(world, text) for text in ISSUED]
    world.master.execute("INSERT INTO labels VALUES (2, 'zz')")
    assert lost(world) == set()
    world.catch_up()
    assert [standings(world, one) for one in done] == [everywhere(world)] * len(ISSUED)
    assert world.differences() == {}
    world.master.execute("ALTER TYPE mood RENAME VALUE 'zz' TO 'a'")
    assert lost(world) == ALL


@pytest.mark.full(but=["seen"])
@pytest.mark.parametrize("superuser", [True, False], ids=["seen", "polled"])
def test_a_table_that_has_its_columns_from_a_type_follows_it(build, weak, superuser):
    ddl = "CREATE TYPE ty AS (id int, v text); CREATE TABLE t OF ty (PRIMARY KEY (id)); CREATE TABLE o (id int)"
    world = build(ddl, ["public.t", "public.o"], elsewhere={} if superuser else {"master": weak})
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.catch_up()
    world.master.execute("ALTER TYPE ty ADD ATTRIBUTE z int CASCADE; UPDATE t SET z = 4; INSERT INTO o VALUES (1)")
    world.catch_up()
    assert world.differences() == {}
    world.master.execute("ALTER TYPE ty DROP ATTRIBUTE v CASCADE; UPDATE t SET z = 5; INSERT INTO o VALUES (2)")
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_an_initial_update_mends_it_once_the_slaves_have_the_type(updating):
    world = updating("CREATE TYPE mood AS ENUM ('a', 'b'); CREATE TABLE t (id int PRIMARY KEY, m mood)", ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.update()
    world.verify(initial=True)
    renamed = "ALTER TYPE \"{}\".mood RENAME VALUE 'a' TO 'c'"
    world.master.execute(renamed.format("public").encode())
    world.publish()
    assert [world.left_out(slave) for slave in world.slaves] == [{"public.t"}] * 2
    for slave in world.slaves:
        home = world.renamed.get(slave, {}).get("public", "public")
        world.reader(slave).execute(renamed.format(home).encode())
    world.update()
    world.master.execute("INSERT INTO t VALUES (2, 'c')")
    world.catch_up()
    assert differences(world) == {}
