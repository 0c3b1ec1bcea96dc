"""A dump into files that broke off is gone on with: what is whole stays and is not written again, the rest is of
another snapshot, and slaves that load it are exact all the same (R5)."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import pytest
from support import traffic
from support.carrying import Carried
from support.interrupting import MEANWHILE, broken_off, exact, manifest, of, resumed, there
from support.updating import background
from support.world import SOURCE

from sluice.monitor import status

pytestmark = [pytest.mark.postgres]

KEYED = ("parent", "child")
# A job that is killed, as by a failure of power, when it has stored so many chunks of these.
KILLED = f"""
import os, signal
from sluice.context import Context
from sluice.initial_update.chunks import plan
from sluice.initial_update.dump import dump
from sluice.initial_update.files.receiver import FilesReceiver
from sluice.initial_update.chunks.task import load_chunks

plan.CHUNK_BYTES, end, stored = 8 * 8192, FilesReceiver.end, []

def counted(receiver, chunk, rows):
    end(receiver, chunk, rows)
    stored.extend([chunk] if receiver._table.table in {KEYED} else [])
    if len(stored) == int(os.environ["MOST"]):
        os.kill(os.getpid(), signal.SIGKILL)

FilesReceiver.end = counted
dump(Context.from_environment(), {SOURCE!r}, ["zurich", "geneva"], load_chunks, store=True)
"""


@pytest.mark.full
def test_files_that_are_whole_stay_and_the_rest_is_of_another_snapshot_and_all_is_exact_however_often(interrupted):
    world = interrupted.world
    late = world.session()
    late.execute("BEGIN; UPDATE keyed SET n = -1 WHERE id BETWEEN 1000 AND 1010")
    first = broken_off(interrupted, 5)
    late.execute("COMMIT")
    world.master.execute(MEANWHILE)
    # Updates that change nothing move rows to blocks that are in, and no log says so.
    world.master.execute("DELETE FROM keyed WHERE id BETWEEN 100 AND 900")
    world.master.execute("VACUUM keyed")
    world.master.execute("UPDATE keyed SET n = n WHERE id > 2000")
    second = broken_off(interrupted, 9, resume=True)
    assert len(second) > len(first)
    world.master.execute(MEANWHILE)
    world.master.execute("DELETE FROM keyed WHERE id BETWEEN 2000 AND 2100")
    third = resumed(interrupted)
    world.master.execute("UPDATE keyed SET n = n + 5 WHERE id % 4 = 0; DELETE FROM child WHERE id % 9 = 0")
    for earlier in (first, second):
        stays = {name: at for name, at in third.items() if earlier.get(name) == at}
        assert len(stays) >= 5
        assert stays.keys() <= of(interrupted, "keyed") | of(interrupted, "child")
    assert not of(interrupted, "heap") & first.keys(), "nothing tells its rows apart: it is stored anew"
    assert manifest(interrupted)["overlap"]
    assert third.keys() == of(interrupted, "heap") | of(interrupted, "keyed") | of(interrupted, "child")
    exact(interrupted)


@pytest.mark.full
def test_under_constant_writes_a_dump_whose_job_was_killed_goes_on_when_it_is_tried_again(updating, tmp_path, small):
    carried = Carried(updating(traffic.DDL, traffic.TABLES), tmp_path)
    world = carried.world
    with background(*traffic.jobs(world.session), world.publish):
        world.inhibit()
        for most in ("2", "1"):
            environment = os.environ | world.environment() | {"MOST": most, "PYTHONPATH": os.pathsep.join(sys.path)}
            job = subprocess.run([sys.executable, "-c", KILLED], env=environment, capture_output=True, text=True)
            assert job.returncode == -signal.SIGKILL, job.stderr
        before, notes = there(carried), [json.loads(one.read_text()) for one in carried.stored.glob("*/notes/*.done")]
        keyed = [one["files"] for one in notes if one["table"]["table"] in KEYED]
        assert len(keyed) == 3
        assert world.dump(store=True)["failed"] == {}
        world.release()
        after = there(carried)
        assert all(after[file["name"]] == before[file["name"]] for files in keyed for file in files)
        for slave in world.slaves:
            carried.carry(slave)
            carried.receive(slave)
        assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    carried.holds_everything()


@pytest.mark.full
def test_status_says_where_something_is_left_and_what_to_type_to_go_on_or_to_have_it_removed(interrupted):
    world = interrupted.world
    left = broken_off(interrupted, 5)
    whys = [one.why for one in status.statuses(world.context)]
    for why in whys:
        said = why[why.index("HINT: or go on where the initial update broke off") :]
        both = {"source": SOURCE, "slaves": ["geneva", "zurich"], "store_initial_data": True}
        assert [json.loads(conf) for conf in re.findall("--conf '(.*?)'", said)] == [
            {**both, "resume": True},
            both,
        ]
        assert str(interrupted.stored) in said
    assert left.items() <= resumed(interrupted).items()
    assert not [one.why for one in status.statuses(world.context) if "broke off" in one.why]


@pytest.mark.full
def test_an_update_that_is_not_to_go_on_begins_anew_and_leaves_nothing_of_the_other(interrupted):
    first = broken_off(interrupted, 5)
    interrupted.store()
    assert not first.keys() & there(interrupted).keys()
    assert not manifest(interrupted)["overlap"]
    exact(interrupted)
