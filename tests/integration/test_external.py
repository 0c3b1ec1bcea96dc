"""Rows that programs bring, such as the database's own for export and import: exact (R5), in time, without secrets."""

from __future__ import annotations

import copy
import logging
import os
import re
import sys

import psycopg
import pytest
from support.updating import background

from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.dump import EXTERNAL
from sluice.initial_update.programs import run as programs_
from sluice.libpq import parameters
from sluice.runtime.postgres_dirs import packaged_binaries
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import replications
from sluice.vendors.postgresql.read import snapshot
from sluice.vendors.protocol.load import importing

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE keyed (
    id serial PRIMARY KEY, n int NOT NULL DEFAULT 0, "odd ""note" text, twice int GENERATED ALWAYS AS (n * 2) STORED);
CREATE TABLE heap (a int, b text);
CREATE TABLE parts (id int, n int DEFAULT 0, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (100) TO (1000);
INSERT INTO keyed (n) SELECT g FROM generate_series(1, 300) AS g;
INSERT INTO heap SELECT g % 7, E'tab\tand \\ ' || g % 3 FROM generate_series(1, 300) AS g;
INSERT INTO parts SELECT g FROM generate_series(1, 300) AS g;
"""
TABLES = ["public.keyed", "public.heap", "public.parts"]
WRITES = """
INSERT INTO keyed (n) VALUES (-1);
UPDATE keyed SET n = n + 1 WHERE id % 7 = 0;
UPDATE keyed SET id = id + 100000 WHERE id = (SELECT min(id) FROM keyed);
DELETE FROM keyed WHERE id = (SELECT min(id) FROM keyed);
UPDATE parts SET n = n + 1 WHERE id % 5 = 0;
"""
HEAP_WRITES = "INSERT INTO heap VALUES (1, 'new'); DELETE FROM heap WHERE ctid = (SELECT min(ctid) FROM heap);"


@pytest.fixture(autouse=True)
def programs(monkeypatch):
    """The programs of the server that is under test."""
    monkeypatch.setenv("PATH", f"{packaged_binaries()}{os.pathsep}{os.environ['PATH']}")


def script(*lines):
    """A program that runs these lines."""
    return [sys.executable, "-c", "\n".join(["import os, subprocess, sys, time", *lines])]


def test_the_databases_own_programs_bring_one_snapshot_to_all_slaves_under_writes(updating):
    world = updating(DDL, TABLES, renamed={})
    world.reader("geneva").execute(
        "CREATE TABLE heap (a bigint, b text, own text DEFAULT 'own'); INSERT INTO heap VALUES (0, 'old')"
    )
    world.inhibit()
    with background(lambda: world.session().execute(WRITES + HEAP_WRITES), pause_s=0.2), world.running():
        done = world.dump(mode=EXTERNAL)
        assert done["failed"] == {}
        world.release()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    assert {world.status(slave) for slave in world.slaves} == {Status.NORMAL}
    next_ids = {
        name: world.reader(name).execute("INSERT INTO keyed (n) VALUES (0) RETURNING id").fetchone()[0]
        for name in ("zurich", "master")
    }
    assert next_ids["zurich"] >= next_ids["master"]


@pytest.mark.full
def test_what_a_program_reads_at_times_of_its_own_is_brought_to_one_by_the_log(updating, tmp_path):
    """What it reads is neither what the snapshot before it shows, nor what the one after it does."""
    world = updating(DDL, ["public.keyed", "public.parts"], renamed={})
    asked, committed = tmp_path / "asked", tmp_path / "committed"
    write = f"subprocess.run(['psql', '-qc', {WRITES!r}], check=True)"
    wait = f"while not os.path.exists({str(committed)!r}): time.sleep(0.02)"
    to_master = f"os.environ.update({libpq(world.infos['master'])!r}, PGOPTIONS='')"

    def programs(settings):
        dumped = "--format=custom --data-only --load-via-partition-root --table={relation}"
        settings["sources"]["flights"]["initial_program"] = {
            "command": ["pg_dump", *dumped.split(), "--exclude-table-data={sequence}"],
            "before": script(write, f"open({str(asked)!r}, 'w').close()", wait),
        }
        restore = "subprocess.run(['pg_restore', '--data-only', '--dbname=' + sys.argv[1]], check=True)"
        then = script(restore, "del os.environ['PGPASSFILE']", to_master, write)
        settings["slaves"]["zurich"]["initial_program"] = {"command": [*then, "{database}"]}

    world.configure(programs)
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    late = world.session()
    late.execute("BEGIN; INSERT INTO keyed (n) VALUES (-2); UPDATE parts SET n = -2 WHERE id = 201")

    def publish():
        if asked.exists() and not committed.exists():
            late.execute("COMMIT")
            committed.touch()
        world.publish()

    world.inhibit("zurich")
    with background(publish):
        assert world.dump("zurich", mode=EXTERNAL)["failed"] == {}
    world.release("zurich")
    for table in ("public.keyed", "public.parts"):
        assert world.rows("zurich", table) == world.rows("master", table), "the stream has nothing to add"
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    assert world.reader("control").execute("SELECT sum(missing + duplicate) FROM tolerated").fetchone() in {
        (None,),
        (0,),
    }


@pytest.mark.full
def test_locks_that_end_just_before_the_second_snapshot_has_its_own_end_the_dump(updating, monkeypatch):
    """What came in between them nobody would see."""
    world = updating(DDL, ["public.keyed"], renamed={})
    arguments = ["--format=custom", "--data-only", "--table={relation}", "--exclude-table-data={sequence}"]
    world.configure(
        lambda settings: settings["sources"]["flights"].update(initial_program={"command": ["pg_dump", *arguments]})
    )
    taken, beside = [], snapshot.beside
    sessions = "pg_stat_activity WHERE application_name = 'sluice snapshot' AND datname = current_database()"

    def second(info):
        if len(taken) == 1:
            ended = world.master.execute(f"SELECT pg_terminate_backend(pid, 5000) FROM {sessions}").fetchall()
            assert ended == [(True,)]
        taken.append(info)
        return beside(info)

    monkeypatch.setattr(snapshot, "beside", second)
    world.inhibit("zurich")
    with background(world.publish):
        with pytest.raises(TransientError, match="SLC-030"):
            world.dump("zurich", mode=EXTERNAL)
        assert world.dump("zurich", mode=EXTERNAL)["failed"] == {}
    assert world.rows("zurich", "public.keyed") == world.rows("master", "public.keyed")


def libpq(info):
    """Where a database is, as programs are told."""
    return {
        "PGHOST": info.host,
        "PGPORT": str(info.port),
        "PGDATABASE": info.database,
        "PGUSER": info.login,
        "PGPASSWORD": info.password,
    }


ARCHIVE = ["pg_restore", "--data-only", "--single-transaction", "--dbname={database}"]
PROMPT = "print(open(os.environ['PGPASSFILE']).read(), sys.argv, dict(os.environ), file=sys.stderr)"
FAULTS = {
    "SLC-201.*zurich ended with exit code 7; it said last: no room": {
        "command": script("sys.stdin.buffer.read()", "print('no room')", "sys.exit(7)")
    },
    "SLC-201.*zurich ended with exit code 1": {"command": ARCHIVE, "before": script("sys.exit(1)")},
    "SLC-201.*zurich had not ended after 1 s": {
        "command": script("import signal", "signal.signal(15, signal.SIG_IGN)", "os.fork()", "time.sleep(300)"),
        "limit_s": 1,
    },
    "SLC-201.*zurich did not say 'rows imported'": {"command": ARCHIVE, "expect": "rows imported"},
    "SLC-201.*left no rows on zurich.*public.heap, public.keyed": {
        "command": script("print('3 rows imported')", "sys.stdin.buffer.read()", "sys.exit(4)"),
        "success": [0, 4],
        "expect": "rows imported",
    },
    "SLC-200.*no-such-program": {"command": ["no-such-program"]},
}


@pytest.mark.full
def test_a_program_that_fails_says_why_and_stops_its_slave_alone(updating, caplog, monkeypatch):
    monkeypatch.setattr(programs_, "_GRACE_S", 0.2)
    world = updating(DDL, ["public.keyed", "public.heap"], renamed={})
    caplog.set_level(logging.INFO)
    for error, program in FAULTS.items():
        told = program | {"before": script(PROMPT, *program.get("before", ["", "", ""])[2:])}
        world.configure(lambda settings, told=told: settings["slaves"]["zurich"].update(initial_program=told))
        world.inhibit()
        failed = world.dump(mode=EXTERNAL)["failed"]
        assert set(failed) == {"zurich"}
        assert re.search(error, failed["zurich"]), failed
        assert world.rows("geneva", "public.heap") == world.rows("master", "public.heap")
    assert {slave: world.status(slave) for slave in world.slaves} == {
        "zurich": Status.INCONSISTENT,
        "geneva": Status.INITIAL,
    }
    assert "***" in caplog.text
    assert not [info.password for info in world.infos.values() if info.password in caplog.text]


def test_an_export_that_breaks_off_leaves_no_part_of_it_on_any_slave(updating):
    world = updating(DDL, ["public.heap"], renamed={})
    lines = ["subprocess.run(['pg_dump', '--snapshot=' + sys.argv[1], '-ta', '-tpublic.heap', '-a'])", "sys.exit(9)"]
    text = {"command": ["psql", "--quiet", "--single-transaction", "--dbname={database}"]}

    def programs(settings):
        settings["sources"]["flights"]["initial_program"] = {"command": [*script(*lines), "{snapshot}"]}
        for slave in world.slaves:
            settings["slaves"][slave]["initial_program"] = text

    world.configure(programs)
    world.inhibit()
    with pytest.raises(SluiceError, match=r"SLC-201: the program python.* of source flights ended with exit code 9"):
        world.dump(mode=EXTERNAL)
    assert {sum(world.rows(slave, "public.heap").values()) for slave in world.slaves} == {0}


@pytest.mark.full
def test_what_no_program_can_bring_is_refused_before_anything_is_emptied(updating, tmp_path):
    world = updating(DDL, ["public.heap"], renamed={})
    for slave in world.slaves:
        world.reader(slave).execute("CREATE TABLE heap (a int, b text); INSERT INTO heap VALUES (0, 'old')")
    world.infos["lake"] = ConnectionInfo("fs", extra={"path": str(tmp_path)})
    world.configure(lambda settings: settings["replications"][0].update(statements=False))
    refusals = {
        "SLC-204.*has them: public.heap": lambda settings: settings["slaves"]["zurich"].update(
            tables={"public.heap": {"where": "a > 1"}}
        ),
        "SLC-204.*block_loop": lambda settings: settings["replications"][0].update(block_loop=True),
        "SLC-204.*this kind of slave": lambda settings: settings["slaves"].update(
            zurich={"connection": "lake", "vendor": "parquet"}
        ),
        "SLC-204.*public.heap": lambda settings: settings["sources"]["flights"].update(
            initial_program={"command": ["pg_dump"]}
        ),
    }
    for error, change in refusals.items():
        before = copy.deepcopy(world.settings)
        world.configure(change)
        world.inhibit("zurich")
        with pytest.raises(SluiceError, match=error):
            world.dump("zurich", mode=EXTERNAL)
        world.configure(lambda settings, before=before: settings.update(before))
    with pytest.raises(SluiceError, match=r"SLC-914: .*not stored in files"):
        world.inhibit("zurich", mode=EXTERNAL, store=True, force=True)
    assert list(world.rows("zurich", "public.heap").values()) == [1]


@pytest.mark.full
def test_an_import_that_an_earlier_update_left_behind_is_ended(updating):
    world = updating(DDL, ["public.heap"], renamed={})
    left = psycopg.connect(
        **{**parameters(world.infos["zurich"], importing(world.pair("zurich"))), "connect_timeout": 10}
    )
    left.execute("CREATE TABLE heap (a int, b text)")
    left.commit()
    left.execute("INSERT INTO heap VALUES (0, 'late')")
    world.inhibit("zurich")
    world.dump("zurich", mode=EXTERNAL)
    with pytest.raises(psycopg.OperationalError):
        left.commit()
    left.close()
    assert world.rows("zurich", "public.heap") == world.rows("master", "public.heap")
