"""Two masters feed each other and a slave (R5, R10): what one sent to the slave, the other may not have yet."""

from __future__ import annotations

import itertools

import pytest
from sqlalchemy import func, select
from support.updating import background, compare_here

from sluice.errors import RowsDiffer, SluiceError
from sluice.initial_update.chunks import copy
from sluice.model.names import Pair, TableName
from sluice.repair.run import RepairRequest, repair
from sluice.state.dispatcher import Hold
from sluice.state.replication import Event, Status
from sluice.store import comparisons, leases, replications
from sluice.store.tables import point
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text)"
BOTH = {"block_loop": True}
ARROWS = {("east", "west"): BOTH, ("west", "east"): BOTH, ("east", "south"): {}, ("west", "south"): {}}
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


def test_a_repair_undoes_nothing_that_is_on_its_way_to_its_master(world):
    world.at("south").execute("DELETE FROM t WHERE id IN (2, 12); INSERT INTO t VALUES (50, 'south alone')")
    store, turns = world.context.store, itertools.count()
    with pytest.raises(RowsDiffer), background(lambda: world.publish("west"), lambda: world.drain("west", "south")):
        verify(world.context, VerifyRequest("west", ("south",)), compare_here, 60)
    request = RepairRequest("west", "south", report=comparisons.last(store, PAIR))

    def to_the_west():
        """Not before it is asked for."""
        with store.begin() as connection:
            asked = connection.execute(select(func.count()).where(point.c.source == "east")).scalar()
        if asked:
            world.drain("east", "west")

    def write():
        """The east would write rows that the last comparison sees on one side alone."""
        world.at("west", "writer").execute("UPDATE t SET v = %s WHERE id = 13", [f"west {next(turns)}"])

    replications.happen(store, BETWEEN, Event.REQUEST)
    with pytest.raises(SluiceError, match=r"SLC-603: .*east sends .* to both, and its slave west is INITIAL"):
        repair(world.context, request, compare_here)
    for event in (Event.DUMPED, Event.VERIFIED):
        replications.happen(store, BETWEEN, event)
    replications.lift(store, BETWEEN, Hold.INITIAL, "the data is in")
    jobs = [lambda name=name: world.publish(name) for name in ("east", "west")]
    jobs += [lambda name=name: world.drain(name, "south") for name in ("east", "west")]
    with background(*jobs, to_the_west, write, pause_s=0.02):
        found = repair(world.context, request, compare_here, patience_s=60)
    assert (found["deleted"], found["written"]) == (1, 2)
    assert next(turns) > 0
    alike(world)


def test_an_initial_update_waits_until_its_master_has_what_the_slave_has(world):
    store = world.context.store

    def refused(told):
        with pytest.raises(SluiceError, match=rf"SLC-606: .*rows of public\.t: east sends them to both, and {told}"):
            world.update("west", "south")
        assert replications.get(store, PAIR).status is Status.NORMAL

    pause, unpause = (rf"airflow dags {word} drain__east__south" for word in ("pause", "unpause"))
    refused(rf"its drain into south may deliver .* west has not yet\nHINT: .*{pause}, and after the update: {unpause};")
    replications.shut(store, OTHER, Hold.ADMIN, "for an update")
    with leases.leased(store, f"drain {OTHER}"):
        refused("its drain into south is still at work")
    refused(r"west is at transaction \d+ of its stream, and south at \d+ already")
    world.drain("east", "west")
    world.update("west", "south")
    world.at("east").execute("UPDATE t SET v = 'later' WHERE id = 100; DELETE FROM t WHERE id = 2")
    replications.lift(store, OTHER, Hold.ADMIN, "it is over")
    alike(world)
    replications.happen(store, OTHER, Event.REQUEST)
    refused("its own initial update of south is under way")
    replications.happen(store, OTHER, Event.FAIL)
    world.update("west", "south")


def test_a_drain_that_is_let_go_on_during_an_initial_update_ends_it(world, monkeypatch):
    store = world.context.store
    replications.shut(store, OTHER, Hold.ADMIN, "for an update")
    world.drain("east", "west")
    whole = copy._whole

    def interrupted(*given):
        replications.lift(store, OTHER, Hold.ADMIN, "too early")
        return whole(*given)

    monkeypatch.setattr(copy, "_whole", interrupted)
    with pytest.raises(SluiceError, match=r"(?s)SLC-080: .*SLC-606: .*may deliver some"):
        world.update("west", "south")
    assert replications.get(store, PAIR).status is Status.INCONSISTENT
