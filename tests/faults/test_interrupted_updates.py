"""A server that is restarted while an initial update reads it or writes to it, or a table that is dropped meanwhile:
nothing half is taken for whole, and the next update is exact (R5, R8)."""

from __future__ import annotations

import threading

import pytest
from support.updating import background, compare_here, load_here
from support.world import SOURCE

from sluice.errors import TransientError
from sluice.state.replication import Status
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, note text);
CREATE TABLE heap (a int, b text);
INSERT INTO t SELECT g, 'note ' || g FROM generate_series(1, 3000) AS g;
INSERT INTO heap SELECT g % 10, 'row' FROM generate_series(1, 1000) AS g;
"""
TABLES = ["public.t", "public.heap"]


def exact(world):
    """An update of all slaves that is begun, or tried again, ends with what the master has."""
    with background(world.publish):
        assert world.dump()["failed"] == {}
    world.release()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    assert world.differences() == {}


def test_a_source_that_is_restarted_in_mid_dump_fails_it_and_no_slave_is_taken_for_filled(updating, restartable):
    world = updating(DDL, TABLES, elsewhere={"master": restartable})

    def restarted(job):
        restartable.restart("immediate")
        return load_here(job)

    world.inhibit()
    with pytest.raises(TransientError, match="SLC-083: the snapshot that is read is lost"):
        world.dump(load=restarted)
    world.reconnect("master")
    assert [world.status(slave) for slave in world.slaves] == [Status.INITIAL] * 2
    world.master.execute("UPDATE t SET note = 'since' WHERE id % 7 = 0; DELETE FROM heap WHERE a = 3")
    exact(world)


def test_a_slave_that_is_restarted_in_mid_load_fails_alone(updating, restartable):
    world = updating(DDL, TABLES, elsewhere={"zurich": restartable})

    def restarted(job):
        restartable.restart("immediate")
        return load_here(job)

    world.inhibit()
    failed = world.dump(load=restarted)["failed"]
    assert set(failed) == {"zurich"}
    assert failed["zurich"].startswith("SLC-030: ")
    assert [world.status(slave) for slave in world.slaves] == [Status.INCONSISTENT, Status.INITIAL]
    world.release()
    world.reconnect("zurich")
    world.verify("geneva", initial=True)
    world.inhibit()
    exact(world)


@pytest.mark.full
def test_a_server_that_is_restarted_when_it_is_to_be_compared_fails_nobody(updating, restartable):
    world = updating(DDL, TABLES, elsewhere={"zurich": restartable})
    world.update()

    at_first = iter([True])

    def restarted(jobs):
        if next(at_first, False):
            restartable.restart("immediate")
        return compare_here(jobs)

    request = VerifyRequest(SOURCE, world.slaves, initial=True)
    with world.running(), pytest.raises(TransientError, match="SLC-083: the snapshot that is read is lost"):
        verify(world.context, request, restarted, 60)
    # Whoever can be compared all the same is, and waits for nobody.
    assert [world.status(slave) for slave in world.slaves] == [Status.TRANSITION, Status.NORMAL]
    world.reconnect("zurich")
    assert world.verify(initial=True) == {"zurich": 0}
    assert [world.status(slave) for slave in world.slaves] == [Status.NORMAL] * 2


@pytest.mark.full
def test_a_table_that_is_dropped_waits_for_the_dump_which_gives_way_and_misses_it(updating):
    world = updating(DDL, TABLES)
    dropping = world.session()
    drop = threading.Thread(target=dropping.execute, args=("DROP TABLE heap",), daemon=True)

    def beside_a_drop(job):
        drop.start()
        while not world.waits("DROP TABLE heap"):
            assert drop.is_alive()
        return load_here(job)

    world.inhibit()
    with pytest.raises(TransientError, match=r"SLC-275: public.heap was being read, .*DROP TABLE heap"):
        world.dump(load=beside_a_drop)
    drop.join(30)
    assert not drop.is_alive()
    exact(world)
