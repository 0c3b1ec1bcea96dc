"""The initial update is exact under constant writes (R5): one dump, two slaves, every change once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace

import pytest
from support import traffic
from support.sizes import BLOCK_BYTES
from support.updating import background, compare_here, load_here
from support.world import CAPTURES, SOURCE

from sluice.changelog.manifest import Manifest
from sluice.errors import TransientError
from sluice.initial_update.chunks import plan
from sluice.initial_update.release import abandon
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

HEAP = """
CREATE TABLE heap (a int, b text);
INSERT INTO heap SELECT g % 7, 'b' || g % 3 FROM generate_series(1, 4000) AS g;
"""


@pytest.fixture
def world(updating):
    """One table without a key: a change that is applied twice, or not at all, cannot hide in it."""
    return updating(HEAP, ["public.heap"])


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of a few blocks, so that small tables are cut, too."""
    monkeypatch.setattr(plan, "CHUNK_BYTES", 16 * BLOCK_BYTES)


@pytest.mark.full(but=["triggers"])
@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("spark", "small_chunks")
@pytest.mark.parametrize("capture", CAPTURES)
def test_updates_under_constant_writes_leave_no_difference(updating, capture):
    """The first one is loaded and compared here, the second one, over what is there and runs, by Spark's tasks."""
    from sluice.spark.compare_tasks import compare_all
    from sluice.spark.load_tasks import load

    world = updating(traffic.DDL, traffic.TABLES, source={"capture": capture})
    with background(*traffic.jobs(world.session), pause_s=0.2):
        # Before the first one drains would find no tables.
        for jobs, by, compare in ((nullcontext, load_here, compare_here), (world.running, load, compare_all)):
            with jobs():
                world.update(load=by)
            assert world.verify(compare=compare, initial=True) == {"zurich": 0, "geneva": 0}
            assert {world.status(slave) for slave in world.slaves} == {Status.NORMAL}
    world.catch_up()
    assert world.differences() == {}


def test_what_is_published_while_the_end_of_the_log_is_read_is_in_the_snapshot(world, monkeypatch):
    """Were the end read after the snapshot, this row would be in neither of them."""
    world.inhibit()
    end = Manifest.end

    def meanwhile(manifest):
        monkeypatch.setattr(Manifest, "end", end)
        world.session().execute("INSERT INTO heap VALUES (1, 'meanwhile')")
        assert world.publish()["changes"] == 1
        return end(manifest)

    monkeypatch.setattr(Manifest, "end", meanwhile)
    world.dump()
    assert Manifest.end is end, "it was read"
    world.release()
    world.catch_up()
    assert world.differences() == {}
    assert count(world, "zurich", "meanwhile") == 1


@pytest.mark.smoke
def test_keys_drawn_before_the_snapshot_and_committed_after_it_are_told_apart_by_transaction(world):
    """Both keys are lower than any that follows, so no rule that compares keys could tell the two. What the snapshot
    shows is obsolete although it is published later; what was open then arrives."""
    early, late = world.session(), world.session()
    early.execute("BEGIN")
    early.execute("INSERT INTO heap VALUES (1, 'early')")
    late.execute("BEGIN")
    late.execute("INSERT INTO heap VALUES (1, 'late')")
    late.execute("DELETE FROM heap WHERE a = 2")
    early.execute("COMMIT")
    world.master.execute("INSERT INTO heap VALUES (1, 'between')")
    world.update()
    assert count(world, "zurich", "late") == 0
    published = world.publish()
    assert (published["transactions"], published["changes"]) == (2, 2)
    for slave in world.slaves:
        delivered = world.drain(slave)
        assert (delivered["transactions"], delivered["changes"]) == (2, 0)
    late.execute("COMMIT")
    world.catch_up()
    for slave in world.slaves:
        assert [count(world, slave, name) for name in ("early", "between", "late")] == [1, 1, 1]
    assert world.differences() == {}


@pytest.mark.full
@pytest.mark.usefixtures("small_chunks")
def test_a_chunk_is_loaded_once_whether_it_is_tried_again_or_shared_out_or_taken_over_from_a_lost_task(world):
    def twice(job):
        first, again = load_here(job), load_here(job)
        assert len(job.chunks) > 1
        assert [one.error for one in first + again] == [None] * len(first + again)
        assert not any(one.rows for one in again)
        return again

    def at_once(job):
        with ThreadPoolExecutor(6) as pool:
            tries = [pool.submit(load_here, job) for _ in range(6)]
        done = [one for attempt in tries for one in attempt.result(60)]
        assert not [one.error for one in done if one.error]
        assert len([one for one in done if one.rows]) > len(job.slaves)
        return done

    def beside_a_lost_one(job):
        with ThreadPoolExecutor(1) as pool, world.session("zurich") as lost:
            lost.execute("BEGIN")
            lost.execute(
                "SELECT 1 FROM sluice_loaded WHERE chunk = 0 AND update_id = %s FOR UPDATE", [zurich(job).epoch]
            )
            loading = pool.submit(load_here, job)
            while not world.waits("%sluice_loaded%FOR UPDATE%", "zurich"):
                assert not loading.done()
            lost.execute("ROLLBACK")
            return loading.result(60)

    for load in (twice, at_once, beside_a_lost_one):
        world.inhibit()
        assert world.dump(load=load)["rows"] == 4000, load
        assert world.differences() == {}, load
        abandon(world.context, SOURCE, world.slaves)


