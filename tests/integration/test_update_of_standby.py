"""An initial update of a slave whose gate is shut: what an error shut it opens, what a person shut it respects."""

from __future__ import annotations

import pytest
from support.updating import background, compare_here
from support.world import SOURCE

from sluice.errors import SluiceError, TransientError
from sluice.state.dispatcher import Hold
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import replications
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def world(updating, airflow):
    """Two slaves that are NORMAL; Airflow tells about the drain of zurich."""
    world = updating("CREATE TABLE t (id int PRIMARY KEY, note text); INSERT INTO t VALUES (1, 'a')", ["public.t"])
    world.infos[world.context.config.airflow_api] = airflow.info()
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    return world


def holds(world):
    return replications.holds(world.context.store, world.pair("zurich"))


def failed_drain(world, *, waits=False):
    """Somebody dropped the slave's table."""
    world.reader("zurich").execute("DROP TABLE t")
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-070") as caught:
        world.drain("zurich")
    fixed, _, instead = caught.value.hint.partition(" Or, instead of fixing it: ")
    assert fixed.endswith("type: airflow dags unpause drain__flights__zurich.")
    assert instead.startswith("airflow dags trigger initial_update")
    then = (
        "which unpauses the DAG by itself. An initial update waits for it, and is in the way of another one: end it, "
    )
    assert instead.endswith(f"{then}with ./sluice cancel flights zurich" if waits else then.partition(".")[0])
    assert set(holds(world)) == {Hold.EXCEPTION}


@pytest.mark.full
def test_a_slave_on_standby_by_exception_is_repaired_by_the_update_that_the_hint_prescribes(world, airflow):
    failed_drain(world)
    assert airflow.paused
    world.update("zurich")
    assert holds(world) == {}
    assert not airflow.paused, "its drain runs again"
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    assert world.status("zurich") is Status.NORMAL


@pytest.mark.full
def test_a_release_that_cannot_unpause_the_drain_is_tried_again(world, airflow):
    failed_drain(world)
    world.inhibit("zurich")
    world.dump("zurich")
    airflow.refuses = True
    with pytest.raises(TransientError, match=r"SLC-302: Airflow did not unpause the DAG drain__flights__zurich"):
        world.release("zurich")
    assert Hold.EXCEPTION in holds(world)
    airflow.refuses = False
    assert world.release("zurich") == {"released": ["zurich"]}
    assert (holds(world), airflow.paused) == ({}, False)


@pytest.mark.full(but=["noticed by a drain"])
@pytest.mark.parametrize("noticed", [True, False], ids=["noticed by a drain", "paused while no drain ran"])
def test_an_update_of_a_slave_that_a_person_paused_is_refused_before_anything_is_emptied(world, airflow, noticed):
    airflow.pause("eva")
    if noticed:
        world.drain("zurich")
    before = world.rows("zurich", "public.t")
    with pytest.raises(SluiceError, match=r"SLC-096: .* of zurich could not end: .* was paused by eva") as caught:
        world.inhibit()
    assert "airflow dags unpause drain__flights__zurich" in caught.value.hint
    assert not isinstance(caught.value, TransientError)
    assert airflow.paused
    assert [world.status(slave) for slave in world.slaves] == [Status.NORMAL, Status.NORMAL]
    assert world.rows("zurich", "public.t") == before
    airflow.paused = False
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}


@pytest.mark.full
def test_what_a_person_pauses_meanwhile_stays_paused_and_the_update_waits_for_him(world, airflow):
    world.inhibit()
    world.dump()
    airflow.pause("eva")
    world.release()
    assert airflow.paused
    assert holds(world)[Hold.ADMIN].actor == "eva"
    with pytest.raises(TransientError, match=r"SLC-098: slave zurich has its data.* was paused by eva") as caught:
        world.verify(initial=True)
    assert "airflow dags unpause drain__flights__zurich; the update then ends by itself" in caught.value.hint
    assert [world.status(slave) for slave in world.slaves] == [Status.TRANSITION, Status.NORMAL]
    airflow.paused = False
    assert world.verify(initial=True) == {"zurich": 0}
    assert world.status("zurich") is Status.NORMAL


@pytest.mark.full
def test_who_waits_for_a_person_is_not_given_up_with_one_that_failed(world, airflow):
    world.update()
    airflow.pause("eva")
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.FAIL, "its disk is full")
    with pytest.raises(TransientError, match=r"SLC-098: .*was paused by"):
        world.verify(initial=True)
    airflow.paused = False
    with pytest.raises(SluiceError, match=r"SLC-020: .*geneva is INCONSISTENT") as caught:
        world.verify(initial=True)
    assert world.status("zurich") is Status.NORMAL
    assert """--conf '{"source": "flights", "slaves": ["geneva"]}""" in caught.value.hint


@pytest.mark.full
def test_a_slave_whose_first_changes_meet_an_error_is_mended_and_not_loaded_again(world, airflow):
    world.update()
    failed_drain(world, waits=True)
    with (
        background(world.publish, lambda: world.drain("geneva")),
        pytest.raises(
            TransientError, match=r"SLC-098: slave zurich has its data, and lacks transactions of the log: 1"
        ),
    ):
        verify(world.context, VerifyRequest(SOURCE, ("zurich", "geneva"), initial=True), compare_here, 1)
    assert [world.status(slave) for slave in world.slaves] == [Status.TRANSITION, Status.NORMAL]
    world.reader("zurich").execute("CREATE TABLE t (id int PRIMARY KEY, note text); INSERT INTO t VALUES (1, 'a')")
    airflow.paused = False
    assert world.verify(initial=True) == {"zurich": 0}
    assert world.status("zurich") is Status.NORMAL
