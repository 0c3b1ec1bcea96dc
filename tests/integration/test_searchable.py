"""Rows that are looked up by the columns that the configuration names, whatever the slave has in the others."""

from __future__ import annotations

import logging

import pytest

from sluice.errors import SluiceError
from sluice.monitor.check import findings

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE heap (a int, b text, c text, d json); CREATE TABLE t (id int PRIMARY KEY, code text, v text)"
HEAP = {"searchable": ["a", "b", "d", "later"]}
# The slave numbers its rows itself.
OWN = "ALTER TABLE t DROP id; ALTER TABLE t ADD own serial PRIMARY KEY"


@pytest.fixture
def searching(build):
    """A world that caught up; rows of `heap` are looked up by two columns, of which the slave has changed none."""

    def made(mode):
        tables = {"public.heap": HEAP, "public.t": {"exclude_columns": ["id"], "searchable": ["code"]}}
        world = build(DDL, ["public.heap", "public.t"], slave={"tables": tables})
        world.settings["replications"][0]["mode"] = mode
        world.configure(lambda plain: None)
        world.reader("zurich").execute(OWN)
        world.master.execute("INSERT INTO heap VALUES (1, NULL, 'x'), (1, NULL, 'x'), (1, NULL, 'z'), (2, 'k', 'x')")
        world.master.execute("INSERT INTO t VALUES (5, 'e', 'x'), (6, 'f', 'x'), (7, NULL, 'x')")
        world.catch_up()
        return world

    return made


def there(world, query):
    return world.reader("zurich").execute(query).fetchall()


@pytest.mark.parametrize("mode", ["batch", "one_to_one"])
def test_rows_are_looked_up_by_the_columns_that_are_named(searching, mode):
    world = searching(mode)
    slave = world.reader("zurich")
    slave.execute("UPDATE heap SET c = 'own' WHERE a = 2; UPDATE t SET v = 'own'")
    for statement in (
        "DELETE FROM heap WHERE ctid = (SELECT min(ctid) FROM heap WHERE c = 'x' AND a = 1)",
        "UPDATE heap SET c = 'y' WHERE c = 'z'; UPDATE heap SET a = 3 WHERE a = 2",
        "UPDATE t SET code = 'ee' WHERE id = 5; DELETE FROM t WHERE id = 6; UPDATE t SET v = 'y' WHERE id = 7",
        "INSERT INTO t VALUES (8, 'g', 'x')",
    ):
        world.master.execute(statement)
    world.publish()
    assert world.drain()["tolerated"] == 0
    assert there(world, "SELECT a, b, c FROM heap ORDER BY 1, 3") == [(1, None, "x"), (1, None, "y"), (3, "k", "x")]
    assert there(world, "SELECT own, code, v FROM t ORDER BY 1") == [(1, "ee", "x"), (3, None, "y"), (4, "g", "x")]


def test_of_several_rows_none_is_taken_that_may_be_another(searching):
    world = searching("one_to_one")
    world.reader("zurich").execute("UPDATE heap SET c = 'own' WHERE c = 'z'")
    world.master.execute("DELETE FROM heap WHERE c = 'x' AND a = 1")
    world.master.execute("INSERT INTO heap VALUES (1, NULL, 'x')")
    world.master.execute("DELETE FROM heap WHERE c = 'z'")
    world.publish()
    with pytest.raises(
        SluiceError, match=r"SLC-120: several rows of public\.heap have the same a, b, and none"
    ) as refused:
        world.drain()
    assert "searchable" in refused.value.hint
    world.reader("zurich").execute("UPDATE heap SET c = 'z' WHERE c = 'own'")
    world.drain()
    assert world.rows("zurich", "public.heap") == world.rows("master", "public.heap")


# A base type of somebody's, as those of extensions are: its values can be told apart, and not sorted.
OF_ITS_OWN = """
CREATE TYPE own;
CREATE FUNCTION own_in(cstring) RETURNS own IMMUTABLE STRICT LANGUAGE internal AS 'textin';
CREATE FUNCTION own_out(own) RETURNS cstring IMMUTABLE STRICT LANGUAGE internal AS 'textout';
CREATE TYPE own (INPUT = own_in, OUTPUT = own_out, LIKE = text);
CREATE FUNCTION own_hash(own) RETURNS int IMMUTABLE STRICT LANGUAGE internal AS 'hashvarlena';
CREATE FUNCTION own_eq(own, own) RETURNS bool IMMUTABLE STRICT LANGUAGE internal AS 'byteaeq';
CREATE OPERATOR = (LEFTARG = own, RIGHTARG = own, FUNCTION = own_eq, HASHES);
CREATE OPERATOR CLASS own_ops DEFAULT FOR TYPE own USING hash AS OPERATOR 1 =, FUNCTION 1 own_hash(own);
CREATE DOMAIN such AS own;
CREATE TABLE heap (a own, b such, c own[], v text)
"""


@pytest.mark.full
def test_rows_are_looked_up_by_values_that_can_be_told_apart_and_not_sorted(build):
    world = build(OF_ITS_OWN, ["public.heap"], slave={"tables": {"public.heap": {"searchable": ["a", "b", "c"]}}})
    world.master.execute("INSERT INTO heap SELECT n, n, ARRAY[n, NULL], 'x' FROM unnest('{a,b,c}'::own[]) AS n")
    world.master.execute("INSERT INTO heap VALUES ('d', NULL, '{}', 'x')")
    world.catch_up()
    world.reader("zurich").execute("UPDATE heap SET v = 'own'")
    world.master.execute("UPDATE heap SET v = 'y' WHERE v = 'x' AND a::text IN ('b', 'd')")
    world.master.execute("UPDATE heap SET b = 'bb' WHERE b = 'b'; DELETE FROM heap WHERE a = 'a'")
    world.catch_up()
    assert there(world, "SELECT a::text, b::text, v FROM heap ORDER BY 1") == [
        ("b", "bb", "y"),
        ("c", "c", "own"),
        ("d", None, "y"),
    ]


@pytest.mark.full
def test_what_is_odd_about_such_columns_is_told_by_check_and_when_they_are_used(searching, caplog):
    with caplog.at_level(logging.INFO, "sluice"):
        world = searching("batch")
    (told,) = [one.text for one in findings(world.context) if one.subject == "slave zurich"]
    for warning in (
        "d of public.heap is not searchable",
        "public.heap has no column later",
        "public.t has a primary key, but its rows are looked up by code",
    ):
        assert warning in told
        assert warning in caplog.text


@pytest.mark.full
def test_files_are_not_written_row_by_row(lake):
    world = lake("CREATE TABLE heap (a int, b text)", ["public.heap"]).world
    ways = {"zurich": {"searchable": ["b"]}, "geneva": {"on_missing": "record"}}
    world.configure(
        lambda all_: [all_["slaves"][name].update(tables={"public.heap": way}) for name, way in ways.items()]
    )
    world.master.execute("INSERT INTO heap VALUES (1, 'b')")
    world.publish()
    for name in world.slaves:
        with pytest.raises(SluiceError, match=r"SLC-121: public\.heap cannot be written row by row"):
            world.drain(name)
