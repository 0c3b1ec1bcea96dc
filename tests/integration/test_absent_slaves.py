"""A slave that is off-line when it is to be filled holds up nobody, and is filled when it is back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from support.updating import load_here
from support.world import SOURCE

from sluice.connections import SEALED_ENV, seal
from sluice.control.status import standings
from sluice.initial_update.cancel import cancel
from sluice.initial_update.receive import expected, receive
from sluice.initial_update.release import abandon
from sluice.publish.retention import trim
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, note text);
INSERT INTO t SELECT g, 'note ' || g FROM generate_series(1, 500) AS g;
"""


@pytest.fixture
def world(updating, airflow, monkeypatch):
    """Of the two slaves zurich keeps what it held; Airflow answers."""
    made = updating(DDL, ["public.t"])
    made.infos["airflow"] = airflow.info()
    made.configure(lambda settings: settings.update(airflow_api="airflow"))
    monkeypatch.setenv(SEALED_ENV, seal(made.infos))
    monkeypatch.setenv("SLUICE_RUN", "initial_update/batch/task/1")
    made.reader("zurich").execute("CREATE TABLE t (id int PRIMARY KEY, note text); INSERT INTO t VALUES (-1, 'kept')")
    return made


@contextmanager
def off_line(world, slave: str) -> Iterator[None]:
    """Nothing listens where the slave was."""
    there = world.infos[slave]
    world.infos[slave] = replace(there, port=1)
    world.configure(lambda settings: None)
    try:
        yield
    finally:
        world.infos[slave] = there
        world.configure(lambda settings: None)


def others_go_on(world) -> None:
    """A batch in which zurich is off-line: geneva is filled, verified and kept up."""
    world.inhibit()
    done = world.dump()
    assert (done["off_line"], done["failed"]) == (["zurich"], {})
    assert world.release() == {"released": ["geneva"]}
    world.master.execute("UPDATE t SET note = 'later' WHERE id < 100; DELETE FROM t WHERE id = 7")
    with world.running("geneva"):
        assert world.verify("geneva", "zurich", initial=True) == {"geneva": 0}
    assert world.status("geneva") is Status.NORMAL
    assert abandon(world.context, SOURCE, world.slaves) == {"abandoned": []}


def said_of_zurich(world) -> str:
    return standings(world.context)[0].why


def test_its_update_waits_until_it_is_back_and_nothing_of_the_log_is_kept_for_it(world, airflow, monkeypatch):
    with off_line(world, "zurich"):
        others_go_on(world)
        assert world.status("zurich") is Status.INITIAL
        assert "could not be reached when it was to be filled; nothing was read for it yet" in said_of_zurich(world)
        world.master.execute("UPDATE t SET note = 'again'")
        world.publish()
        world.drain("geneva")
        assert trim(world.context, SOURCE, keep=timedelta(0), warn_bytes=10**9) > 0
        world.drain("zurich")
        assert airflow.runs == []
    assert world.rows("zurich", "public.t").total() == 1
    world.drain("zurich")
    (run,) = airflow.runs
    assert (run["dag_id"], run["conf"]) == ("initial_update", {"source": SOURCE, "slaves": ["zurich"]})
    monkeypatch.setenv("SLUICE_RUN", f"initial_update/{run['dag_run_id']}/task/1")
    world.inhibit("zurich")
    world.dump("zurich")
    world.release("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    world.catch_up()
    assert world.differences() == {}
    world.drain("zurich")
    assert len(airflow.runs) == 1


def test_its_data_waits_in_the_change_log_if_that_is_wanted(world, airflow):
    world.configure(lambda settings: settings["slaves"]["zurich"].update(off_line="store"))
    with off_line(world, "zurich"):
        others_go_on(world)
        assert world.status("zurich") is Status.TRANSITION
        directory = Path(expected(world.context, SOURCE, "zurich")["url"])
        assert directory.parent == world.path / "log" / "initial_files"
        assert f"its initial data waits in the change log, on '{directory}'" in said_of_zurich(world)
        world.drain("zurich")
        assert airflow.runs == []
    world.master.execute("DELETE FROM t WHERE id = 8")
    world.drain("zurich")
    (run,) = airflow.runs
    assert (run["dag_id"], run["conf"]) == ("receive_initial_files", {"source": SOURCE, "slave": "zurich"})
    assert receive(world.context, SOURCE, "zurich", load_here)["rows"] == 500
    assert not directory.exists()
    world.release("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    world.catch_up()
    assert world.differences() == {}


def test_what_was_stored_for_an_update_that_was_given_up_goes_with_the_next_segments(world):
    world.configure(lambda settings: settings["slaves"]["zurich"].update(off_line="store"))
    with off_line(world, "zurich"):
        world.inhibit("zurich")
        world.dump("zurich")
        world.release("zurich")
        directory = Path(expected(world.context, SOURCE, "zurich")["url"])
        trim(world.context, SOURCE, keep=timedelta(0), warn_bytes=10**9)
        assert directory.exists()
        cancel(world.context, SOURCE, ["zurich"])
    trim(world.context, SOURCE, keep=timedelta(0), warn_bytes=10**9)
    assert not directory.exists()


def test_when_nobody_can_be_reached_nothing_fails_and_all_wait(world):
    with off_line(world, "zurich"), off_line(world, "geneva"):
        world.inhibit()
        assert world.dump() | {"update": 0} == {
            "update": 0,
            "rows": 0,
            "chunks": 0,
            "failed": {},
            "off_line": ["zurich", "geneva"],
        }
        assert world.release() == {"released": []}
        assert world.verify("zurich", "geneva", initial=True) == {}
    assert [world.status(slave) for slave in world.slaves] == [Status.INITIAL] * 2
