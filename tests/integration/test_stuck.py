"""A slave that a transaction stops: which one it is, and what a person may do about it."""

from __future__ import annotations

import json
import re

import psycopg
import pyarrow as pa
import pytest
from support.world import SOURCE

from sluice.cli.parser import main
from sluice.config.configuration_text import CONFIG_ENV
from sluice.connections import SEALED_ENV, seal
from sluice.errors import VALUES_ENV, SluiceError, TransientError
from sluice.monitor import status
from sluice.state.condition import ReplicationCondition
from sluice.store import blocked, leases, rejected_changes, replications
from sluice.vendors.postgresql.errors import explained

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE other (id int)"
# Arrays may outlive a test, and what they are allocated in outlives them.
COUNTING = pa.proxy_memory_pool(pa.default_memory_pool())


@pytest.fixture
def stuck(build):
    """A world whose slave refuses the third of five transactions."""

    def made(mode="batch"):
        world = build(DDL, ["public.t", "public.other"])
        world.settings["replications"][0]["mode"] = mode
        world.configure(lambda plain: None)
        world.reader("zurich").execute("ALTER TABLE t ADD CHECK (v <> 'secret')")
        for statement in (
            "INSERT INTO t VALUES (1, 'a')",
            "INSERT INTO other VALUES (1)",
            "BEGIN; INSERT INTO t VALUES (2, 'b'), (3, 'secret'); UPDATE t SET v = 'c' WHERE id = 1; COMMIT",
            "INSERT INTO t VALUES (4, 'd')",
            "UPDATE t SET v = 'e' WHERE id = 2; INSERT INTO other VALUES (2)",
        ):
            world.master.execute(statement)
        world.publish()
        with pytest.raises(SluiceError) as caught:
            world.drain()
        return world, caught.value

    return made


@pytest.fixture
def sluice(monkeypatch, capsys, tmp_path):
    """`./sluice` for a world: its exit code, what it prints, and what it complains of."""

    def run(world, *words):
        (tmp_path / "replication.json").write_text(json.dumps(world.settings))
        monkeypatch.setenv(CONFIG_ENV, str(tmp_path / "replication.json"))
        monkeypatch.setenv(SEALED_ENV, seal(world.infos))
        monkeypatch.setenv("USER", "eva")
        code = main([words[0], SOURCE, "zurich", *map(str, words[1:])])
        return code, *capsys.readouterr()

    return run


def slave(world, table="t"):
    return world.reader("zurich").execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()


@pytest.mark.full(but=["batch"])
@pytest.mark.parametrize("mode", ["batch", "one_to_one"])
def test_what_comes_before_is_delivered_and_the_transaction_is_named_without_its_values(stuck, mode):
    world, error = stuck(mode)
    assert world.position().ordinal == 2
    assert (slave(world), slave(world, "other")) == ([(1, "a")], [(1,)])
    assert "secret" not in str(error)
    assert "transaction 3 (xid " in error.fact
    assert "2 INSERT, 1 UPDATE of public.t by id)" in error.fact
    assert "--remove-first 3`" in error.hint
    assert "`--skip public.t`" in error.hint
    (told,) = status.statuses(world.context)
    assert (told.stuck.ordinal, told.stuck.touched[0].key) == (3, ("id",))
    assert told.stuck.first_key < told.stuck.last_key
    assert str(told.stuck) in told.why
    world.reader("zurich").execute("ALTER TABLE t DROP CONSTRAINT t_v_check")
    world.drain()
    assert world.differences() == {}
    assert blocked.blocking_transaction(world.context.store, world.pair("zurich")) is None


def test_the_transaction_is_removed_alone_and_can_be_carried_out_later(stuck, sluice):
    world, _ = stuck()
    assert sluice(world, "dispatcher", "--remove-first", 4)[0] == 1, "it does not stand in front of that one"
    with leases.hold_lease(world.context.store, f"drain {world.pair('zurich')}"):
        assert "SLC-051" in sluice(world, "dispatcher", "--remove-first", 3)[2]
    assert "transaction 3 (xid " in sluice(world, "dispatcher")[1]
    earlier = world.drainer()
    world.let_leases_expire()
    code, out, _ = sluice(world, "dispatcher", "--remove-first", 3)
    assert (code, out.splitlines()[0][:36]) == (0, "removed transaction 3: 3 changes are")
    assert (world.position().ordinal, slave(world)) == (3, [(1, "a")])
    with pytest.raises(TransientError, match="SLC-050"):
        earlier.deliver()
    assert "does not stand in front of" in sluice(world, "dispatcher", "--remove-first", 3)[2], "once is enough"
    (told,) = status.statuses(world.context)
    assert (told.condition, "stands in front" in told.why) == (ReplicationCondition.STOPPED, False)
    assert "somebody has removed transaction 3 since" in told.why
    world.drain()
    assert slave(world) == [(1, "a"), (2, "e"), (4, "d")]
    audit = world.reader("control").execute("SELECT actor, detail FROM audit WHERE event = 'remove first'").fetchall()
    assert [(actor, detail[:13]) for actor, detail in audit] == [("eva", "transaction 3")]
    (told,) = status.statuses(world.context)
    assert (told.condition, told.differing, told.rejected) == (ReplicationCondition.DIFFERENT, {"public.t": 3}, 3)
    listed = sluice(world, "rejected")[1]
    assert "transaction 3  public.t  INSERT, removed\n  + id=3  v=secret" in listed
    kept = rejected_changes.list_changes(world.context.store, world.pair("zurich"))
    world.reader("zurich").execute("ALTER TABLE t DROP CONSTRAINT t_v_check")
    assert sluice(world, "rejected", kept[1].id, kept[2].id, "--carry-out")[0] == 0
    assert sluice(world, "rejected", kept[0].id, "--drop")[0] == 0
    assert world.differences() == {}
    (told,) = status.statuses(world.context)
    assert (told.condition, told.rejected) == (ReplicationCondition.DIFFERENT, 0), "until a comparison finds it equal"


