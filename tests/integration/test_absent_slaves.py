"""A slave that is off-line when it is to be filled holds up nobody, and is filled when it is back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from support.updating import background, blocks_here, load_here
from support.world import SOURCE

from sluice import hints
from sluice.connections import SEALED_ENV, seal
from sluice.drain import offline_slaves
from sluice.errors import SluiceError
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.cancel import cancel
from sluice.initial_update.dump import EXTERNAL, ONLINE, SNAPSHOT
from sluice.initial_update.files.receive import expected_files, receive
from sluice.initial_update.release import abandon
from sluice.model.names import TableName
from sluice.monitor.status import statuses
from sluice.publish.retention import trim
from sluice.runtime.postgres_dirs import packaged_binaries
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, note text);
INSERT INTO t SELECT g, 'note ' || g FROM generate_series(1, 500) AS g;
"""


def answering(made, airflow, monkeypatch):
    """A world in which Airflow answers, and a run is at work."""
    made.infos["airflow"] = airflow.info()
    made.configure(lambda settings: settings.update(airflow_api="airflow"))
    monkeypatch.setenv(SEALED_ENV, seal(made.infos))
    monkeypatch.setenv("SLUICE_RUN", "initial_update/batch/task/1")
    return made


@pytest.fixture
def world(updating, airflow, monkeypatch):
    """Of the two slaves zurich keeps what it held; Airflow answers."""
    made = answering(updating(DDL, ["public.t"]), airflow, monkeypatch)
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
    assert (done["unreachable"], done["failed"]) == (["zurich"], {})
    assert world.release() == {"released": ["geneva"]}
    world.master.execute("UPDATE t SET note = 'later' WHERE id < 100; DELETE FROM t WHERE id = 7")
    with world.running("geneva"):
        assert world.verify("geneva", "zurich", initial=True) == {"geneva": 0}
    assert world.status("geneva") is Status.NORMAL
    assert abandon(world.context, SOURCE, world.slaves) == {"abandoned": []}


def said_of_zurich(world) -> str:
    return statuses(world.context)[0].why


@pytest.mark.full
def test_its_update_waits_until_it_is_back_and_nothing_of_the_log_is_kept_for_it(world, airflow, monkeypatch):
    with off_line(world, "zurich"):
        others_go_on(world)
        assert world.status("zurich") is Status.INITIAL
        said = said_of_zurich(world)
        assert "could not be reached when it was to be filled; nothing was read for it yet" in said
        assert f"type: {hints.update(SOURCE, ['zurich'])}" in said
        assert "The change log keeps everything" not in said
        airflow.pause("eva")
        assert "paused by eva.\nHINT: to go on, type: airflow dags unpause drain__flights__zurich" in said_of_zurich(
            world
        )
        airflow.paused = False
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
    world.configure(lambda settings: settings["slaves"]["zurich"].update(when_unreachable="store"))
    with off_line(world, "zurich"):
        log = world.settings["change_log"]
        world.configure(lambda settings: settings.update(change_log="/not/mounted/log"))
        with pytest.raises(SluiceError, match=r"SLC-659: there is no /not/mounted") as refused:
            world.inhibit()
        assert "nothing was changed" in refused.value.hint
        assert [world.status(slave) for slave in world.slaves] == [Status.NORMAL] * 2
        world.configure(lambda settings: settings.update(change_log=log))
        others_go_on(world)
        assert world.status("zurich") is Status.TRANSITION
        directory = Path(expected_files(world.context, SOURCE, "zurich")["url"])
        assert directory.parent == world.path / "log" / "initial_files"
        assert f"its initial data waits in the change log, on '{directory}'" in said_of_zurich(world)
        assert "type: airflow dags trigger receive_initial_files --conf" in said_of_zurich(world)
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


def test_one_that_is_cancelled_while_it_is_asked_for_holds_up_nobody(world, monkeypatch):
    absent = offline_slaves.absent

    def cancelled(context, pairs):
        found = absent(context, pairs)
        cancel(world.context, SOURCE, ["zurich"])
        return found

    with off_line(world, "zurich"):
        world.inhibit()
        with monkeypatch.context() as patch:
            patch.setattr(offline_slaves, "absent", cancelled)
            assert world.dump()["failed"] == {}
        assert world.release() == {"released": ["geneva"]}
        with world.running("geneva"):
            assert world.verify("geneva", initial=True) == {"geneva": 0}
    assert [world.status(slave) for slave in world.slaves] == [Status.INCONSISTENT, Status.NORMAL]


