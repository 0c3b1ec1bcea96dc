"""Slaves of tables whose updates leave an old image only where they changed the key: equal, or refused."""

from __future__ import annotations

import random

import psycopg
import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import SluiceError
from sluice.state.replication import ReplicationEvent
from sluice.store import replications

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text)"
KEYED = {"public.t": {"old_images": "key"}}

SCHEMA = """
CREATE TABLE t (a int, b text, v text, n numeric, PRIMARY KEY (a, b));
CREATE TABLE p (id int, v text, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (20);
CREATE TABLE p2 (v text, id int NOT NULL, PRIMARY KEY (id));
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (20) TO (99)
"""
# In the middle of a history, in this order.
ALTERED = [
    "ALTER TABLE t RENAME a TO b1; ALTER TABLE t RENAME b TO a; ALTER TABLE t RENAME b1 TO b",
    "ALTER TABLE t ALTER b TYPE bigint",
    "ALTER TABLE t ADD c int DEFAULT 5; ALTER TABLE t DROP n",
    "ALTER TABLE p RENAME id TO ident",
    "ALTER TABLE t DROP CONSTRAINT t_pkey; ALTER TABLE t ADD PRIMARY KEY (a, b, c)",
    "ALTER TABLE t RENAME CONSTRAINT t_pkey TO other",
]


class Writer:
    """Random transactions over tables whose columns change."""

    def __init__(self, world, seed):
        self.session = world.master
        self.chance = random.Random(seed)
        self.key, self.part = ("a", "b"), "id"

    def altered(self, number):
        self.session.execute(ALTERED[number])
        if number == 0:
            self.key = ("b", "a")
        if number == 3:
            self.part = "ident"

    def transaction(self):
        chance, (number, name) = self.chance, self.key
        one, other = chance.randrange(6), chance.choice("xy")
        row = f"{number} = {one} AND {name} = '{other}'"
        some = chance.random()
        where = "TRUE" if some < 0.2 else row
        part = chance.randrange(40)
        statements = [
            f"INSERT INTO t ({number}, {name}, v) VALUES ({one}, '{other}', '{some}') ON CONFLICT DO NOTHING",
            f"UPDATE t SET v = '{some}' WHERE {where}",
            f"UPDATE t SET {number} = {number} + 10 WHERE {row}",
            f"UPDATE t SET {number} = {number} - 10, v = NULL WHERE {number} > 9 AND NOT EXISTS (SELECT FROM t AS o"
            f" WHERE o.{number} = t.{number} - 10 AND o.{name} = t.{name})",
            f"UPDATE t SET {name} = 'z' WHERE {row}; UPDATE t SET {name} = '{other}', v = 'back' WHERE {name} = 'z'",
            f"DELETE FROM t WHERE {row}",
            f"INSERT INTO p ({self.part}, v) VALUES ({part}, '{some}') ON CONFLICT DO NOTHING",
            f"UPDATE p SET v = '{some}' WHERE {self.part} < {part}",
            f"UPDATE p SET {self.part} = 40 + {part} WHERE {self.part} = {part}",
            f"DELETE FROM p WHERE {self.part} = {part}",
        ]
        with self.session.transaction():
            for _ in range(chance.randrange(1, 6)):
                try:
                    with self.session.transaction():
                        self.session.execute(chance.choice(statements))
                except psycopg.errors.UniqueViolation:
                    pass


