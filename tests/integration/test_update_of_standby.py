"""An initial update of a slave whose gate is shut: by an error it repairs that, by a person it says so."""

from __future__ import annotations

import pytest

from sluice.control import replications
from sluice.errors import SluiceError, TransientError
from sluice.state.dispatcher import Hold
from sluice.state.replication import Status

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


def failed_drain(world):
    """Somebody dropped the slave's table."""
    world.reader("zurich").execute("DROP TABLE t")
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-070"):
        world.drain("zurich")
    assert set(holds(world)) == {Hold.EXCEPTION}


def test_a_slave_on_standby_by_exception_is_repaired_by_the_update_that_the_hint_prescribes(world, airflow):
    failed_drain(world)
    assert airflow.paused
    world.update("zurich")
    assert holds(world) == {}
    assert not airflow.paused, "its drain runs again"
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    assert world.status("zurich") is Status.NORMAL


def test_a_release_that_cannot_unpause_the_drain_is_tried_again(world, airflow):
    failed_drain(world)
    world.inhibit("zurich")
    world.dump("zurich")
    airflow.refuses = True
    with pytest.raises(TransientError, match=r"SLC-067: Airflow did not unpause the DAG drain__flights__zurich"):
        world.release("zurich")
    assert Hold.EXCEPTION in holds(world)
    airflow.refuses = False
    assert world.release("zurich") == {"released": ["zurich"]}
    assert (holds(world), airflow.paused) == ({}, False)


@pytest.mark.parametrize("noticed", [True, False], ids=["noticed by a drain", "paused while no drain ran"])
def test_what_a_person_paused_stays_paused_and_the_update_says_at_once_that_it_cannot_end(world, airflow, noticed):
    airflow.pause("eva")
    if noticed:
        world.drain("zurich")
    world.update("zurich")
    assert airflow.paused
    assert holds(world)[Hold.ADMIN].actor == "eva"
    with pytest.raises(SluiceError, match=r"SLC-096: slave zurich gets no changes: .* by eva") as caught:
        world.verify("zurich", initial=True, patience_s=3600)
    assert "unpause the DAG drain__flights__zurich" in caught.value.hint
    assert not isinstance(caught.value, TransientError)


def test_a_slave_that_a_person_paused_holds_up_no_other(world, airflow):
    airflow.pause("eva")
    world.update()
    with pytest.raises(SluiceError, match=r"SLC-096"):
        world.verify(initial=True)
    assert [world.status(slave) for slave in world.slaves] == [Status.TRANSITION, Status.NORMAL]
