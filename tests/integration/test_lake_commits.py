"""What is current in a directory of files is whole at any moment, whoever dies, sleeps or spoils it (R3, R6, R8)."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
from support.lake import CHANGES, TABLES, files
from support.updating import load_here
from support.world import SOURCE

from sluice.crash import ENV as CRASH_ENV
from sluice.crash import CrashPoint
from sluice.errors import FencedError, SluiceError, TransientError
from sluice.statements.issue import issue

pytestmark = [pytest.mark.postgres]

LOAD = """
import pickle, sys
from support.updating import load_here
load_here(pickle.load(sys.stdin.buffer))
"""


def test_a_killed_drain_leaves_the_version_before_or_the_one_after_and_nothing_twice(lake):
    there, slave = lake(), "zurich"
    world = there.world
    world.master.execute(CHANGES)
    world.publish()
    there.drain_in_spite_of_deaths(slave)
    assert world.verify(slave) == {slave: 0}
    root = there.path / slave / SOURCE
    left = set(root.glob("data/*/*.parquet")) - there.kept(slave)
    assert left
    world.update()
    assert not left & set(root.glob("data/*/*.parquet"))


def test_who_was_overtaken_changes_nothing(lake):
    there = lake()
    world = there.world
    slow, quick = (world.drainer("zurich", size=1) for _ in range(2))
    world.master.execute("DELETE FROM heap")
    world.publish()
    before = there.version("zurich")
    with pytest.raises(FencedError, match="SLC-050: somebody took over"):
        slow.deliver()
    assert there.version("zurich") == before
    assert quick.deliver() is not None
    assert not there.read("zurich", "public.heap")


@pytest.mark.full
def test_small_commits_are_joined_and_replaced_files_go_when_their_time_is_over(lake):
    there = lake("CREATE TABLE keyed (id int PRIMARY KEY, note text)", TABLES[:1])
    world = there.world
    for number in range(20):
        world.master.execute(
            f"INSERT INTO keyed VALUES ({number}, 'x'); UPDATE keyed SET note = 'y' WHERE id = {number}"
        )
    world.publish()
    for slave in world.slaves:
        drain = world.drainer(slave, size=1)
        while drain.deliver():
            pass
        assert len(files(there.version(slave))) < 15
    assert world.verify() == {"zurich": 0, "geneva": 0}
    root = there.path / "zurich" / SOURCE
    assert len(list(root.rglob("data/*/*.parquet"))) > len(files(there.version("zurich"))), "others may still read them"
    world.infos["zurich"] = replace(world.infos["zurich"], extra={"path": str(there.path), "keep_hours": 0})
    world.configure(lambda _: None)
    world.let_leases_expire()
    world.drain("zurich")
    assert {str(file.relative_to(root)) for file in root.rglob("data/*/*.parquet")} == {
        file["path"] for file in files(there.version("zurich"))
    }
    assert len(list((root / "versions").iterdir())) == 1


@pytest.mark.full
def test_an_update_that_is_under_way_hides_nothing_and_a_lost_task_is_made_up_for(lake):
    there = lake()
    world = there.world
    before = Counter(map(str, there.read("zurich", "public.heap")))
    world.master.execute("INSERT INTO heap VALUES (5, 'meanwhile')")

    def killed_once(job):
        lost = subprocess.run(
            [sys.executable, "-c", LOAD],
            input=pickle.dumps(job),
            env={**os.environ, CRASH_ENV: CrashPoint.CHUNK_LOADED, "PYTHONPATH": os.pathsep.join(sys.path)},
            timeout=60,
        )
        assert lost.returncode == -signal.SIGKILL
        done = load_here(job)
        assert not [one.error for one in done if one.error]
        assert Counter(map(str, there.read("zurich", "public.heap"))) == before
        return done

    world.inhibit()
    world.dump(load=killed_once)
    world.release()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}


@pytest.mark.full
def test_a_directory_that_is_not_there_is_waited_for_and_an_empty_one_is_not_filled(lake):
    there = lake()
    world = there.world
    world.master.execute("DELETE FROM heap")
    world.publish()
    away = there.path.rename(there.path.with_name("away"))
    with pytest.raises(TransientError, match="SLC-180: taking over"):
        world.drain("zurich")
    there.path.mkdir()
    with pytest.raises(SluiceError, match="SLC-159: there is no rows at"):
        world.drain("zurich")
    for child in there.path.rglob("*.parquet"):
        raise AssertionError(child)
    shutil.rmtree(there.path)
    away.rename(there.path)
    world.let_leases_expire()
    world.drain("zurich")
    assert there.version("zurich")["tables"]["public.heap"]["files"] == []


def test_a_damaged_file_stops_its_slave_alone(lake):
    there = lake()
    world = there.world
    (file,) = there.version("zurich")["tables"]["public.keyed"]["files"]
    path = there.path / "zurich" / SOURCE / file["path"]
    content = path.read_bytes()
    (path.parent / "elsewhere").write_bytes(content)
    world.master.execute("DELETE FROM keyed WHERE id = 1")
    world.publish()
    for harm in (
        lambda: None,
        lambda: path.write_bytes(b"spoilt"),
        lambda: path.write_bytes(content[:200] + bytes([content[200] ^ 1]) + content[201:]),
        lambda: path.symlink_to(path.parent / "elsewhere"),
        lambda: os.mkfifo(path),
    ):
        path.unlink()
        harm()
        with pytest.raises(SluiceError, match=r"SLC-159: reading public\.keyed: a file is not as it was written"):
            world.drain("zurich")
        path.unlink(missing_ok=True)
        path.write_bytes(content)
    assert [world.drain(slave)["changes"] for slave in ("geneva", "zurich")] == [1, 1]


def test_a_statement_is_refused_before_anybody_executes_it(lake):
    world = lake().world
    with pytest.raises(SluiceError, match="SLC-103: slave zurich keeps files"):
        issue(world.context, SOURCE, "UPDATE keyed SET note = 'x'")