@pytest.fixture
def held(monkeypatch):
    """Small parts, of which little is held in memory; how many bytes that were at most."""
    monkeypatch.setattr("sluice.drain.batches.PART", 100)
    for module in ("spill", "deferred_changes"):
        monkeypatch.setattr(f"sluice.drain.{module}.MOST_BYTES", 100_000)
    before = pa.default_memory_pool()
    pa.set_memory_pool(COUNTING)
    yield COUNTING.max_memory
    pa.set_memory_pool(before)


@pytest.mark.full
def test_neither_a_large_transaction_that_is_removed_nor_what_comes_before_it_is_held(build, sluice, held):
    """Of 16 MB each, and it cannot even be seen; what it has is kept all the same, each change once."""
    computed = "(10 / (id - 9999))::text"
    entry = {"columns": {"v": "seen"}, "compute": {"seen": computed}}
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"], slave={"tables": {"public.t": entry}})
    zurich = world.reader("zurich")
    zurich.execute("ALTER TABLE t RENAME v TO seen; ALTER TABLE t ADD CHECK (id <> 9999)")
    for first, last in ((1, 2000), (8001, 10000)):
        text = "repeat(md5(g::text), 256)"
        world.master.execute(f"INSERT INTO t SELECT g, {text} FROM generate_series({first}, {last}) AS g")
    world.publish()
    with pytest.raises(SluiceError, match=r"in front of transaction 2 "):
        world.drain()
    zurich.execute("TRUNCATE t; UPDATE sluice_position SET segment = 0, ordinal = 0")
    world.let_leases_expire()
    assert sluice(world, "dispatcher", "--remove-first", 2)[0] == 0
    assert (world.position().ordinal, zurich.execute("SELECT count(*) FROM t").fetchone()) == (2, (2000,))
    kept = rejected_changes.list_changes(world.context.store, world.pair("zurich"))
    assert [int(one.change.new[0]) for one in kept] == list(range(8001, 10001))
    assert {one.change.unseen for one in kept} == {True}
    assert held() < 50_000_000


def test_a_transaction_that_cannot_even_be_seen_is_kept_as_the_master_wrote_it(build, sluice):
    """What is computed of one row fails; once that is fixed, what is kept is carried out as the slave sees it then."""
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"])

    def see(computed):
        entry = {"columns": {"v": "seen"}, "compute": {"seen": computed}}
        world.configure(lambda plain: plain["slaves"]["zurich"].update(tables={"public.t": entry}))

    world.reader("zurich").execute("ALTER TABLE t RENAME v TO seen")
    see("(10 / (id - 2))::text")
    for number in (1, 2, 3):
        world.master.execute("INSERT INTO t VALUES (%s, 'plain')", [number])
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-162.* in front of transaction 2 "):
        world.drain()
    world.let_leases_expire()
    assert sluice(world, "dispatcher", "--remove-first", 2)[0] == 0
    listed = sluice(world, "rejected")[1]
    assert "INSERT, removed as the master wrote it\n  + id=2  v=plain" in listed
    world.drain()
    assert slave(world) == [(1, "-10"), (3, "10")]
    assert "SLC-162" in sluice(world, "rejected", "--carry-out")[2], "it cannot be seen yet"
    see("(20 / id)::text")
    assert sluice(world, "rejected", "--carry-out")[0] == 0
    assert slave(world) == [(1, "-10"), (2, "10"), (3, "10")]
    (told,) = status.statuses(world.context)
    assert (told.differing, told.rejected) == ({"public.t": 1}, 0), "it may have undone a newer change"


def test_a_table_is_left_out_until_the_slave_is_filled_anew(stuck, sluice):
    world, _ = stuck()
    assert "SLC-040" in sluice(world, "dispatcher", "--skip", "public.nowhere")[2]
    assert sluice(world, "dispatcher", "--skip", "public.t")[0] == 0
    world.drain()
    assert (slave(world), slave(world, "other")) == ([(1, "a")], [(1,), (2,)])
    code, out, _ = sluice(world, "dispatcher")
    assert code == 1
    assert "public.t is left out since" in out
    assert "by eva: 5 changes were not delivered" in out
    (told,) = status.statuses(world.context)
    assert (told.status, told.dispatcher, told.skipped) == ("NORMAL", "ACTIVE", {"public.t": 5})
    replications.request(world.context.store, [world.pair("zurich")], 1)
    replications.restart_at(world.context.store, world.pair("zurich"), world.position(), 1)
    assert world.standing().skipped == {}


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT 'sec\"ret'::int", 'invalid input syntax for type integer: "..."'),
        ("SELECT '2024-13-99'::date", 'date/time field value out of range: "..." [SQLSTATE 22008]'),
        (
            "INSERT INTO pg_temp.t VALUES (1), (1)",
            'duplicate key value violates unique constraint "t_pkey" [SQLSTATE 23505]',
        ),
    ],
)
def test_an_error_tells_values_only_where_that_is_allowed(server, statement, said, monkeypatch):
    with server.connect(server.create_database()) as session:
        session.execute("CREATE TEMP TABLE t (id int PRIMARY KEY)")
        with pytest.raises(psycopg.Error) as refused:
            session.execute(statement)
    assert explained(refused.value, "looking").fact == f"looking: {said}"
    monkeypatch.setenv(VALUES_ENV, "1")
    assert re.search(r"ret|99|\(1\)", explained(refused.value, "looking").fact)
