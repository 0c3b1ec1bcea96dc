"""Initial data that travels by an object store: stored there, copied there, noticed and loaded from there."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import islice

import pytest
from pyarrow import fs
from support import traffic
from support.buckets import SECRET
from support.carrying import LIMIT, ROWS, TABLES
from support.interrupting import DDL, MEANWHILE, Broken, breaking
from support.interrupting import TABLES as KEYED
from support.sizes import BLOCK_BYTES
from support.updating import background, load_here
from support.world import SOURCE

from sluice.errors import SluiceError
from sluice.initial_update.chunks import plan
from sluice.initial_update.dump import dump
from sluice.initial_update.files.receive import expected_files, receive
from sluice.initial_update.release import abandon
from sluice.monitor import status
from sluice.publish.retention import trim
from sluice.storage.directory import Directory
from sluice.store import transfers
from sluice_airflow.arrival import FilesArrived

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def world(updating, bucket, monkeypatch):
    """The files of zurich are copied, those of geneva are read where they were stored."""
    monkeypatch.setattr(plan, "CHUNK_BYTES", 16 * BLOCK_BYTES)

    def made(ddl, tables):
        world = updating(ddl, tables)

        def placed(settings):
            stored = {"location": bucket("stored"), "max_bytes": LIMIT}
            settings["sources"][SOURCE]["initial_files"] = stored
            settings["slaves"]["zurich"]["initial_files"] = {"location": bucket("arrived"), "quiet_s": 0}
            settings["slaves"]["geneva"]["initial_files"] = {"location": bucket("stored"), "keep": True, "quiet_s": 0}

        world.configure(placed)
        return world

    return made


def store(world, load=load_here, *, resume=False):
    world.inhibit(resume=resume)
    dump(world.context, SOURCE, world.slaves, load, store=True, resume=resume)
    world.release()


def awaited(world, slave):
    return transfers.awaited_transfer(world.context.store, world.pair(slave))


def copy(world, slave, names=None):
    """What somebody does with the store's own tools."""
    files, path = fs.FileSystem.from_uri(awaited(world, slave).url)
    root = path.rpartition("/")[0]
    stored = Directory(awaited(world, slave).url)
    for name in stored.files() if names is None else names:
        at = f"{awaited(world, slave).name}/{name}"
        files.copy_file(f"{root}/{at}", f"{root.removesuffix('stored')}arrived/{at}")


def noticed(world, slave):
    """What the sensor says in the end."""
    trigger = FilesArrived(**expected_files(world.context, SOURCE, slave), poll_s=0.01)
    return asyncio.run(asyncio.wait_for(anext(trigger.run()), 20)).payload


@pytest.mark.full
def test_what_is_stored_copied_and_loaded_there_under_constant_writes_leaves_no_difference(world, bucket):
    world = world(traffic.DDL, traffic.TABLES)
    with background(*traffic.jobs(world.session)):
        store(world)
        said = [one.why for one in status.statuses(world.context)]
        assert all("Manual Data transfer: WAITING (stored on 's3://bucket-" in one for one in said)
        assert SECRET not in str(said)
        stored = Directory(awaited(world, "zurich").url)
        copy(world, "zurich", islice(stored.files(), 3))
        with pytest.raises(SluiceError, match=r"SLC-183: .*lacks") as early:
            receive(world.context, SOURCE, "zurich", load_here)
        assert SECRET not in str(early.value)
        copy(world, "zurich")
        for slave in ("geneva", "zurich"):
            assert noticed(world, slave) == {"files": len(stored.files())}
            receive(world.context, SOURCE, slave, load_here)
            world.release(slave)
        assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    world.catch_up()
    assert world.differences() == {}
    assert not Directory(bucket("arrived")).directories(), "what was loaded is deleted"
    assert stored.files(), "unless it is to be kept, or another slave waits for it"


@pytest.mark.full
def test_a_dump_that_broke_off_goes_on_there_and_writes_nothing_again_that_is_whole(world, bucket):
    world = world(DDL, KEYED)

    def written():
        files, path = fs.FileSystem.from_uri(bucket("stored"))
        found = files.get_file_info(fs.FileSelector(path, recursive=True))
        return {one.path: one.mtime_ns for one in found if "/9-" in one.path}

    with pytest.raises(Broken), background(world.publish):
        store(world, breaking(6))
    abandon(world.context, SOURCE, world.slaves)
    before = written()
    world.master.execute(MEANWHILE)
    with background(world.publish):
        store(world, resume=True)
    stays = {name: at for name, at in written().items() if before.get(name) == at}
    assert len(stays) >= 4
    copy(world, "zurich")
    receive(world.context, SOURCE, "zurich", load_here)
    world.release("zurich")
    world.catch_up()
    assert all(world.rows("zurich", table) == world.rows("master", table) for table in KEYED)


@pytest.mark.full
def test_a_bucket_that_is_missing_and_a_store_that_does_not_answer_are_named(world, bucket):
    world = world(ROWS, TABLES)

    def placed(url):
        world.configure(lambda plain: plain["sources"][SOURCE].update(initial_files={"location": url}))

    placed(bucket("stored", "missing"))
    with pytest.raises(SluiceError, match="SLC-180: the directory s3://missing/stored") as failed:
        store(world)
    assert SECRET not in str(failed.value)
    with pytest.raises(SluiceError, match="SLC-180: the directory s3://carried/stored"):
        Directory("s3://carried/stored?endpoint_override=127.0.0.1:1").files()
    placed(bucket("stored"))
    store(world)


def test_a_change_log_there_is_published_drained_and_trimmed_and_no_row_differs(world, bucket):
    world = world(traffic.DDL, traffic.TABLES)
    world.configure(lambda plain: plain.update(change_log=bucket("log")))
    with background(*traffic.jobs(world.session)):
        world.update()
        world.publish()
    world.catch_up()
    assert world.differences() == {}

    def kept():
        return sorted(one.file.name for one in world.context.manifest(SOURCE).kept_segments())

    published = kept()
    assert world.context.files().names() == published
    trim(world.context, SOURCE, keep=timedelta(0), warn_bytes=10**9)
    assert world.context.files().names() == kept() != published