@pytest.mark.full
def test_to_cancel_what_waits_for_a_slave_ends_no_run_and_says_nothing_of_one(world):
    with off_line(world, "zurich"):
        world.inhibit("zurich")
        world.dump("zurich")
        done = cancel(world.context, SOURCE, ["zurich"])
    assert (done.cancelled, done.ended, done.not_ended) == (["zurich"], [], {})


@pytest.mark.full
def test_what_was_stored_for_an_update_that_was_given_up_goes_with_the_next_segments(world):
    world.configure(lambda settings: settings["slaves"]["zurich"].update(when_unreachable="store"))
    with off_line(world, "zurich"):
        world.inhibit("zurich")
        world.dump("zurich")
        world.release("zurich")
        directory = Path(expected_files(world.context, SOURCE, "zurich")["url"])
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
            "unreachable": ["zurich", "geneva"],
        }
        assert world.release() == {"released": []}
        assert world.verify("zurich", "geneva", initial=True) == {}
    assert [world.status(slave) for slave in world.slaves] == [Status.INITIAL] * 2


KEYS = "public.t: 100 .. 200"
SOME = TableName("public", "t")


@pytest.mark.full
@pytest.mark.parametrize(
    ("wanted", "mode", "conf"),
    [
        ({"tables": [SOME]}, SNAPSHOT, {"tables": ["public.t"]}),
        ({"keys": [KEYS]}, ONLINE, {"mode": "online", "key_ranges": [KEYS]}),
        ({"resume": True}, EXTERNAL, {"mode": "external", "resume": True}),
    ],
    ids=["tables", "keys", "programs"],
)
def test_what_waits_for_it_is_the_update_that_was_asked_for(updating, airflow, monkeypatch, wanted, mode, conf):
    """So rows that were to stay do, and get each change in between."""
    ddl = f"{DDL} CREATE TABLE beside (id int PRIMARY KEY, n int); INSERT INTO beside VALUES (1, 1), (2, 2)"
    world = answering(updating(ddl, ["public.t", "public.beside"], {}), airflow, monkeypatch)
    # The programs of the server that is under test.
    monkeypatch.setenv("PATH", f"{packaged_binaries()}{os.pathsep}{os.environ['PATH']}")
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    world.master.execute("UPDATE beside SET n = 3 WHERE id = 2")
    world.publish()
    written = world.reader("zurich").execute("SELECT xmin::text FROM beside WHERE id = 1").fetchall()
    resume, some = wanted.get("resume", False), (SOME,) if "tables" in conf or "key_ranges" in conf else ()

    def filled(*slaves):
        """What the tasks of a run do after `inhibit`."""
        done = world.dump(*slaves, mode=mode, resume=resume)
        assert done["failed"] == {}
        world.release(*slaves)
        with world.running(*(slave for slave in slaves if slave not in done["unreachable"])):
            load_online(world.context, SOURCE, slaves, blocks_here)
        return done["unreachable"]

    with off_line(world, "zurich"):
        monkeypatch.setenv("SLUICE_RUN", "initial_update/again/task/1")
        world.inhibit(**wanted)
        with background(world.publish):
            assert filled(*world.slaves) == ["zurich"]
        with world.running("geneva"):
            assert world.verify(*world.slaves, initial=True, tables=some) == {"geneva": 0}
        world.master.execute("UPDATE beside SET n = 4 WHERE id = 2; DELETE FROM t WHERE id > 150")
        world.publish()
        world.drain("geneva")
        trimmed = trim(world.context, SOURCE, keep=timedelta(0), warn_bytes=10**9)
        assert (trimmed > 0) == (not some)
    world.drain("zurich")
    (run,) = airflow.runs
    assert (run["dag_id"], run["conf"]) == ("initial_update", {"source": SOURCE, "slaves": ["zurich"], **conf})
    monkeypatch.setenv("SLUICE_RUN", f"initial_update/{run['dag_run_id']}/task/1")
    world.inhibit("zurich", **wanted)
    with background(world.publish):
        assert filled("zurich") == []
    assert world.verify("zurich", initial=True, tables=some) == {"zurich": 0}
    world.catch_up()
    assert world.differences() == {}
    stayed = world.reader("zurich").execute("SELECT xmin::text FROM beside WHERE id = 1").fetchall() == written
    assert stayed == bool(some)
