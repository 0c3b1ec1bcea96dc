"""Keys, constraints, rules and triggers that a slave has of its own: the end is the master's, or the slave stops."""

from __future__ import annotations

import pytest

from sluice.errors import SluiceError

pytestmark = [pytest.mark.postgres]

MODES = {"zurich": "batch", "geneva": "one_to_one"}


@pytest.fixture
def both(build):
    """A world with a slave that gets batches and one that gets each transaction, which have something of their own."""

    def made(ddl, tables, own, **more):
        world = build(ddl, tables, slaves=tuple(MODES), **more)
        for entry in world.settings["replications"]:
            entry["mode"] = MODES[entry["slave"]]
        world.configure(lambda plain: None)
        for name in MODES:
            world.reader(name).execute(own)
        return world

    return made


def there(world, name, query):
    return world.reader(name).execute(query).fetchall()


KEYS = {
    "plain": "ALTER TABLE plain ADD UNIQUE (u)",
    "partial": "CREATE UNIQUE INDEX ON partial (u) WHERE id < 9",
    "computed": "CREATE UNIQUE INDEX ON computed ((u % 10))",
    "excluding": "ALTER TABLE excluding ADD EXCLUDE USING btree (u WITH =)",
    "late": "ALTER TABLE late ADD UNIQUE (u) DEFERRABLE INITIALLY DEFERRED",
}


def test_values_that_rows_swap_or_free_later_may_be_unique_on_the_slave(both):
    tables = [f"public.{name}" for name in KEYS]
    ddl = ";".join(f"CREATE TABLE {name} (id int PRIMARY KEY, u int)" for name in KEYS)
    world = both(ddl, tables, ";".join(KEYS.values()), slave={"max_batch": 1})
    for change in (
        "INSERT INTO {} VALUES (1, 1), (2, 2), (3, 3)",
        "UPDATE {} SET u = 3 - u WHERE id < 3",
        "INSERT INTO {} VALUES (4, 3)",
        "DELETE FROM {} WHERE id = 3",
    ):
        world.master.execute(";".join(change.format(name) for name in KEYS))
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_a_value_that_a_row_of_the_slave_keeps_stops_it(both):
    tables = [f"public.{name}" for name in KEYS]
    world = both(";".join(f"CREATE TABLE {name} (id int PRIMARY KEY, u int)" for name in KEYS), tables,
                 ";".join(KEYS.values()))  # fmt: skip
    for table in KEYS:
        for name in MODES:
            world.reader(name).execute(f"INSERT INTO {table} VALUES (8, 1)")
        world.master.execute(f"INSERT INTO {table} VALUES (1, 1)")
        world.publish()
        for name in MODES:
            with pytest.raises(SluiceError, match="SLC-072: "):
                world.drain(name)
            assert there(world, name, f"SELECT id FROM {table}") == [(8,)], (table, name)
            world.reader(name).execute(f"DELETE FROM {table}")
        world.catch_up()
    assert world.differences() == {}


NUMBERED = (
    "ALTER TABLE t DROP CONSTRAINT t_pkey, ADD own serial PRIMARY KEY; CREATE TABLE seen (n serial, what text, id int)"
)
SEE = (
    "CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " INSERT INTO public.seen (what, id) VALUES (left(TG_OP, 1), coalesce(NEW.id, OLD.id)); RETURN NULL; END $$;"
    "CREATE TRIGGER see AFTER INSERT OR UPDATE OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION see();"
    "ALTER TABLE t ENABLE ALWAYS TRIGGER see"
)


@pytest.mark.full(but=[""])
@pytest.mark.parametrize("more", ["SELECT", SEE], ids=["", "row by row, for a trigger"])
def test_a_row_stays_the_only_one_of_its_key_where_no_index_of_the_slave_says_so(both, more):
    world = both("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"], f"{NUMBERED}; {more}")
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    world.catch_up()
    world.master.execute("UPDATE t SET v = 'x'")
    world.catch_up()
    for name in MODES:
        assert there(world, name, "SELECT id, own FROM t ORDER BY 1") == [(1, 1), (2, 2), (3, 3)]
        world.reader(name).execute("INSERT INTO t VALUES (2, 'own'), (3, 'own'), (4, 'own')")
    for statement in (
        "UPDATE t SET v = 'd' WHERE id = 2; UPDATE t SET v = 'd' WHERE id = 1",
        "DELETE FROM t WHERE id = 3",
        "INSERT INTO t VALUES (4, 'e')",
    ):
        world.master.execute(statement)
    world.publish()
    for name in MODES:
        assert world.drain(name)["tolerated"] == 3
        rows = there(world, name, "SELECT id, v FROM t ORDER BY 1, 2")
        assert rows == [(1, "d"), (2, "d"), (4, "e")]
        assert there(world, name, "SELECT own FROM t WHERE id = 1") == [(1,)]


RULES = """
CREATE TABLE seen (n serial, what text, id int);
CREATE RULE i AS ON INSERT TO t DO ALSO INSERT INTO public.seen (what, id) VALUES ('I', NEW.id);
CREATE RULE u AS ON UPDATE TO t DO ALSO INSERT INTO public.seen (what, id) VALUES ('U', NEW.id);
CREATE RULE d AS ON DELETE TO t DO ALSO INSERT INTO public.seen (what, id) VALUES ('D', OLD.id);
CREATE RULE kept AS ON DELETE TO heap DO INSTEAD NOTHING;
"""
FIRING = (
    "".join(f"ALTER TABLE t ENABLE ALWAYS RULE {name};" for name in "iud") + "ALTER TABLE heap ENABLE ALWAYS RULE kept"
)


@pytest.mark.full(but=["firing"])
@pytest.mark.parametrize("firing", [True, False], ids=["firing", "silent"])
def test_rules_of_a_slave_that_fire_always_see_each_change_and_others_none(both, firing):
    world = both("CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE heap (a int)", ["public.t", "public.heap"],
                 RULES + FIRING * firing)  # fmt: skip
    for statement in (
        "INSERT INTO t VALUES (1, 'a'), (2, 'b'); INSERT INTO heap VALUES (1), (2)",
        "UPDATE t SET v = 'c' WHERE id = 1; UPDATE t SET id = 3 WHERE id = 2; DELETE FROM heap WHERE a = 1",
        "DELETE FROM t WHERE id = 1",
    ):
        world.master.execute(statement)
    world.publish()
    for name in MODES:
        world.drain(name)
        seen = there(world, name, "SELECT what || id FROM seen ORDER BY n")
        assert seen == ([("I1",), ("I2",), ("U1",), ("D2",), ("I3",), ("D1",)] if firing else [])
        assert world.rows(name, "public.t") == world.rows("master", "public.t")
        assert there(world, name, "SELECT a FROM heap ORDER BY 1") == [(1,), (2,)][1 - firing :]
        world.reader(name).execute("DELETE FROM t")
    world.master.execute("UPDATE t SET v = 'd'")
    world.publish()
    for name in MODES:
        assert world.drain(name)["tolerated"] == 1
        assert world.rows(name, "public.t") == world.rows("master", "public.t")
