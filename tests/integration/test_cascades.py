"""What is filled once a replication has been: remembered, begun by itself, and never in a circle."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.connections import SEALED_ENV, seal
from sluice.errors import ConfigError
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 10)"


@pytest.fixture
def world(updating, airflow, monkeypatch):
    made = updating(DDL, ["public.t"])
    made.infos["airflow"] = airflow.info()
    made.configure(lambda settings: settings.update(airflow_api="airflow"))
    monkeypatch.setenv(SEALED_ENV, seal(made.infos))
    return made


@pytest.fixture
def filled(world, monkeypatch):
    """Fills a slave, as a run of the DAG does."""
    numbers = iter(range(100))

    def fill(slave, **how):
        monkeypatch.setenv("SLUICE_RUN", f"initial_update/{next(numbers)}/task/1")
        world.inhibit(slave, **how)
        world.dump(slave)
        world.release(slave)
        assert world.verify(slave, initial=True) == {slave: 0}
        assert world.status(slave) is Status.NORMAL

    return fill


def asked(airflow):
    """The runs that were asked for since the last look; one of an id that it has Airflow does not begin again."""
    found = {run["dag_run_id"]: (run["dag_id"], run["conf"]) for run in airflow.runs}
    airflow.runs.clear()
    return list(found.values())


@pytest.mark.full
def test_what_follows_is_remembered_until_it_is_forgotten(airflow, filled):
    next_one = ("initial_update", {"source": SOURCE, "slaves": ["geneva"], "after": ["flights->zurich"]})
    filled("zurich")
    assert asked(airflow) == []
    filled("zurich", cascade="flights/geneva")
    assert asked(airflow) == [next_one]
    filled("zurich")
    assert asked(airflow) == [next_one]
    filled("zurich", cascade="none")
    assert asked(airflow) == []


def test_what_led_to_an_update_is_not_filled_again(airflow, filled):
    filled("geneva", cascade="flights/zurich", after=["flights->zurich"])
    assert asked(airflow) == []
    filled("geneva")
    assert [conf["slaves"] for _, conf in asked(airflow)] == [["zurich"]], "somebody asked for this one"


@pytest.mark.full
def test_airflow_is_asked_until_it_answers_and_once_then(world, airflow, filled):
    airflow.refuses = True
    filled("zurich", cascade="flights/geneva")
    asked(airflow)
    airflow.refuses = False
    world.drain("zurich")
    assert [conf["slaves"] for _, conf in asked(airflow)] == [["geneva"]]
    world.drain("zurich")
    assert asked(airflow) == []


def test_a_replication_that_is_none_is_refused_before_anything_is_changed(world):
    for said, code in (("geneva", "SLC-914: .* names no replication"), ("flights/paris", "SLC-003")):
        with pytest.raises(ConfigError, match=code):
            world.inhibit("zurich", cascade=said)
    assert world.status("zurich") is Status.NORMAL
