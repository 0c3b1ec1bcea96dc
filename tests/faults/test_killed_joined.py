"""A dump that is killed when slaves have everything, and nobody noted yet that their update has ended: whoever tries it
again leaves them alone, unless they are to have something else by now (R5)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from support.carrying import ROWS, TABLES
from support.updating import background, load_here
from support.world import SOURCE

from sluice.store.tables import initial_update

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

# The job `dump`, which dies where its place says.
DUMP = f"""
import os, signal
from sluice.context import Context
from sluice.initial_update import dump, start_stream
from support.updating import SLAVES, load_here

def die(*given):
    os.kill(os.getpid(), signal.SIGKILL)

{{place}}
dump.dump(Context.from_environment(), {SOURCE!r}, SLAVES, load_here, store={{store}})
"""
# As soon as all have joined.
ALL = "dump.keep = die"
# As soon as the first slave has; the second one waits for that.
ONE = """
from threading import Event
join, first = start_stream.join, Event()

def one(context, target, *given):
    if target.name == "geneva":
        first.wait()
        die()
    join(context, target, *given)
    first.set()

start_stream.join = one
"""


def kill(world, place, *, store=False):
    environment = os.environ | world.environment() | {"PYTHONPATH": os.pathsep.join(sys.path)}
    job = [sys.executable, "-c", DUMP.format(place=place, store=store)]
    ended = subprocess.run(job, env=environment, timeout=120, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def nothing(job):
    raise AssertionError("all of it is in")


def loads(into):
    """A load that tells which slaves it is for."""

    def load(job):
        into.extend(one.slave for one in job.slaves)
        return load_here(job)

    return load


def exact(world):
    world.release()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}


def test_slaves_that_have_everything_are_not_loaded_again(updating):
    world = updating(ROWS, TABLES)
    world.inhibit()
    kill(world, ALL)
    there = [world.position(slave) for slave in world.slaves]
    world.master.execute("UPDATE rows SET note = 'since' WHERE id % 3 = 0; DELETE FROM others WHERE a = 1")
    world.publish()
    assert world.dump(load=nothing)["failed"] == {}
    with world.context.store.begin() as connection:
        assert connection.execute(initial_update.select()).one().state == "LOADED"
    assert [world.position(slave) for slave in world.slaves] == there
    exact(world)


@pytest.mark.full
def test_one_that_has_not_is_loaded_alone(updating):
    world = updating(ROWS, TABLES)
    world.inhibit()
    kill(world, ONE)
    world.master.execute("UPDATE rows SET note = 'since' WHERE id % 3 = 0; DELETE FROM others WHERE a = 1")
    loaded = []
    with background(world.publish):
        assert world.dump(load=loads(loaded))["failed"] == {}
    assert loaded == ["geneva"]
    exact(world)


@pytest.mark.full
def test_what_is_stored_in_files_is_not_stored_again(carried):
    carried = carried(ROWS, TABLES)
    world = carried.world
    world.inhibit()
    kill(world, ALL, store=True)
    (directory,) = carried.stored.iterdir()
    assert world.dump(load=nothing, store=True)["failed"] == {}
    assert list(carried.stored.iterdir()) == [directory]
    world.release()
    for slave in world.slaves:
        carried.carry(slave)
        carried.receive(slave)
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}


def fewer(plain):
    plain["slaves"]["zurich"]["tables"] = {"public.rows": {"where": "id < 1000"}}


def all_of_them(plain):
    del plain["slaves"]["zurich"]["tables"]


@pytest.mark.full
def test_one_that_is_to_have_other_rows_by_now_is_loaded_again_and_so_it_is_if_that_broke_off(updating):
    world = updating(ROWS, TABLES)
    world.inhibit()
    kill(world, ALL)
    world.configure(fewer)
    asked = []

    class Broken(Exception):
        pass

    def broken(job):
        asked.extend(one.slave for one in job.slaves)
        raise Broken

    with pytest.raises(Broken), background(world.publish):
        world.dump(load=broken)
    assert asked == ["zurich"]
    assert world.rows("zurich", "public.rows").total() == 0
    world.configure(all_of_them)
    loaded = []
    with background(world.publish):
        world.dump(load=loads(loaded))
    assert loaded == ["zurich"], "it was emptied meanwhile"
    exact(world)


@pytest.mark.full
def test_a_run_that_begins_with_its_first_task_again_loads_all_again(updating):
    world = updating(ROWS, TABLES)
    world.inhibit()
    kill(world, ALL)
    world.master.execute("UPDATE rows SET note = 'since' WHERE id % 3 = 0")
    world.publish()
    world.inhibit()
    loaded = []
    with background(world.publish):
        world.dump(load=loads(loaded))
    assert set(loaded) == set(world.slaves)
    exact(world)
