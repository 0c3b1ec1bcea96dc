"""How far a load is can be seen while it runs: in the task's log, in the control store and in `./sluice status`."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.sizes import BLOCK_BYTES
from support.updating import blocks_here, load_here
from support.waiting import until
from support.world import SOURCE

from sluice.initial_update import progress
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.chunks import plan
from sluice.initial_update.dump import EXTERNAL, ONLINE, dump
from sluice.initial_update.files.receive import receive
from sluice.initial_update.release import abandon
from sluice.monitor.status import as_json, as_table
from sluice.runtime.postgres_dirs import packaged_binaries
from sluice.store import transfers
from sluice.store.replication_overview import overviews
from sluice.vendors.postgresql.load.receiver import PostgresReceiver

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, note text);
CREATE TABLE none (id int PRIMARY KEY);
INSERT INTO t SELECT g, repeat('x', 700) FROM generate_series(1, 3000) AS g;
"""
SIZE = "SELECT sum(pg_relation_size(name)) FROM unnest(ARRAY['t', 'none']) AS name"


class Broken(Exception):
    """What a load breaks off with."""


@pytest.fixture
def world(updating, monkeypatch, tmp_path):
    """A table of several chunks, looked at often; slaves of files have places of their own."""
    monkeypatch.setattr(plan, "CHUNK_BYTES", 64 * BLOCK_BYTES)
    monkeypatch.setattr(progress, "SECONDS", 0.05)
    made = updating(DDL, ["public.t", "public.none"])

    def carried(settings):
        settings["sources"][SOURCE]["initial_files"] = {"location": str(tmp_path / "stored")}
        settings["slaves"]["zurich"]["initial_files"] = {"location": str(tmp_path / "arrived")}

    made.configure(carried)
    made.arrived = tmp_path / "arrived"
    return made


@pytest.fixture
def watched(world, monkeypatch):
    """A load that is looked at after each chunk: what was seen, and ``load(most)``, which breaks off after so many."""
    seen = []

    def load(most=1000):
        def slowly(job):
            end, number = PostgresReceiver.end, iter(range(1, most))

            def noted(receiver, chunk, rows):
                end(receiver, chunk, rows)
                deadline, known = time.monotonic() + 60, seen[-1].loading.chunks_done if seen else 0
                time.sleep(0.2)
                while (now := world.standing()).loading.chunks_done == known and time.monotonic() < deadline:
                    time.sleep(0.02)
                seen.append(now)
                if next(number, None) is None:
                    raise Broken

            with monkeypatch.context() as patch:
                patch.setattr(PostgresReceiver, "end", noted)
                return load_here(job)

        return slowly

    return seen, load


