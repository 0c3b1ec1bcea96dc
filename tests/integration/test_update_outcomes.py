"""How an initial update ends: for the slave that fails and for the others, after a kill, and for a second request."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from support.updating import load_here
from support.world import SOURCE

from sluice.crash import ENV as CRASH_ENV
from sluice.crash import CrashPoint
from sluice.errors import SluiceError
from sluice.initial_update.release import abandon
from sluice.monitor.status import statuses
from sluice.state.dispatcher import Hold
from sluice.state.replication import Status
from sluice.store import replications
from sluice.vendors.postgresql.load import tables

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, big bigint, note text, amount numeric);
INSERT INTO t SELECT g, g * 3000000000, 'note ' || g, g / 3.0 FROM generate_series(1, 500) AS g;
"""
DUMP = """
from sluice.context import Context
from sluice.initial_update.dump import dump
from support.updating import SLAVES, SOURCE, load_here
dump(Context.from_environment(), SOURCE, SLAVES, load_here)
"""


@pytest.fixture
def world(updating):
    return updating(DDL, ["public.t"])


@pytest.fixture
def acting_as(monkeypatch):
    """Acts as a task of a run of the initial_update DAG."""
    return lambda run: monkeypatch.setenv("SLUICE_RUN", f"initial_update/{run}/task/1")


def holds(world, slave):
    return replications.holds(world.context.store, world.pair(slave))


def killed_dump(world, point):
    """A dump in a process of its own that dies at this point; how it ended."""
    env = {**os.environ, **world.environment(), CRASH_ENV: point, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, "-c", DUMP], env=env, timeout=60).returncode


def test_an_update_brings_slaves_to_normal_and_a_second_one_as_well(world):
    for _ in range(2):
        world.update()
        assert [world.status(slave) for slave in world.slaves] == [Status.TRANSITION] * 2
        assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
        assert [world.status(slave) for slave in world.slaves] == [Status.NORMAL] * 2
        assert world.differences() == {}


@pytest.mark.full
def test_a_table_of_the_slave_that_stays_locked_ends_its_update_and_says_so(world, monkeypatch):
    monkeypatch.setattr(tables, "_PATIENCE", "300ms")
    world.update("zurich")
    world.verify("zurich", initial=True)
    world.inhibit("zurich")
    with world.session("zurich") as reader, reader.transaction():
        reader.execute("SELECT FROM t LIMIT 1")
        with pytest.raises(SluiceError, match=r"SLC-036: preparing the slave's tables: .* lock timeout") as ended:
            world.dump("zurich")
    assert "another session holds the lock" in ended.value.hint
    world.update("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}


REFUSED = {
    "int4 for bigint": (
        "id int PRIMARY KEY, big int, note text, amount numeric",
        220,
        "big (bigint -> integer: it would lose what is no integer)",
    ),
    "a column is missing": ("id int PRIMARY KEY, big bigint, amount numeric", 73, "public.t lacks the column note"),
}


@pytest.mark.full(but=["int4 for bigint"])
@pytest.mark.parametrize(("columns", "code", "fact"), REFUSED.values(), ids=REFUSED)
def test_a_slave_that_can_hold_the_data_no_longer_is_given_up_before_the_load(world, columns, code, fact):
    there = world.reader("zurich")
    world.inhibit()
    there.execute(f"CREATE TABLE t ({columns}); INSERT INTO t (id) VALUES (1)")
    failed = world.dump()["failed"]
    assert list(failed) == ["zurich"]
    assert failed["zurich"].startswith(f"SLC-{code:03d}: ")
    assert fact in failed["zurich"]
    assert "HINT: " in failed["zurich"]
    assert there.execute("SELECT count(*) FROM t").fetchone() == (1,), "nothing was emptied"
    world.release()
    with pytest.raises(SluiceError, match=r"SLC-020: .*zurich is INCONSISTENT"):
        world.verify(initial=True)
    assert [world.status(slave) for slave in world.slaves] == [Status.INCONSISTENT, Status.NORMAL]
    assert world.rows("geneva", "public.t") == world.rows("master", "public.t")


def test_a_slave_with_wider_types_is_loaded_and_kept_up(world):
    world.reader("zurich").execute(
        "CREATE TABLE t (id bigint PRIMARY KEY, big numeric, note text, amount numeric, own int);"
        "INSERT INTO t VALUES (1, 1, 'stale', 1), (9999, 1, 'stale', 1)"
    )
    world.update()
    world.master.execute("UPDATE t SET big = big + 1, note = NULL WHERE id < 10; DELETE FROM t WHERE id = 20")
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    assert world.status("zurich") is Status.NORMAL


def test_a_database_that_goes_during_an_update_stops_its_slave_alone(world):
    world.inhibit()
    world.reader("master").execute(f"DROP DATABASE {world.infos['zurich'].database} WITH (FORCE)")
    failed = world.dump()["failed"]
    assert failed["zurich"].startswith("SLC-031: ")
    assert "does not exist" in failed["zurich"]
    assert world.release() == {"released": ["geneva"]}
    with pytest.raises(SluiceError, match=r"SLC-020: .*not every slave could be verified"):
        world.verify("geneva", "zurich", initial=True)
    assert [world.status(slave) for slave in world.slaves] == [Status.INCONSISTENT, Status.NORMAL]


@pytest.mark.full
def test_an_update_that_fails_for_every_slave_fails(world):
    world.inhibit()
    world.reader("zurich").execute("CREATE TABLE t (id int)")
    world.reader("geneva").execute(
        "CREATE SCHEMA branch; CREATE TABLE branch.old (id int CONSTRAINT t_pkey PRIMARY KEY)"
    )
    with pytest.raises(SluiceError, match=r"SLC-080: no slave could be loaded: zurich: SLC-073: .*lacks the") as caught:
        world.dump()
    assert "geneva: SLC-210: the slave has t_pkey of branch.old" in caught.value.fact
    # Whoever prints an error looks for one HINT, and takes what comes before for the fact.
    assert "HINT" not in caught.value.fact
    assert "HINT" not in caught.value.hint
    for said in ("zurich: ", "geneva: ", "airflow dags trigger initial_update", '["zurich", "geneva"], "resume": true'):
        assert said in caught.value.hint
    assert [world.status(slave) for slave in world.slaves] == [Status.INCONSISTENT] * 2


def test_a_dump_that_was_killed_is_given_up_and_a_new_update_is_exact(world, acting_as):
    acting_as("first")
    world.inhibit()
    assert killed_dump(world, CrashPoint.DUMPED) == -signal.SIGKILL
    assert abandon(world.context, SOURCE, world.slaves, "SLC-999: why") == {"abandoned": list(world.slaves)}
    assert world.standing("zurich").why.partition("\n")[0].endswith(", by initial_update/first/task/1: SLC-999: why.")
    assert [world.status(slave) for slave in world.slaves] == [Status.INCONSISTENT] * 2
    world.master.execute("UPDATE t SET note = 'after the kill' WHERE id % 3 = 0")
    acting_as("second")
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    assert world.differences() == {}


@pytest.mark.full
def test_a_dump_that_was_killed_is_tried_again_within_its_run(world, acting_as):
    acting_as("first")
    world.inhibit()
    assert killed_dump(world, CrashPoint.CHUNK_LOADED) == -signal.SIGKILL
    assert world.inhibit() == world.inhibit(), "a retried task finds its update"
    copied = []
    world.dump(load=lambda job: copied.extend(load_here(job)) or copied)
    assert {one.slave: one.rows for one in copied} == {"zurich": 0, "geneva": 500}, "what is in stays"
    world.release()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}


