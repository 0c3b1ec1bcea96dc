"""Two masters feed each other and a slave (R5, R10): what one sent to the slave, the other may not have yet."""

from __future__ import annotations

import itertools

import pytest
from sqlalchemy import func, select
from support.updating import background, compare_here, load_here

from sluice.errors import RowsDiffer, SluiceError, TransientError
from sluice.initial_update.dump import dump
from sluice.initial_update.inhibit import inhibit
from sluice.initial_update.release import release
from sluice.model.names import Pair, TableName
from sluice.repair.run import RepairRequest, repair
from sluice.state.dispatcher import Hold
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import blocked, comparisons, replications
from sluice.store.tables import point
from sluice.vendors.postgresql.load.keys import PostgresRepair
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text)"
BOTH = {"block_loop": True}
ARROWS = {
    ("east", "west"): BOTH,
    ("west", "east"): BOTH,
    ("east", "south"): {},
    ("west", "south"): {},
    ("west", "far"): {},
}
T = TableName("public", "t")
PAIR, OTHER, BETWEEN = Pair("west", "south"), Pair("east", "south"), Pair("east", "west")


@pytest.fixture
def world(several):
    """The east's newest rows are in the south, and not in the west."""
    made = several(DDL, ARROWS, ["public.t"])
    made.at("east").execute("INSERT INTO t SELECT g, 'east' FROM generate_series(1, 9) g")
    made.at("west").execute("INSERT INTO t SELECT g, 'west' FROM generate_series(11, 19) g")
    made.until_quiet()
    made.at("east").execute("INSERT INTO t VALUES (100, 'new'); UPDATE t SET v = 'newer' WHERE id = 1")
    made.publish("east")
    made.drain("east", "south")
    return made


def alike(world):
    world.until_quiet()
    assert world.rows("south") == world.rows("east") == world.rows("west")


def differing(world):
    """The number of a comparison of the south with the west."""
    with pytest.raises(RowsDiffer), background(lambda: world.publish("west"), lambda: world.drain("west", "south")):
        verify(world.context, VerifyRequest("west", ("south",)), compare_here, 60)
    return comparisons.last(world.context.store, PAIR)


def test_a_repair_undoes_nothing_that_is_on_its_way_to_its_master(world):
    world.at("south").execute("DELETE FROM t WHERE id IN (2, 12); INSERT INTO t VALUES (50, 'south alone')")
    request = RepairRequest("west", "south", report=differing(world))
    store, turns = world.context.store, itertools.count()

    def to_the_west():
        """Not before a point of the east's is asked for."""
        with store.begin() as connection:
            asked = connection.execute(select(func.count()).where(point.c.source == "east")).scalar()
        if asked:
            world.drain("east", "west")

    def write():
        """What the east writes may be on its way in the last comparison."""
        world.at("west", "writer").execute("UPDATE t SET v = %s WHERE id = 13", [f"west {next(turns)}"])

    jobs = [lambda name=name: world.publish(name) for name in ("east", "west")]
    jobs += [lambda name=name: world.drain(name, "south") for name in ("east", "west")]
    with background(*jobs, to_the_west, write, pause_s=0.02):
        found = repair(world.context, request, compare_here, patience_s=60)
    assert (found["deleted"], found["written"]) == (1, 2)
    assert next(turns) > 0
    alike(world)


@pytest.mark.full
def test_a_repair_waits_for_no_drain_that_stands_still(world):
    request, store = RepairRequest("west", "south", report=differing(world)), world.context.store

    def refused(told):
        with pytest.raises(
            SluiceError, match=rf"SLC-603: .*public\.t on slave south .*: east sends them to both, and (?:{told})"
        ):
            repair(world.context, request, compare_here)

    for one in (OTHER, BETWEEN):
        replications.shut(store, one, Hold.ADMIN, "a person paused it", "otto")
        refused(f"its drain into {one.slave} .* by otto|its drain into {one.slave} is on standby")
        replications.lift(store, one, Hold.ADMIN, "on")
    blocked.skip(store, BETWEEN, T, "otto")
    refused(r"otto skipped public\.t for west")
    replications.record(store, BETWEEN, ReplicationEvent.REQUEST)
    refused("its slave west is INITIAL")


@pytest.mark.full(but=["the west is filled again"])
@pytest.mark.parametrize("over", ["the point is void", "the west is filled again"])
def test_a_repair_writes_nothing_once_the_two_are_not_held_together(world, over, monkeypatch):
    request, store, tries = RepairRequest("west", "south", report=differing(world)), world.context.store, []
    end = PostgresRepair.end

    def late(rows, *given):
        tries.append(over)
        if over == "the point is void":
            with store.begin() as connection:
                connection.execute(point.update().where(point.c.source == "east").values(deadline=func.now()))
        else:
            replications.record(store, BETWEEN, ReplicationEvent.REQUEST)
        return end(rows, *given)

    monkeypatch.setattr(PostgresRepair, "end", late)
    pairs = [lambda one=one: world.drain(one.source, one.slave) for one in world.pairs]
    # Somebody may lock the rows for a moment, too.
    error = "083: .*of the stream of east|036: " if over == "the point is void" else "603: .*its slave west is INITIAL"
    pairs += [lambda name=name: world.publish(name) for name in ("east", "west")]
    with background(*pairs, pause_s=0.02), pytest.raises(SluiceError, match=f"SLC-({error})"):
        repair(world.context, request, compare_here, patience_s=60)
    assert len(tries) == (5 if over == "the point is void" else 1)
    found = world.at("south").execute("SELECT v FROM t WHERE id IN (1, 100) ORDER BY id").fetchall()
    assert found == [("newer",), ("new",)]


@pytest.mark.full
def test_an_initial_update_does_not_end_before_its_master_can_tell_what_it_took_away(world):
    """Nor by that of another slave, which has not even come as far as that."""
    store, slaves = world.context.store, ["south", "far"]
    inhibit(world.context, "west", slaves)
    dump(world.context, "west", slaves, load_here)
    release(world.context, "west", slaves)

    def goes_on(error, *names):
        with pytest.raises(TransientError, match=error):
            verify(world.context, VerifyRequest("west", names, initial=True), compare_here, 0.5)
        assert {replications.get(store, Pair("west", name)).status for name in slaves} == {Status.TRANSITION}

    world.at("west").execute("UPDATE t SET v = 'later' WHERE id = 11")
    world.publish("west")
    world.drain("west", "south")
    goes_on("SLC-098: slave far has its data", *slaves)
    goes_on(r"SLC-098: .*transactions of east, and west, .* lacks transactions: 1\n", "south")
    world.drain("east", "west")
    replications.record(store, BETWEEN, ReplicationEvent.REQUEST)
    goes_on(r"SLC-098: .*transactions of east, and west, .* lacks what it is given: it is INITIAL\n.*cancel", "south")
    replications.record(store, BETWEEN, ReplicationEvent.DUMPED)
    replications.lift(store, BETWEEN, Hold.INITIAL, "the data is in")
    with pytest.raises(RowsDiffer), background(lambda: world.publish("west"), lambda: world.drain("west", "south")):
        verify(world.context, VerifyRequest("west", ("south",), initial=True), compare_here, 60)
    assert replications.get(store, PAIR).status is Status.INCONSISTENT
    world.update("west", "south")
    alike(world)
