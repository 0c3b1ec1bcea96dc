"""What stops one slave, or becomes of its update, stops no other one of the same update (R8)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from support.updating import background, blocks_here, compare_here
from support.waiting import until
from support.world import SOURCE

from sluice.errors import SluiceError
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.cancel import cancel
from sluice.initial_update.dump import ONLINE
from sluice.monitor.status import statuses
from sluice.state.replication import Status
from sluice.store import replications
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, note text);
INSERT INTO t SELECT g, 'note ' || g FROM generate_series(1, 300) AS g;
"""


@pytest.fixture
def world(updating):
    return updating(DDL, ["public.t"])


def slave_statuses(world):
    return [world.status(slave) for slave in world.slaves]


def only_geneva_ends_well(world):
    assert world.release() == {"released": ["geneva"]}
    with pytest.raises(SluiceError, match=r"SLC-020: .*zurich is INCONSISTENT"):
        world.verify(initial=True)
    assert slave_statuses(world) == [Status.INCONSISTENT, Status.NORMAL]
    assert world.rows("geneva", "public.t") == world.rows("master", "public.t")


@pytest.mark.full
def test_one_that_is_cancelled_while_all_begin(world, monkeypatch):
    request = replications.request

    def cancelled(store, pairs, number):
        request(store, pairs, number)
        cancel(world.context, SOURCE, ["zurich"])

    with monkeypatch.context() as patch:
        patch.setattr(replications, "request", cancelled)
        assert world.inhibit()["slaves"] == ["geneva"]
    assert world.dump()["failed"] == {}
    only_geneva_ends_well(world)


@pytest.mark.full
def test_one_whose_stylesheet_cannot_be_read_any_more(world):
    nowhere = {"directory": str(world.path / "nowhere")}
    world.inhibit()
    world.configure(lambda settings: settings["slaves"]["zurich"].update(stylesheets=nowhere))
    failed = world.dump()["failed"]
    assert list(failed) == ["zurich"]
    assert "SLC-161: the stylesheets" in failed["zurich"]
    only_geneva_ends_well(world)
    assert [one.status for one in statuses(world.context)] == ["INCONSISTENT", "NORMAL"]


@pytest.mark.full
def test_one_that_is_taken_out_of_the_configuration_meanwhile(world):
    world.inhibit()
    world.configure(lambda settings: settings["replications"].pop(0))
    assert list(world.dump()["failed"]) == ["zurich"]
    assert world.release() == {"released": ["geneva"]}
    with background(world.publish, lambda: world.drain("geneva")):
        verify(world.context, VerifyRequest(SOURCE, ("geneva",), initial=True), compare_here, 60)
    assert slave_statuses(world) == [Status.INCONSISTENT, Status.NORMAL]


def test_one_whose_database_is_gone_when_blocks_are_loaded(world):
    world.inhibit(mode=ONLINE)
    world.dump(mode=ONLINE)
    world.release()
    world.reader("master").execute(f"DROP DATABASE {world.infos['zurich'].database} WITH (FORCE)")
    with world.running("geneva"):
        loaded = load_online(world.context, SOURCE, world.slaves, blocks_here)
    assert loaded["rows"]["geneva"] == 300
    assert loaded["filled"] == {"geneva": replications.get(world.context.store, world.pair("geneva")).update_id}
    assert slave_statuses(world) == [Status.INCONSISTENT, Status.TRANSITION]
    assert world.release() == {"released": ["geneva"]}
    with world.running("geneva"):
        verify(world.context, VerifyRequest(SOURCE, ("geneva",), initial=True), compare_here, 60)
    assert slave_statuses(world) == [Status.INCONSISTENT, Status.NORMAL]


def test_one_that_has_not_what_is_to_be_compared(world):
    world.update()
    world.reader("zurich").execute("DROP TABLE t")
    with pytest.raises(SluiceError, match=r"SLC-073|public.t"):
        world.verify(initial=True)
    assert slave_statuses(world) == [Status.TRANSITION, Status.NORMAL]


@pytest.mark.full
def test_one_that_does_not_come_to_the_point_of_a_comparison(world):
    """The other one has been read there, and goes on."""
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    world.master.execute("INSERT INTO t VALUES (1001, 'before the point')")
    answered = "SELECT FROM point WHERE ordinal IS NOT NULL"
    with ThreadPoolExecutor(1) as pool, background(world.publish, lambda: world.drain("geneva")):
        verifying = pool.submit(verify, world.context, VerifyRequest(SOURCE, world.slaves), compare_here, 60)
        until(lambda: world.reader("control").execute(answered).fetchone() is not None)
        world.master.execute("INSERT INTO t VALUES (1002, 'behind it')")
        until(lambda: world.rows("geneva", "public.t").total() == 302, "it stands at the point for the other one")
        assert not verifying.done()
        with background(lambda: world.drain("zurich")):
            assert {slave: one["different"] for slave, one in verifying.result(60)["slaves"].items()} == {
                "zurich": 0,
                "geneva": 0,
            }
