"""Files that a slave waits for, whose load is killed when all rows are in: whoever loads them again ends what was left
to do, and loads nothing again (R5)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import timedelta

import pytest
from support.carrying import ROWS, TABLES
from support.interrupting import MEANWHILE, broken_off, manifest, resumed
from support.world import SOURCE

from sluice.initial_update.files.receive import expected_files
from sluice.publish.retention import trim
from sluice.state.replication import ReplicationEvent
from sluice.store import replications
from sluice.store.tables import initial_update

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

# The job `receive`, which dies where its place says.
RECEIVE = f"""
import os, signal
from contextlib import contextmanager
from pathlib import Path
from sluice.context import Context
from sluice.store import tables
from sluice.store.engine import Store
from sluice.initial_update.files import receive
from support.updating import load_here

def die(*given):
    os.kill(os.getpid(), signal.SIGKILL)

{{place}}
receive.receive(Context.from_environment(), {SOURCE!r}, "zurich", load_here)
"""
PLACES = {
    "as soon as it is noted": """
begin = Store.begin
@contextmanager
def dying(store):
    with begin(store) as connection:
        yield connection
    with begin(store) as connection:
        if connection.execute(tables.transfer.select().where(tables.transfer.c.rows.is_not(None))).first():
            die()
Store.begin = dying
""",
    "when some of the files are gone": """
def some(place):
    Path(place.url, "manifest.json").unlink()
    die()
receive.Directory.remove_all = some
""",
    "at the very end": "receive.approval.question = die",
}


def kill(world, place):
    environment = os.environ | world.environment() | {"PYTHONPATH": os.pathsep.join(sys.path)}
    job = [sys.executable, "-c", RECEIVE.format(place=place)]
    ended = subprocess.run(job, env=environment, timeout=120, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def update(world):
    """How the update ended, and when."""
    with world.context.store.begin() as connection:
        row = connection.execute(initial_update.select().order_by(initial_update.c.id.desc())).first()
    return row.state, row.ended_at


def nothing(job):
    raise AssertionError("all of it is in")


@pytest.mark.full
def test_a_load_that_is_killed_when_all_is_in_is_ended_by_the_next_which_loads_nothing(carried, capsys):
    carried = carried(ROWS, TABLES)
    world = carried.world
    world.configure(lambda plain: plain["slaves"]["zurich"]["initial_files"].update(keep=False))
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    carried.store("zurich")
    copy = carried.carry("zurich")
    as_soon_as_it_is_noted, *later = PLACES.values()
    kill(world, as_soon_as_it_is_noted)
    ended = update(world)
    assert ended[0] == "LOADED"
    world.master.execute("DELETE FROM rows WHERE id < 100")
    for place in later:
        kill(world, place)
    assert expected_files(world.context, SOURCE, "zurich")["files"] == 0
    done = carried.receive("zurich", load=nothing)
    assert (done["rows"], done["chunks"]) == (3401, 0)
    assert not copy.exists()
    assert "left behind" not in capsys.readouterr().out
    assert update(world) == ended
    assert world.verify("zurich", initial=True) == {"zurich": 0}


@pytest.mark.full
def test_what_is_of_two_times_is_loaded_again_if_that_is_killed_before_it_is_noted(interrupted):
    world = interrupted.world
    broken_off(interrupted, 6)
    world.master.execute(MEANWHILE)
    world.publish()
    for _ in range(2):
        world.master.execute("UPDATE keyed SET n = n + 1 WHERE id < 10")
        world.publish()
    resumed(interrupted)
    assert manifest(interrupted)["overlap"]
    for slave in world.slaves:
        interrupted.carry(slave)
    interrupted.receive("geneva")
    world.catch_up()
    kill(world, "receive.updates.end_load = die")
    trim(world.context, SOURCE, keep=timedelta(0), warn_bytes=10**9)
    interrupted.receive("zurich")
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    interrupted.holds_everything()