def test_a_second_update_is_refused_and_leaves_the_others_as_they_were(world, acting_as):
    acting_as("first")
    world.inhibit("zurich")
    acting_as("second")
    with pytest.raises(
        SluiceError, match=r"SLC-020: an initial update of slave zurich is under way, in initial_update/first"
    ):
        world.inhibit("geneva", "zurich")
    assert world.status("geneva") is Status.NORMAL
    assert holds(world, "geneva") == {}
    assert abandon(world.context, SOURCE, world.slaves) == {"abandoned": []}
    assert world.status("zurich") is Status.INITIAL
    acting_as("first")
    assert abandon(world.context, SOURCE, world.slaves) == {"abandoned": ["zurich"]}
    assert world.status("zurich") is Status.INCONSISTENT
    assert holds(world, "zurich") == {}


@pytest.mark.full
def test_drains_wait_while_data_is_loaded_and_go_on_after_release(world):
    world.update()
    world.verify(initial=True)
    world.inhibit("zurich")
    world.master.execute("UPDATE t SET note = 'held back'")
    world.publish()
    waiting = world.drain("zurich")
    assert (waiting["transactions"], waiting["standby"]) == (
        0,
        f"INITIAL: {holds(world, 'zurich')[Hold.INITIAL].reason}",
    )
    assert world.drain("geneva")["transactions"] == 1
    world.dump("zurich")
    assert world.drain("zurich")["transactions"] == 0
    world.master.execute("UPDATE t SET note = 'after the dump'")
    world.release("zurich")
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_what_was_held_back_is_obsolete_as_soon_as_an_update_is_asked_for(world):
    world.update()
    world.verify(initial=True)
    for number in range(3):
        world.master.execute("UPDATE t SET note = %s", [f"held back {number}"])
        world.publish()
    assert [one.holdback for one in statuses(world.context)] == [3, 3]
    world.inhibit("zurich")
    assert [one.holdback for one in statuses(world.context)] == [0, 3]
    world.drain("geneva")
    world.dump("zurich")
    world.release("zurich")
    assert world.verify(initial=True) == {"zurich": 0}
    assert world.differences() == {}


def test_a_request_that_died_halfway_is_tried_again_within_its_run_and_one_of_an_unknown_slave_refused(
    world, acting_as
):
    with pytest.raises(SluiceError, match=r"SLC-003: no replication of source flights to slave paris"):
        world.inhibit("zurich", "paris")
    assert world.status("zurich") is Status.NORMAL
    acting_as("first")
    begun = world.inhibit("zurich")
    assert world.inhibit("zurich", "geneva")["update"] == begun["update"]
    assert [world.status(slave) for slave in world.slaves] == [Status.INITIAL] * 2


def test_what_a_slaves_server_says_of_a_row_names_the_table_of_the_master_and_the_column(world):
    def altered(job):
        world.reader("zurich").execute("ALTER TABLE t ALTER note TYPE uuid USING NULL")
        return load_here(job)

    world.inhibit("zurich")
    with pytest.raises(SluiceError, match=r"zurich: SLC-.*\(column note\) \(the master's public\.t\)"):
        world.dump("zurich", load=altered)
