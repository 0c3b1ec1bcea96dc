"""Types that users and extensions made: made on a slave before the table, in its schemas, or refused."""

from __future__ import annotations

import pytest
from support.exactly import differences

from sluice.errors import SluiceError

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE SCHEMA "user";
CREATE TYPE mood AS ENUM ('sad', 'it''s "ok", \\ {} %s <&>', 'ähm', '');
CREATE TYPE "user"."Weather, odd" AS ENUM ('wet', 'dry');
CREATE DOMAIN positive AS numeric(9,3) DEFAULT 1 NOT NULL CONSTRAINT "above 0" CHECK (VALUE > 0);
CREATE DOMAIN moods AS mood[] CHECK (array_length(VALUE, 1) < 9);
CREATE TYPE pair AS (a int, "B b" text, m mood, w "user"."Weather, odd"[]);
CREATE TYPE nested AS (p pair, ps pair[], d positive);
CREATE TYPE span AS RANGE (SUBTYPE = numeric, MULTIRANGE_TYPE_NAME = spans);
CREATE TYPE "Times" AS RANGE (SUBTYPE = time);
CREATE TABLE t (
    k mood PRIMARY KEY DEFAULT 'sad', p pair, n nested DEFAULT '("(1,public.mood,sad,)",{},2)'::nested, d positive,
    ms moods, s span, ss spans, ts "Times"[], w "user"."Weather, odd" CHECK (w <> 'wet'::"user"."Weather, odd"),
    g bool GENERATED ALWAYS AS (w = 'dry'::"user"."Weather, odd") STORED
);
CREATE INDEX ON t (((p).m)) WHERE w = 'dry'::"user"."Weather, odd";
CREATE TABLE "user".h (p pair, s span, b bytea[]);
"""
RENAMED = {"public": "Branch one", "user": "select"}
ROW = (
    """('sad', ROW(1, '(",")\\ é', 'ähm', '{wet,NULL,dry}'), ROW(ROW(NULL, '', NULL, NULL),"""
    """ ARRAY[ROW(2, NULL, 'sad', '{}')]::pair[], 3), 1.5, '{sad,"it''s \\"ok\\", \\\\ {} %s <&>",NULL,""}',"""
    """ '[1.10,2)', '{[1,2),(3,)}', '{"[10:00,11:00]",empty}', 'dry')"""
)
STATEMENTS = [
    f"INSERT INTO t VALUES {ROW}",
    """INSERT INTO "user".h SELECT p, s, '{"\\\\x00ff"}' FROM t, generate_series(1, 3)""",
    "INSERT INTO t (k, w) VALUES ('ähm', NULL), ('', 'dry')",
    "UPDATE t SET p.m = 'sad', (d, s) = (7, NULL)",
    'UPDATE "user".h SET p = NULL WHERE ctid = (SELECT ctid FROM "user".h LIMIT 1)',
    "UPDATE t SET k = 'it''s \"ok\", \\ {} %s <&>' WHERE k = 'ähm'; DELETE FROM t WHERE k = ''",
    'DELETE FROM "user".h WHERE s IS NOT NULL AND ctid = (SELECT max(ctid) FROM "user".h)',
]


def empty(updating):
    """A world whose slaves have none of it."""
    world = updating(DDL, ["public.t", "user.h"], RENAMED)
    for slave in world.slaves:
        world.reader(slave).execute('DROP SCHEMA "user" CASCADE')
    return world


@pytest.mark.full
def test_types_are_made_with_the_table_in_the_slaves_schemas(updating):
    world = empty(updating)
    for statement in STATEMENTS[:2]:
        world.master.execute(statement.encode())
    world.update()
    world.catch_up()
    assert differences(world) == {}
    for statement in STATEMENTS[2:]:
        world.master.execute(statement.encode())
        world.publish()
        world.drain("zurich")
    world.catch_up()
    assert differences(world) == {}
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    slave = world.session("geneva")
    slave.execute('SET search_path = "Branch one"')
    slave.execute("INSERT INTO t (k, d) VALUES ('', DEFAULT)")
    made = slave.execute("SELECT n::text, d::text FROM t WHERE k = ''").fetchone()
    assert made == ('("(1,public.mood,sad,)",{},2.000)', "1.000")
    with pytest.raises(SluiceError, match="0 missing, 1 extra"):
        world.verify("geneva")


@pytest.mark.full
def test_a_second_update_finds_the_types_there(updating):
    world = empty(updating)
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    for statement in STATEMENTS[:2]:
        world.master.execute(statement.encode())
    world.update()
    world.catch_up()
    assert differences(world) == {}


@pytest.mark.full(but=["attributes"])
@pytest.mark.parametrize(
    ("made", "there", "code"),
    [
        pytest.param("CREATE TYPE e AS (a int, b int)", "CREATE TYPE e AS (b int, a int)", "SLC-076", id="attributes"),
        pytest.param("CREATE EXTENSION vector; CREATE DOMAIN e AS vector[]", "", "SLC-076", id="extension"),
        pytest.param("CREATE TABLE e (a int)", "", "SLC-076", id="row of a table"),
    ],
)
def test_a_type_that_the_slave_lacks_or_has_otherwise_is_refused_before_anything_is_loaded(updating, made, there, code):
    world = updating(f"{made}; CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE t (v e)", ["public.a", "public.t"])
    world.session("zurich").execute((there or "SELECT").encode())
    world.session("geneva").execute(f"CREATE SCHEMA branch; SET search_path = branch; {made}".encode())
    with pytest.raises(SluiceError, match=code) as refused:
        world.inhibit()
    if "EXTENSION" in made:
        assert "CREATE EXTENSION vector there" in refused.value.hint
    world.inhibit("geneva")
    assert world.reader("zurich").execute("SELECT to_regclass('a'), to_regclass('t')").fetchone() == (None, None)


@pytest.mark.full
def test_an_extension_may_be_in_another_schema_of_the_slave(updating):
    world = updating("CREATE EXTENSION vector; CREATE TABLE t (id int PRIMARY KEY, v vector(2)[])", ["public.t"])
    for slave in world.slaves:
        world.session(slave).execute("CREATE SCHEMA elsewhere; CREATE EXTENSION vector SCHEMA elsewhere")
    world.master.execute("INSERT INTO t VALUES (1, '{\"[1,2]\"}')")
    world.update()
    world.master.execute("UPDATE t SET v = '{\"[3,4]\",NULL}'")
    world.catch_up()
    assert differences(world) == {}


@pytest.mark.full
def test_a_value_that_a_type_has_on_the_master_alone_stops_the_slave_until_it_has_it_too(updating):
    world = updating("CREATE TYPE m AS ENUM ('a'); CREATE TABLE t (id int PRIMARY KEY, m m)", ["public.t"], renamed={})
    world.update("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    world.master.execute("ALTER TYPE m ADD VALUE 'later'")
    world.master.execute("INSERT INTO t VALUES (1, 'later')")
    world.publish()
    with pytest.raises(SluiceError, match=r"(?s)SLC-073.*\(column \w+\).*ALTER TYPE \.\.\. ADD VALUE"):
        world.drain("zurich")
    world.reader("zurich").execute("ALTER TYPE m ADD VALUE 'later'")
    world.drain("zurich")
    assert world.rows("zurich", "public.t") == world.rows("master", "public.t")
