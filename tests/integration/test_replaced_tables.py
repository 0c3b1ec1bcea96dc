"""A table of a slave that somebody empties or replaces there is to be compared, and what a drain does to it is not."""

from __future__ import annotations

import json
from contextlib import nullcontext

import pytest
from tests.support.launcher import wait_until

from sluice.drain.drain import Drain
from sluice.drain.step import deliver
from sluice.errors import TransientError
from sluice.monitor.status import as_table, statuses
from sluice.state.condition import ReplicationCondition
from sluice.store.leases import acquire
from sluice.verify import run

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id);"
PARTS = "CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (9)"
TABLES = ["public.t", "public.parted"]
HARM = {
    "emptied": ("public.t", "TRUNCATE t"),
    "a partition": ("public.parted", "TRUNCATE parted_1"),
    "swapped": ("public.t", "CREATE TABLE n (LIKE t INCLUDING ALL); DROP TABLE t; ALTER TABLE n RENAME TO t"),
    "gone": ("public.t", "DROP TABLE t"),
}


@pytest.fixture
def world(build):
    made = build(DDL + PARTS, TABLES)
    made.master.execute("INSERT INTO t VALUES (1, 'a'); INSERT INTO parted VALUES (1)")
    made.catch_up()
    return made


def condition(world):
    (told,) = statuses(world.context)
    return told.condition, told


@pytest.mark.parametrize(("table", "harm"), HARM.values(), ids=HARM)
def test_a_table_that_somebody_emptied_or_replaced_is_to_be_compared(world, table, harm):
    assert condition(world)[0] is ReplicationCondition.WELL
    world.reader("zurich").execute(harm.encode())
    world.drain()
    found, told = condition(world)
    assert (found, told.differing) == (ReplicationCondition.DOUBTFUL, {table: 0})
    assert f"{table}: somebody emptied, rewrote or replaced it on zurich" in told.why
    assert "trigger verify" in told.why
    assert "to be compared" in as_table([told])


def test_a_drain_that_goes_on_notices_it_between_two_steps(world):
    pair = world.pair("zurich")
    mapper = world.context.mapper(pair)
    lease = acquire(world.context.store, f"drain {pair}", force=True)

    def step(*, first):
        world.master.execute("INSERT INTO parted SELECT max(id) + 1 FROM parted")
        world.publish()
        deliver(world.context, pair, mapper, lease.epoch, 5, first=first)

    step(first=True)
    step(first=False)
    assert condition(world)[0] is ReplicationCondition.WELL
    world.reader("zurich").execute("TRUNCATE t")
    step(first=False)
    assert condition(world)[0] is ReplicationCondition.DOUBTFUL


@pytest.mark.parametrize("statement", ["INSERT INTO t VALUES (2, 'b')", "TRUNCATE parted", "fails"])
def test_a_table_that_is_emptied_while_a_step_is_at_work_is_to_be_compared(world, monkeypatch, statement):
    delivered = Drain.deliver

    def emptied_behind(drain):
        found = delivered(drain)
        if found is None:
            world.reader("zurich").execute("TRUNCATE t")
            if statement == "fails":
                raise TransientError(36, "a table stays locked", "wait")
        return found

    with monkeypatch.context() as beside:
        beside.setattr(Drain, "deliver", emptied_behind)
        world.master.execute(b"INSERT INTO t VALUES (2, 'b')" if statement == "fails" else statement.encode())
        world.publish()
        with pytest.raises(TransientError) if statement == "fails" else nullcontext():
            world.drain()
    for _ in range(2):
        assert condition(world)[0] is ReplicationCondition.DOUBTFUL
        world.let_leases_expire()
        world.drain()


def test_it_is_so_until_all_its_rows_are_compared_or_it_is_filled_again(updating, monkeypatch):
    world = updating(DDL.partition(";")[0], ["public.t"], {}, slaves=("zurich",))
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.update()
    assert world.verify(initial=True) == {"zurich": 0}
    world.drain()
    world.reader("zurich").execute("TRUNCATE t; INSERT INTO t VALUES (1, 'a')")
    for _ in range(2):
        world.drain()
        assert condition(world)[0] is ReplicationCondition.DOUBTFUL
    assert world.verify(percent=99) == {"zurich": 0}
    assert condition(world)[0] is ReplicationCondition.DOUBTFUL
    assert world.verify() == {"zurich": 0}
    assert condition(world)[0] is ReplicationCondition.WELL

    def emptied_before(*found):
        """It was compared before that."""
        world.reader("zurich").execute("TRUNCATE t")
        wait_until(lambda: condition(world)[0] is ReplicationCondition.DOUBTFUL, "the mark")
        recorded(*found)

    recorded = run.record
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(run, "record", emptied_before)
        assert world.verify() == {"zurich": 0}
    assert condition(world)[0] is ReplicationCondition.DOUBTFUL
    world.update()
    assert world.verify(initial=True) == {"zurich": 0}
    world.drain()
    assert condition(world)[0] is ReplicationCondition.WELL


def test_what_a_drain_empties_rewrites_or_makes_anew_is_no_doubt(world):
    master = world.master.execute
    for statement in (
        "TRUNCATE t",
        "ALTER TABLE t ALTER id TYPE bigint",
        "DROP TABLE t; CREATE TABLE t (id int PRIMARY KEY)",
        "CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (9) TO (20)",
    ):
        master(statement)
        world.publish()
        for _ in range(2):
            world.drain()
            assert condition(world)[0] is ReplicationCondition.WELL, statement
    # As a drain that is killed leaves it: behind what was recorded.
    before = world.reader("control").execute("SELECT ordinal, files FROM table_files").fetchone()
    master("TRUNCATE t")
    world.publish()
    world.drain()
    undone = "UPDATE table_files SET ordinal = %s, files = %s::jsonb"
    world.reader("control").execute(undone, [before[0], json.dumps(before[1])])
    world.drain()
    assert condition(world)[0] is ReplicationCondition.WELL


def test_a_slave_that_applications_write_to_is_left_alone(world):
    def is_master(settings):
        tables = {"public.t": {}}
        settings["sources"]["second"] = {"connection": "zurich", "prefix": "TWO_", "tables": tables}

    world.configure(is_master)
    world.reader("zurich").execute("TRUNCATE t")
    world.drain()
    assert condition(world)[0] is not ReplicationCondition.DOUBTFUL
