"""The change log's disk: full, away, lost, or with segments that are not what they were (R2)."""

from __future__ import annotations

import resource
import shutil
from pathlib import Path

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import SluiceError, TransientError
from sluice.spark.job import TRANSIENT

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def world(build):
    return build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"])


def cut(segment):
    return segment[:-10]


def altered(segment):
    return segment[:50] + b"?" + segment[51:]


def test_a_segment_that_is_not_as_it_was_published_is_refused_before_any_of_it_is_applied(world):
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.catch_up()
    world.master.execute("INSERT INTO t SELECT g, 'b' FROM generate_series(2, 100) AS g")
    world.publish()
    name = world.context.manifest(SOURCE).tail().file.name
    file = world.path / "log" / f"{name}.parquet"
    whole = file.read_bytes()
    for damage in (cut, altered):
        file.write_bytes(damage(whole))
        with pytest.raises(SluiceError, match="SLC-047"):
            world.drainer().deliver()
    assert (world.position().ordinal, world.rows("zurich", "public.t").total()) == (1, 1)


def test_a_log_that_vanishes_with_its_disk_loses_nothing_and_is_not_begun_again_elsewhere(world):
    directory = world.path / "log"
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    kept = directory.rename(world.path / "kept")
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    for instead in (Path.touch, Path.mkdir, Path.is_dir):
        instead(directory)
        for job in (world.publish, world.drain):
            with pytest.raises(TransientError, match="SLC-053"):
                job()
            world.let_leases_expire()
        assert len(world.queued()) == 1
        directory.unlink() if directory.is_file() else shutil.rmtree(directory, ignore_errors=True)
    kept.rename(directory)
    world.catch_up()
    assert world.differences() == {}


def test_a_log_that_vanishes_under_a_publisher_at_work_is_not_begun_again_elsewhere(world):
    """What shows when a disk is gone is the empty directory that it was mounted on."""
    directory = world.path / "log"
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    publisher = world.publisher()
    publisher.publish(None)
    kept = directory.rename(world.path / "kept")
    directory.mkdir()
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    with pytest.raises(TransientError, match=r"SLC-180: segment|SLC-053"):
        publisher.publish(None)
    assert len(world.queued()) == 1
    shutil.rmtree(directory)
    kept.rename(directory)
    publisher.publish(None)
    world.catch_up()
    assert world.differences() == {}


def test_a_log_that_is_lost_for_good_is_left_behind_by_a_rebase(world):
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    shutil.rmtree(world.path / "log")
    with pytest.raises(TransientError, match="SLC-053"):
        world.publish()
    world.let_leases_expire()
    bootstrap(world.context, SOURCE, rebase=True)
    assert world.status(world.slaves[0]) == "INCONSISTENT"
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    assert world.publish()["changes"] == 1


def no_file_may_grow() -> None:
    """From now on the system refuses this process every write beyond some bytes of a file."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


@pytest.mark.full
def test_a_full_disk_loses_nothing_and_leaves_no_half_file(world):
    world.master.execute("INSERT INTO t SELECT g, md5(g::text) FROM generate_series(1, 1000) AS g")
    world.let_leases_expire()
    refused = world.job("publish", "--once", limit=no_file_may_grow)
    assert refused.returncode == TRANSIENT
    assert "SLC-180" in refused.stderr
    assert (len(world.queued()), world.context.files().names()) == (1000, [])
    world.catch_up()
    assert world.differences() == {}
