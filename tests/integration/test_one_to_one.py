"""Changes taken one by one: each transaction as one of the slave's, and tables whose triggers see each change."""

from __future__ import annotations

import time

import pytest
from support.issuing import execute

from sluice.crash import CrashPoint
from sluice.errors import FencedError, SluiceError
from sluice.monitor import status
from sluice.vendors.postgresql.slave import PostgresSlave
from sluice.vendors.postgresql.write import one_to_one as replaying

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text, n numeric(8,4)); CREATE TABLE heap (a int, b text)"
TABLES = ["public.t", "public.heap"]
# What a slave's own trigger sees; it fires although the session says that it is a replica.
SEES = """
CREATE TABLE seen (number serial, what text, v text, ordinal bigint);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.seen (what, v, ordinal)
    SELECT TG_OP, coalesce(NEW.v, OLD.v), ordinal FROM public.sluice_position;
    RETURN NULL;
END $$;
CREATE TRIGGER see AFTER INSERT OR UPDATE OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION see();
ALTER TABLE t ENABLE ALWAYS TRIGGER see
"""
CHANGES = (
    "INSERT INTO t VALUES (1, 'a'), (2, 'b'); INSERT INTO heap VALUES (1, NULL), (1, NULL), (2, 'x')",
    "UPDATE t SET v = 'c' WHERE id = 1; DELETE FROM heap WHERE ctid = (SELECT min(ctid) FROM heap WHERE a = 1)",
    "UPDATE t SET id = 3, v = 'moved' WHERE id = 2; UPDATE heap SET b = 'y' WHERE a = 1",
    "DELETE FROM t WHERE id = 1; INSERT INTO t VALUES (1, 'again')",
)
SEEN = [("INSERT", "a"), ("INSERT", "b"), ("UPDATE", "c"), ("UPDATE", "moved"), ("DELETE", "c"), ("INSERT", "again")]


def configured(world, **settings):
    for entry in world.settings["replications"]:
        entry.update(settings)
    world.configure(lambda plain: None)


def changed(world):
    for statement in CHANGES:
        world.master.execute(statement)
    world.publish()


def seen(world, slave, columns):
    return world.reader(slave).execute(f"SELECT {columns} FROM seen ORDER BY number".encode()).fetchall()


# Each change by itself, some together, all in a batch, whose position comes last.
WAYS = {
    "zurich": ({"mode": "one_to_one"}, [1, 1, 2, 3, 4, 4]),
    "geneva": ({"mode": "one_to_one", "max_collected_statements": 6}, [2, 2, 2, 4, 4, 4]),
    "bern": ({}, [0] * 6),
}


def test_a_trigger_of_the_slave_that_fires_always_sees_each_change_once_and_in_order(build):
    world = build(DDL, TABLES, slaves=tuple(WAYS))
    for entry in world.settings["replications"]:
        entry.update(WAYS[entry["slave"]][0])
    world.configure(lambda plain: None)
    for slave in WAYS:
        world.reader(slave).execute(SEES)
    changed(world)
    for slave, (_, ordinals) in WAYS.items():
        assert world.drain(slave)["tolerated"] == 0
        assert seen(world, slave, "what, v") == SEEN, slave
        assert [ordinal for (ordinal,) in seen(world, slave, "ordinal")] == ordinals
        transactions = world.reader(slave).execute("SELECT count(DISTINCT xmin::text) FROM seen").fetchone()
        assert transactions == (len(set(ordinals)),)
    assert world.differences() == {}


@pytest.fixture
def world(build):
    made = build(DDL, TABLES)
    configured(made, mode="one_to_one")
    return made


@pytest.mark.parametrize("fires", ["", SEES], ids=["replayed", "in a batch, since a trigger is to see it"])
def test_rows_that_are_not_as_expected_are_put_right_and_counted(build, fires):
    world = build(DDL, TABLES)
    configured(world, mode="batch" if fires else "one_to_one")
    world.master.execute("INSERT INTO t SELECT g, 'a' FROM generate_series(1, 5) AS g")
    world.master.execute("INSERT INTO heap VALUES (1, 'x')")
    world.catch_up()
    world.reader("zurich").execute(fires or "SELECT")
    world.reader("zurich").execute("DELETE FROM t WHERE id < 4; DELETE FROM heap; INSERT INTO t VALUES (8, 'own')")
    for statement in (
        "UPDATE t SET v = 'b' WHERE id = 1",
        "UPDATE t SET id = 7 WHERE id = 2",
        "DELETE FROM t WHERE id = 3",
        "INSERT INTO t VALUES (8, 'theirs'); UPDATE heap SET b = 'y'",
    ):
        world.master.execute(statement)
    world.publish()
    assert world.drain()["tolerated"] == 5
    assert world.differences() == {}
    (standing,) = status.statuses(world.context)
    assert standing.odd == {"public.heap": {"missing": 1}, "public.t": {"duplicate": 1, "missing": 3}}
    assert "public.heap 1 missing, public.t 1 there already, public.t 3 missing" in status.as_table([standing])