def test_a_loader_whose_epoch_was_overtaken_is_fenced(world):
    def overtaken(job):
        port = world.context.slave(world.pair("zurich"))
        port.take_over(zurich(job).epoch + 1)
        port.close()
        return load_here(job)

    world.inhibit()
    failed = world.dump(load=overtaken)["failed"]
    assert set(failed) == {"zurich"}
    assert failed["zurich"].startswith("SLC-050: somebody took over")
    assert sum(world.rows("zurich", "public.heap").values()) == 0
    assert (world.status("zurich"), world.status("geneva")) == (Status.INCONSISTENT, Status.INITIAL)
    world.release()
    assert world.rows("geneva", "public.heap") == world.rows("master", "public.heap")


def test_a_rewriting_alter_waits_for_the_dump_which_gives_way_and_starts_again(world):
    """The dump's readers would queue behind the ALTER, which queues behind the dump's lock."""
    altering = world.session()
    alter = threading.Thread(target=altering.execute, args=("ALTER TABLE heap ALTER a TYPE bigint",), daemon=True)

    def beside_an_alter(job):
        alter.start()
        while not world.waits("ALTER TABLE heap%"):
            assert alter.is_alive()
        return load_here(job)

    world.inhibit()
    with pytest.raises(TransientError, match=r"SLC-275: public.heap was being read, .*ALTER TABLE heap ALTER a"):
        world.dump(load=beside_an_alter)
    alter.join(30)
    assert not alter.is_alive()
    assert world.dump()["rows"] == 4000
    world.release()
    assert world.differences() == {}
    assert column_type(world, "zurich", "a") == "bigint"


def test_a_dump_whose_snapshot_is_lost_fails_and_takes_no_other_until_it_is_tried_again(world):
    """Not even one that the server has given the same name."""
    world.update()
    world.verify(initial=True)
    world.master.execute("INSERT INTO heap VALUES (1, 'queued')")
    world.publish()
    before = [world.position(slave) for slave in world.slaves]
    other = world.session()

    def without_snapshot(job):
        holder = "SELECT pid, pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database()"
        assert len(world.master.execute(f"{holder} AND application_name = 'sluice snapshot'").fetchall()) == 1
        world.master.execute("INSERT INTO heap VALUES (3, 'of another snapshot')")
        other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        ((known,),) = other.execute("SELECT pg_export_snapshot()").fetchall()
        shown = job.origin.snapshot_id.partition(" ")[2]
        return load_here(replace(job, origin=replace(job.origin, snapshot_id=f"{known} {shown}")))

    world.inhibit()
    with pytest.raises(TransientError, match=r"SLC-083: the snapshot that is read is lost"):
        world.dump(load=without_snapshot)
    assert [world.position(slave) for slave in world.slaves] == before
    assert {world.status(slave) for slave in world.slaves} == {Status.INITIAL}
    world.master.execute("INSERT INTO heap VALUES (2, 'since')")
    with background(world.publish):
        assert world.dump()["failed"] == {}
    world.release()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}


@pytest.mark.full
def test_an_alter_that_came_first_is_waited_for(world):
    altering = world.session()
    altering.execute("BEGIN")
    altering.execute("ALTER TABLE heap ALTER b TYPE varchar(40)")
    world.inhibit()
    with ThreadPoolExecutor(1) as pool:
        dumping = pool.submit(world.dump)
        while not world.waits("%pg_relation_size%"):
            assert not dumping.done(), dumping.result()
        altering.execute("COMMIT")
        assert dumping.result(60)["rows"] == 4000
    assert column_type(world, "zurich", "b") == "character varying(40)"
    assert world.differences() == {}


def count(world, name, label):
    """How many rows bear this label."""
    return sum(times for (row,), times in world.rows(name, "public.heap").items() if f'"{label}"' in row)


def zurich(job):
    """What a dump's job says of that slave."""
    return next(one for one in job.slaves if one.slave == "zurich")


def column_type(world, slave, column):
    found = (
        "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'heap'::regclass AND attname = %s"
    )
    return world.reader(slave).execute(found, [column]).fetchone()[0]