@pytest.mark.full
@pytest.mark.parametrize("seed", range(2))
def test_random_histories_with_ddl_in_the_middle_give_equal_slaves(build, seed):
    tables = {f"public.{name}": {"old_images": "key"} for name in "tp"}
    world = build(SCHEMA, tables, slaves=("batches", "single"), slave={"max_batch": 40})
    world.settings["replications"][1]["mode"] = "one_to_one"
    world.configure(lambda plain: None)
    writer = Writer(world, seed)
    for round_ in range(30):
        writer.transaction()
        if round_ % 5 == 4:
            writer.altered(round_ // 5)
        if writer.chance.random() < 0.5:
            world.publish()
            world.drain(writer.chance.choice(["batches", "single"]))
    actions = [(one["action"], one["old"] is None) for one in world.log()]
    assert {("U", True), ("U", False), ("A", True), ("D", False)} <= set(actions)
    world.catch_up()
    assert world.differences() == {}


# What another slave sees of the table; the values that it has then.
SHAPED = [
    pytest.param({"mask": {"v": "redact"}}, ["***"] * 4, id="mask"),
    pytest.param({"compute": {"v": "lower(v)"}}, ["x", "x", "v9", "x"], id="compute"),
    pytest.param({"exclude_columns": ["v"]}, [None] * 4, id="without a column"),
]


@pytest.mark.full(but=["mask", "without a column"])
@pytest.mark.parametrize(("entry", "values"), SHAPED)
def test_a_slave_that_sees_other_values_goes_by_the_same_key(build, entry, values):
    world = build(DDL, KEYED, slaves=("batches", "single"), slave={"tables": {"public.t": entry}})
    world.settings["replications"][1]["mode"] = "one_to_one"
    world.configure(lambda plain: None)
    world.master.execute("INSERT INTO t SELECT g, 'v' || g FROM generate_series(1, 9) AS g")
    world.catch_up()
    world.master.execute(
        "UPDATE t SET v = 'X' WHERE id < 9; UPDATE t SET id = 20 WHERE id = 1; DELETE FROM t WHERE id < 7"
    )
    world.publish()
    for slave in world.slaves:
        assert world.drain(slave)["tolerated"] == 0
        there = world.reader(slave).execute("SELECT * FROM t ORDER BY id").fetchall()
        assert there == list(zip((7, 8, 9, 20), values, strict=True)), slave


SEES = """
ALTER TABLE t ADD n int GENERATED ALWAYS AS IDENTITY;
CREATE TABLE seen (what text, n int);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.seen VALUES (TG_OP, coalesce(NEW.n, OLD.n)); RETURN NULL; END $$;
CREATE TRIGGER see AFTER INSERT OR UPDATE OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION see();
ALTER TABLE t ENABLE ALWAYS TRIGGER see
"""


def test_a_number_that_the_database_gives_follows_row_by_row(build):
    """An UPDATE may not set it, so a row whose number may have changed is put anew."""
    world = build(f"{DDL}; ALTER TABLE t ADD n int GENERATED ALWAYS AS IDENTITY", KEYED)
    world.reader("zurich").execute(SEES.replace("ALTER TABLE t ADD n int GENERATED ALWAYS AS IDENTITY;", ""))
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'); UPDATE t SET n = DEFAULT, v = 'c' WHERE id = 1")
    world.catch_up()
    assert world.differences() == {}
    seen = world.reader("zurich").execute("SELECT what, n FROM seen").fetchall()
    assert seen == [("INSERT", 1), ("INSERT", 2), ("DELETE", 1), ("INSERT", 3)]


# What the slave is to see of the table from then on; what it has in the end.
MORE = [
    pytest.param({"where": "id > 3"}, "SELECT id, v FROM t WHERE id > 3", id="where"),
    pytest.param({"exclude_columns": ["id"]}, "SELECT v FROM t", id="without the key"),
]


@pytest.mark.full
@pytest.mark.parametrize(("entry", "query"), MORE)
def test_a_slave_that_needs_more_is_refused_until_bootstrap_and_gets_all_from_then_on(updating, entry, query):
    world = updating(DDL, KEYED)
    world.update()
    for name in world.slaves:
        replications.record(world.context.store, world.pair(name), ReplicationEvent.VERIFIED)
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (5, 'b'); UPDATE t SET v = v || 'c'")
    world.catch_up()

    def whole(plain):
        plain["sources"][SOURCE]["tables"] = {"public.t": {}}
        plain["slaves"]["geneva"]["tables"] = {"public.t": entry}

    world.configure(whole)
    world.master.execute("UPDATE t SET v = v || 'd'")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-226: .*rows of public\.t were"):
        world.drain("geneva")
    bootstrap(world.context, SOURCE)
    world.reader("geneva").execute("DROP TABLE branch.t")
    world.update("geneva")
    world.master.execute("UPDATE t SET v = v || 'e'; UPDATE t SET id = id + 1; DELETE FROM t WHERE id = 2")
    world.catch_up()
    there = world.reader("geneva").execute(query.replace("FROM t", "FROM branch.t").encode()).fetchall()
    assert there == world.master.execute(query.encode()).fetchall() != []
    assert world.rows("zurich", "public.t") == world.rows("master", "public.t")