def test_what_cannot_be_replayed_is_applied_at_its_place(build):
    """A key that is checked late, a row that is there already, rows that swap a unique value, between others."""
    late = "CREATE TABLE late (id int PRIMARY KEY DEFERRABLE)"
    world = build(f"{DDL}; {late}", [*TABLES, "public.late"])
    configured(world, mode="one_to_one")
    world.reader("zurich").execute("INSERT INTO t VALUES (2, 'own')")
    changed(world)
    world.master.execute("INSERT INTO late VALUES (1), (2)")
    world.master.execute("UPDATE late SET id = id + 1; UPDATE t SET v = v || '!'")
    world.master.execute("TRUNCATE heap")
    world.master.execute("INSERT INTO heap VALUES (9, 'after')")
    world.catch_up()
    assert world.differences() == {}


def test_an_issued_statement_may_give_up_what_the_session_has_prepared(world):
    with pytest.raises(SluiceError, match="SLC-100"):
        execute(world, "DEALLOCATE ALL")
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    execute(world, "DO $$ BEGIN EXECUTE 'DEALLOCATE ALL'; END $$", varying=True)
    world.master.execute("UPDATE t SET v = 'b'")
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full(but=["another one in its place"])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param("ALTER TABLE t ALTER n TYPE numeric(6,2)", id="altered"),
        pytest.param(
            "ALTER TABLE t RENAME TO old; CREATE TABLE t (id int, v text, n numeric(6,2)); DROP TABLE old",
            id="another one in its place",
        ),
    ],
)
def test_a_table_altered_between_two_transactions_bends_no_value(world, monkeypatch, change):
    for number in range(3):
        world.master.execute("INSERT INTO t VALUES (%s, 'a', 1.5)", [number])
    world.publish()
    drain = world.drainer()
    altered = []

    def reached(point):
        if not altered:
            altered.append(point)
            while world.position().ordinal == 0:
                time.sleep(0.01)
            world.reader("zurich").execute(change)

    monkeypatch.setattr(replaying, "crash_if_asked", reached)
    drain.deliver()
    with pytest.raises(SluiceError, match=r"SLC-073: .*numeric\(8,4\) -> numeric\(6,2\)"):
        drain.deliver()
    assert altered == [CrashPoint.REPLAYED]
    assert world.position().ordinal == 1


@pytest.fixture
def parts(monkeypatch):
    """How many changes each step had that was carried out by sets."""
    monkeypatch.setattr("sluice.drain.batches.PART", 4)
    monkeypatch.setattr("sluice.drain.drain.MOST_REPLAYED", 10)
    found, apply = [], PostgresSlave.apply

    def counted(slave, steps, *rest):
        def passed():
            for step in steps:
                found.append(sum(len(one) for effect in step for one in effect.changes()))
                yield step

        return apply(slave, passed(), *rest)

    monkeypatch.setattr(PostgresSlave, "apply", counted)
    return found


def test_a_transaction_that_is_too_large_to_be_replayed_is_never_held_as_a_whole(world, parts):
    world.master.execute("INSERT INTO t SELECT g, 'a' FROM generate_series(1, 10) AS g")
    world.master.execute("UPDATE t SET v = 'b'; DELETE FROM heap; INSERT INTO t VALUES (11, 'c')")
    world.master.execute("INSERT INTO t VALUES (12, 'd')")
    world.catch_up()
    assert parts == [4, 4, 3]
    assert (world.differences(), world.position().ordinal) == ({}, 3)


@pytest.mark.full
def test_a_large_transaction_that_does_not_go_in_parts_is_tried_as_one_piece(world, parts):
    """Its last change frees the value that its first one takes."""
    world.reader("zurich").execute("ALTER TABLE t ADD UNIQUE (v)")
    world.master.execute("INSERT INTO t SELECT g, 'a' || g FROM generate_series(1, 12) AS g")
    world.catch_up()
    world.master.execute("UPDATE t SET v = 'a' || (id % 12 + 1)")
    world.catch_up()
    assert parts == [4, 4, 4, 4, 12]
    assert (world.differences(), world.position().ordinal) == ({}, 2)


def test_a_replay_that_was_overtaken_commits_nothing_more(world, monkeypatch):
    changed(world)
    zombie = world.drainer()
    delivered = []

    def reached(_):
        monkeypatch.undo()
        other = world.drainer()
        while part := other.deliver():
            delivered.append(part.changes)

    monkeypatch.setattr(replaying, "crash_if_asked", reached)
    with pytest.raises(FencedError):
        zombie.deliver()
    assert world.position().ordinal == len(CHANGES)
    assert world.differences() == {}


def test_a_slave_that_is_set_back_under_a_drain_at_work_gets_nothing_from_it(build):
    """What follows belongs on top of what was taken back (R3)."""
    world = build(DDL, TABLES, slaves=("zurich", "geneva"))
    world.settings["replications"][1]["mode"] = "one_to_one"
    world.configure(lambda plain: None)
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    drains = {slave: world.drainer(slave) for slave in world.slaves}
    for drain in drains.values():
        drain.deliver()
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    world.publish()
    for slave, drain in drains.items():
        world.reader(slave).execute("UPDATE sluice_position SET ordinal = 0; DELETE FROM t")
        with pytest.raises(FencedError, match=r"SLC-050: .*or set its position back"):
            drain.deliver()
        assert world.rows(slave, "public.t").total() == 0
    world.catch_up()
    assert world.differences() == {}