@pytest.mark.full
def test_a_load_says_how_far_it_is_while_it_runs(world, watched, caplog):
    seen, load = watched
    planned = world.master.execute(SIZE).fetchone()[0]
    with caplog.at_level(logging.INFO, logger="sluice"):
        world.inhibit("zurich")
        world.dump("zurich", load=load())
    loading = [one.loading for one in seen]
    assert len(loading) > 4
    assert {one.bytes_planned for one in loading} == {planned}
    assert [one.bytes for one in loading] == sorted(one.bytes for one in loading)
    assert (loading[-1].bytes, loading[-1].rows) == (planned, 3000)
    assert all(one.rows_per_s > 0 for one in loading)
    assert loading[0].seconds_left > loading[-1].seconds_left == 0
    half = seen[len(seen) // 2]
    assert json.loads(as_json([half]))[0]["loading"]["bytes"] == half.loading.bytes
    assert re.search(r"INITIAL \d+/\d+ chunks", as_table([half]))
    assert re.search(
        r"slave zurich of flights: [0-9,]+ (of about [0-9,]+ )?rows, \d\.\d of 2\.\d MB, [0-9,]+ rows/s",
        as_table([half]),
    )
    shown = json.loads(as_json([half]))[0]["loading"]["by_table"]
    assert [one["table"] for one in shown] == ["public.t", "public.none"]
    assert (shown[0]["state"], shown[0]["bytes"]) == ("running", half.loading.bytes)
    assert re.search(
        r"slave zurich of flights: 0 of 2 tables; public.t: \d+ of \d+ chunks, [0-9,]+ rows", as_table([half])
    )
    # The list of all replications does without.
    assert overviews(world.context.store, [half.pair])[half.pair].update.progress.by_table == []
    told = [record.getMessage() for record in caplog.records if "progress" in record.getMessage()]
    assert re.search(r"rows=3000 mb=(2\.\d)/\1 rows_per_s=\d+ seconds_left=0", told[-1])
    world.release("zurich")
    assert world.standing().loading is None


@pytest.mark.full
def test_a_load_that_goes_on_counts_what_it_brings_itself_as_its_rate(world, watched, caplog):
    _, load = watched
    world.inhibit("zurich")
    with pytest.raises(Broken):
        world.dump("zurich", load=load(3))
    before = world.standing().loading
    assert (before.chunks_done, before.seconds_left) == (3, None)
    assert [one.state for one in before.by_table] == ["waiting", "waiting"], "no task is at work"
    abandon(world.context, SOURCE, ["zurich"])
    with caplog.at_level(logging.INFO, logger="sluice"):
        world.inhibit("zurich", resume=True)
        world.publish()
        world.dump("zurich", load=load_here, resume=True)
    told = [record.getMessage() for record in caplog.records if "progress" in record.getMessage()]
    assert f"rows={before.rows} " in told[0]
    assert "rows_per_s=0 seconds_left=?" in told[0]


@pytest.mark.full
def test_files_that_are_loaded_say_how_far_they_are(world, watched):
    seen, load = watched
    world.inhibit("zurich")
    dump(world.context, SOURCE, ["zurich"], load_here, store=True)
    world.release("zurich")
    assert world.standing().loading is None
    awaited = transfers.awaited_transfer(world.context.store, world.pair("zurich"))
    stored = sum(path.stat().st_size for path in Path(awaited.url).glob("*.zst"))
    shutil.copytree(awaited.url, world.arrived / awaited.name)
    receive(world.context, SOURCE, "zurich", load())
    assert all("chunks" in one.loaded for one in seen)
    last = seen[-1].loading
    assert last.rows == 3000
    # In whole blocks, chunk by chunk.
    assert stored <= last.bytes == last.bytes_planned < stored + (last.chunks + 1) * BLOCK_BYTES
    assert world.standing().loading is None


@pytest.mark.full
def test_a_load_in_blocks_says_about_how_far_it_is(world, caplog):
    world.configure(lambda plain: plain["sources"][SOURCE].update(blocks={"rows": 600, "patience_s": 30}))
    world.master.execute("ANALYZE t")
    world.inhibit("zurich")
    world.dump("zurich", mode=ONLINE)
    world.release("zurich")
    seen = []

    def looked_at(job):
        known = seen[-1].loading.bytes if seen else -1
        seen.append(until(lambda: (now := world.standing()).loading and now.loading.bytes > known and now))
        time.sleep(0.3)
        return blocks_here(job)

    with world.running("zurich"), caplog.at_level(logging.INFO, logger="sluice"):
        load_online(world.context, SOURCE, ["zurich"], looked_at)
    loading = [one.loading for one in seen]
    assert len(loading) > 3
    assert {one.bytes_planned for one in loading if one.rows} == {loading[-1].bytes_planned}
    assert 2e6 < loading[-1].bytes_planned < 3e6
    assert [one.bytes for one in loading] == sorted({one.bytes for one in loading})
    assert loading[1].seconds_left > 0
    assert all(one.seconds_left is not None for one in loading if one.rows)
    half = seen[len(seen) // 2]
    assert abs(half.loading.bytes / half.loading.bytes_planned - half.loading.rows / 3000) < 0.1
    (table, empty) = sorted(half.loading.by_table, key=lambda one: -one.rows)
    assert (table.table, table.state, table.rows) == ("public.t", "running", half.loading.rows)
    assert 2700 < table.rows_planned < 3300
    assert (empty.table, empty.rows_planned) == ("public.none", 0)
    line = r"slave zurich of flights: .*rows, \d\.\d of 2\.\d MB, [0-9,]+ rows/s, \d:\d\d:\d\d left"
    assert re.search(line, as_table([half]))
    told = [record.getMessage() for record in caplog.records if record.getMessage().startswith("blocks ")]
    assert re.search(r"rows_per_s=\d+ mb=(2\.\d)/\1 seconds_left=0 ", told[-1])


HALF = """
import os, subprocess, sys, time
rows = sys.stdin.buffer.read()
words = ["pg_restore", "--data-only", "--single-transaction", "-d", sys.argv[1]]
restore = subprocess.Popen(words, stdin=subprocess.PIPE)
restore.stdin.write(rows[: len(rows) // 2])
restore.stdin.flush()
while not os.path.exists(sys.argv[2]):
    time.sleep(0.02)
restore.stdin.write(rows[len(rows) // 2 :])
restore.stdin.close()
sys.exit(restore.wait())
"""


@pytest.mark.full
def test_what_programs_have_brought_is_told_before_they_commit_it(world, tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("PATH", f"{packaged_binaries()}{os.pathsep}{os.environ['PATH']}")
    go, planned = tmp_path / "go", world.master.execute(SIZE).fetchone()[0]
    program = {"command": [sys.executable, "-c", HALF, "{database}", str(go)]}
    world.configure(lambda settings: settings["slaves"]["zurich"].update(initial_program=program))
    world.inhibit("zurich")
    with caplog.at_level(logging.INFO, logger="sluice"), ThreadPoolExecutor(1) as pool:
        loading = pool.submit(world.dump, "zurich", mode=EXTERNAL)
        try:
            end = time.monotonic() + 120
            while not (
                (now := world.standing()).loading and now.loading.bytes > planned / 4 and now.loading.seconds_left
            ):
                assert time.monotonic() < end, "nobody says how far it is"
                time.sleep(0.05)
        finally:
            go.touch()
        assert loading.result(60)["failed"] == {}
    assert now.loading.bytes < planned == now.loading.bytes_planned
    assert "INITIAL by programs" in as_table([now])
    assert re.search(r"slave zurich of flights: \d\.\d of 2\.\d MB, \d:\d\d:\d\d left", as_table([now]))
    assert world.standing().loading.bytes == planned
    told = [record.getMessage() for record in caplog.records if record.getMessage().startswith("progress mb=")]
    assert re.fullmatch(r"progress mb=(2\.\d)/\1 seconds_left=0", told[-1])
    world.release("zurich")
    assert world.standing().loading is None
