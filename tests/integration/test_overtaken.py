"""Two runs for the same slaves at the same time: what one of them does late does nothing to the update of the other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from support.carrying import Carried
from support.updating import blocks_here, load_here
from support.world import SOURCE

from sluice.errors import FencedError, SluiceError
from sluice.initial_update import dump as dumping
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.cancel import cancel
from sluice.initial_update.dump import ONLINE
from sluice.initial_update.files.target import StoredTables
from sluice.model.names import TableName
from sluice.state.dispatcher import Hold
from sluice.state.replication import Status
from sluice.store import replications, transfers

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, note text);
CREATE TABLE later (id int PRIMARY KEY, note text);
INSERT INTO t SELECT g, 'note ' || g FROM generate_series(1, 300) AS g;
INSERT INTO later TABLE t;
"""
T = TableName("public", "t")


@pytest.fixture
def world(updating):
    return updating(DDL, {"public.t": {"load_in_blocks": False}, "public.later": {}})


@pytest.fixture
def acting_as(monkeypatch):
    """Acts as a task of a run of the initial_update DAG."""
    return lambda run: monkeypatch.setenv("SLUICE_RUN", f"initial_update/{run}/task/1")


def statuses(world):
    return [world.status(slave) for slave in world.slaves]


def gate(world, slave):
    return replications.holds(world.context.store, world.pair(slave))


def ends_well(world, *slaves):
    assert world.verify(*slaves, initial=True) == dict.fromkeys(slaves, 0)
    assert statuses(world) == [Status.NORMAL] * 2
    for slave in slaves:
        assert world.rows(slave, "public.t") == world.rows("master", "public.t")


@pytest.mark.full
def test_a_comparison_ends_no_update_of_another_run(world, acting_as):
    """It compares the tables of its own, and the blocks of the other one are not in."""
    acting_as("first")
    number = world.inhibit()["update"]
    world.dump()
    world.release()
    acting_as("second")
    world.inhibit("zurich", force=True, mode=ONLINE)
    world.dump("zurich", mode=ONLINE)
    world.release("zurich")
    with pytest.raises(SluiceError, match=r"SLC-020: .*zurich is TRANSITION"):
        world.verify("zurich")
    acting_as("first")
    with pytest.raises(SluiceError, match=r"SLC-020: .*zurich is TRANSITION") as refused:
        world.verify(initial=True, tables=(T,), update=number)
    assert "an update is under way" in refused.value.hint
    assert statuses(world) == [Status.TRANSITION, Status.NORMAL]
    acting_as("second")
    with world.running("zurich"):
        load_online(world.context, SOURCE, ["zurich"], blocks_here)
    ends_well(world, "zurich")


def test_what_is_cancelled_before_its_blocks_come_can_be_gone_on_with(world, acting_as):
    acting_as("run")
    world.inhibit("zurich", mode=ONLINE)
    world.dump("zurich", mode=ONLINE)
    world.release("zurich")
    cancel(world.context, SOURCE, ["zurich"])
    assert '"mode": "online", "resume": true' in world.standing("zurich").why


@pytest.mark.full
def test_a_slave_that_is_taken_away_from_a_dump_takes_the_others_not_with_it(world, acting_as, monkeypatch):
    acquire_leases = dumping.acquire_leases

    def taken_away(*asked):
        held = acquire_leases(*asked)
        acting_as("second")
        world.inhibit("zurich", force=True)
        acting_as("first")
        return held

    acting_as("first")
    world.inhibit()
    with monkeypatch.context() as patch:
        patch.setattr(dumping, "acquire_leases", taken_away)
        assert list(world.dump()["failed"]) == ["zurich"]
    assert statuses(world) == [Status.INITIAL] * 2
    assert world.release() == {"released": ["geneva"]}
    ended = [world.verify("geneva", initial=True)]
    acting_as("second")
    world.dump("zurich")
    world.release("zurich")
    ends_well(world, "zurich")
    assert ended == [{"geneva": 0}]


@pytest.mark.full
def test_a_try_of_a_dump_that_was_overtaken_does_not_give_the_update_up(world, acting_as):
    reached, goes_on = Event(), Event()

    def stopping(job):
        reached.set()
        assert goes_on.wait(60)
        return load_here(job)

    acting_as("run")
    world.inhibit("zurich")
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(world.dump, "zurich", load=stopping)
        assert reached.wait(60)
        assert world.dump("zurich")["failed"] == {}
        goes_on.set()
        with pytest.raises(FencedError, match="was taken over"):
            first.result(60)
    assert world.status("zurich") is Status.INITIAL
    assert world.release("zurich") == {"released": ["zurich"]}
    ends_well(world, "zurich")


def test_the_gate_that_another_update_shut_is_not_opened(world, acting_as, monkeypatch):
    pending, overtook = transfers.pending_transfer, []

    def overtaken(store, pair):
        if not overtook:
            overtook.append(acting_as("second"))
            world.inhibit("zurich", force=True)
            acting_as("first")
        return pending(store, pair)

    acting_as("first")
    world.inhibit("zurich")
    world.dump("zurich")
    with monkeypatch.context() as patch:
        patch.setattr(transfers, "pending_transfer", overtaken)
        assert world.release("zurich") == {"released": []}
    assert list(gate(world, "zurich")) == [Hold.INITIAL]
    acting_as("second")
    world.dump("zurich")
    assert world.release("zurich") == {"released": ["zurich"]}
    assert gate(world, "zurich") == {}
    ends_well(world, "zurich")


@pytest.mark.full
def test_what_an_earlier_update_stored_is_not_what_a_slave_waits_for(world, acting_as, tmp_path, monkeypatch):
    carried = Carried(world, tmp_path / "carried")
    begin, stored = StoredTables.begin_stream, []

    def overtaken(tables, position, snapshot):
        begin(tables, position, snapshot)
        if not stored:
            stored.append(True)
            acting_as("second")
            carried.store("zurich", force=True)
            acting_as("first")

    acting_as("first")
    monkeypatch.setattr(StoredTables, "begin_stream", overtaken)
    carried.store("zurich")
    assert carried.awaited("zurich").update == replications.get(world.context.store, world.pair("zurich")).update_id
    carried.carry("zurich")
    monkeypatch.setenv("SLUICE_RUN", "receive_initial_files/third/task/1")
    carried.receive("zurich")
    ends_well(world, "zurich")


APART = [
    ({"store": True, "mode": ONLINE}, r"SLC-914: .*mode online is not stored"),
    ({"tables": [T], "store": True}, r"SLC-914: .*some tables alone.*one snapshot of now"),
    ({"tables": [T], "version": "REPL_Ver_1"}, r"SLC-914: .*some tables alone"),
    ({"tables": [T], "mode": ONLINE}, r"SLC-914: .*some tables alone"),
    ({"keys": ["public.t: 1 .. 5"], "store": True}, r"SLC-914: .*mode online is not stored"),
]


def test_choices_that_do_not_go_together_are_refused_before_anything_is_changed(world):
    for choices, said in APART:
        with pytest.raises(SluiceError, match=said) as refused:
            world.inhibit("zurich", **choices)
        assert "no table was touched" in refused.value.hint
        assert (world.status("zurich"), gate(world, "zurich")) == (Status.NORMAL, {}), choices
