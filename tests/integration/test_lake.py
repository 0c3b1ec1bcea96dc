"""A slave of Parquet files: as exact as a database, whole at any moment, and readable by anybody (R3 to R7, R10)."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.updating import UpdatingWorld, load_here
from support.world import SOURCE

from sluice.connections import SEALED_ENV, ConnectionInfo, seal
from sluice.control import replications
from sluice.control.statements import issue
from sluice.crash import ENV as CRASH_ENV
from sluice.crash import CrashPoint
from sluice.errors import FencedError, SluiceError, TransientError
from sluice.state.replication import Event, Status

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE keyed (id int PRIMARY KEY, note text, amount numeric(9,2), day date, at timestamptz, raw bytea,
    free numeric);
CREATE TABLE heap (a int, b text);
INSERT INTO keyed SELECT g, 'note ' || g, g / 8.0, '2024-01-01', '2024-01-01 12:00:00.5+02', '\\x00ff', g
    FROM generate_series(1, 300) AS g;
INSERT INTO keyed VALUES (301, E'a\\tb\\\\c\\n', 'NaN', 'infinity', '-infinity', NULL, 'Infinity');
INSERT INTO keyed (id, note) VALUES (302, NULL), (303, '');
INSERT INTO heap SELECT g % 7, 'b' || g % 3 FROM generate_series(1, 100) AS g;
"""
TABLES = ["public.keyed", "public.heap"]
CHANGES = """
UPDATE keyed SET amount = amount + 1 WHERE id <= 5;
UPDATE keyed SET id = 1000 + id WHERE id BETWEEN 290 AND 295;
DELETE FROM keyed WHERE id IN (7, 302);
INSERT INTO keyed (id, note, day) VALUES (7, 'again', '0044-03-15 BC'), (2000, NULL, '-infinity');
DELETE FROM heap WHERE ctid = (SELECT min(ctid) FROM heap WHERE a = 3);
UPDATE heap SET b = 'changed' WHERE a = 4;
INSERT INTO heap VALUES (1, 'b1'), (NULL, NULL);
"""


LOAD = """
import pickle, sys
from support.updating import load_here
load_here(pickle.load(sys.stdin.buffer))
"""


def files(version):
    """The data files that a version lists."""
    return [file for table in version["tables"].values() for file in table["files"]]


class Lake:
    """A world whose slaves are directories: zurich keeps rows, geneva a history."""

    def __init__(self, world: UpdatingWorld, path: Path) -> None:
        self.world = world
        self.path = path

    def configured(self, settings):
        for name, keeps in (("zurich", "rows"), ("geneva", "history")):
            settings["slaves"][name] = {"connection": name, "vendor": "parquet", "keeps": keeps}

    def version(self, slave):
        newest = max((self.path / slave / SOURCE / "versions").glob("*.json"))
        return json.loads(newest.read_text())

    def kept(self, slave):
        """The files that some version lists."""
        root = self.path / slave / SOURCE
        known = [json.loads(path.read_text()) for path in (root / "versions").glob("*.json")]
        return {root / file["path"] for version in known for file in files(version)}

    def read(self, slave, table):
        files = self.version(slave)["tables"][table]["files"]
        return [row for one in files for row in pq.read_table(self.path / slave / SOURCE / one["path"]).to_pylist()]


@pytest.fixture
def lake(updating, tmp_path, monkeypatch):
    """Makes such worlds, with the initial update done."""

    def made(ddl=DDL, tables=TABLES, *, update=True, **more):
        world = updating(ddl, tables, **more)
        path = tmp_path / "lake"
        path.mkdir()
        for name in ("zurich", "geneva"):
            world.infos[f"unused_{name}"] = world.infos[name]
            world.infos[name] = ConnectionInfo("fs", extra={"path": str(path)})
        monkeypatch.setenv(SEALED_ENV, seal(world.infos))
        there = Lake(world, path)
        world.configure(there.configured)
        if update:
            world.update()
            for slave in world.slaves:
                replications.happen(world.context.store, world.pair(slave), Event.VERIFIED)
        return there

    return made


def test_rows_and_histories_equal_the_master_after_an_update_and_after_changes(lake):
    there = lake(update=False)
    world = there.world
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    for mode, changes in (("batch", CHANGES), ("one_to_one", "TRUNCATE keyed; INSERT INTO keyed VALUES (1, 'alone')")):
        world.configure(lambda settings, mode=mode: [one.update(mode=mode) for one in settings["replications"]])
        world.master.execute(changes)
        assert world.verify() == {"zurich": 0, "geneva": 0}
    assert [row["note"] for row in there.read("zurich", "public.keyed")] == ["alone"]
    assert {world.status(slave) for slave in world.slaves} == {Status.NORMAL}


def test_a_file_says_of_each_value_what_the_master_says(lake):
    there = lake()
    world = there.world
    world.master.execute(CHANGES)
    world.catch_up()
    rows = there.read("zurich", "public.keyed")
    by_id = {row["id"]: row for row in rows}
    one = by_id[1]
    assert (one["amount"], one["day"], one["raw"]) == (Decimal("1.13"), date(2024, 1, 1), b"\x00\xff")
    assert one["at"] == datetime(2024, 1, 1, 10, 0, 0, 500000, UTC)
    odd = by_id[301]
    assert dict(odd["sluice_text"]) == {"amount": "NaN", "day": "infinity", "at": "-infinity"}
    assert (odd["note"], odd["amount"], odd["day"], odd["free"]) == ("a\tb\\c\n", None, None, "Infinity")
    assert (by_id[303]["note"], by_id[2000]["note"]) == ("", None)
    assert dict(by_id[7]["sluice_text"]) == {"day": "0044-03-15 BC"}
    ids = {number for (number,) in world.master.execute("SELECT id FROM keyed")}
    assert (len(rows), by_id.keys()) == (len(ids), ids)
    heap = Counter((row["a"], row["b"]) for row in there.read("zurich", "public.heap"))
    assert heap == Counter(world.master.execute("SELECT a, b FROM heap").fetchall())


def test_a_history_says_what_happened_to_a_row(lake):
    there = lake("CREATE TABLE keyed (id int PRIMARY KEY, note text); INSERT INTO keyed VALUES (1, 'a')", TABLES[:1])
    world = there.world
    world.master.execute("UPDATE keyed SET note = 'b'; INSERT INTO keyed VALUES (2, 'x')")
    world.master.execute("ALTER TABLE keyed ADD more int; UPDATE keyed SET id = 3, more = 5 WHERE id = 1")
    world.master.execute("DELETE FROM keyed WHERE id = 2")
    world.publish()
    world.drain("geneva")
    order = ("sluice_epoch", "sluice_ordinal", "sluice_key")
    rows = sorted(there.read("geneva", "public.keyed"), key=lambda row: [row[name] for name in order])
    told = [
        (
            row["sluice_action"],
            (row["id"], row["note"], row.get("more")),
            row["sluice_old"] and tuple(row["sluice_old"].get(name) for name in ("id", "note", "more")),
        )
        for row in rows
    ]
    assert told == [
        ("T", (None, None, None), None),
        ("L", (1, "a", None), None),
        ("U", (1, "b", None), (1, "a", None)),
        ("I", (2, "x", None), None),
        ("U", (3, "b", 5), (1, "b", None)),
        ("D", (None, None, None), (2, "x", None)),
    ]
    transactions = [row["sluice_transaction"] for row in rows]
    assert transactions[:2] == [None, None]
    assert len(set(transactions[2:])) == 3
    with pytest.raises(SluiceError, match=r"SLC-153: .*keyed has other columns .*: more integer"):
        world.drain("zurich")
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    assert len(there.read("geneva", "public.keyed")) == len(rows) + 2, "an initial update comes behind what was"


@pytest.mark.parametrize("slave", ["zurich", "geneva"])
def test_a_killed_drain_leaves_the_version_before_or_the_one_after_and_nothing_twice(lake, slave):
    there = lake()
    world = there.world
    world.master.execute(CHANGES)
    world.publish()
    for point in (CrashPoint.STAGED, CrashPoint.MERGED, CrashPoint.DELIVERED):
        before = there.version(slave)
        killed = world.job("drain", "--slave", slave, "--once", crash_at=point)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        after = there.version(slave)
        there_is = (after["position"], after["tables"]) != (before["position"], before["tables"])
        assert there_is == (point is CrashPoint.DELIVERED)
        world.let_leases_expire()
    assert world.drain(slave)["changes"] == 0
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


def test_what_is_not_as_it_should_be_is_found_with_its_key(lake):
    there = lake()
    world = there.world
    (file,) = there.version("zurich")["tables"]["public.keyed"]["files"]
    path = there.path / "zurich" / SOURCE / file["path"]
    rows = pq.read_table(path)
    for row in (bent := rows.to_pylist()):
        row["note"] = "bent" if row["id"] == 5 else row["note"]
    bent = [row for row in bent if row["id"] != 6] + [{**bent[0], "id": 5000}]
    pq.write_table(pa.Table.from_pylist(bent, rows.schema), path)
    with pytest.raises(SluiceError, match=r"keyed on zurich: 1 missing, 1 extra, 1 changed, first changed \(5\)"):
        world.verify()


def test_a_directory_that_is_not_there_is_waited_for_and_an_empty_one_is_not_filled(lake):
    there = lake()
    world = there.world
    world.master.execute("DELETE FROM heap")
    world.publish()
    away = there.path.rename(there.path.with_name("away"))
    with pytest.raises(TransientError, match="SLC-150: taking over"):
        world.drain("zurich")
    there.path.mkdir()
    with pytest.raises(SluiceError, match="SLC-152: there is no rows at"):
        world.drain("zurich")
    for child in there.path.rglob("*.parquet"):
        raise AssertionError(child)
    shutil.rmtree(there.path)
    away.rename(there.path)
    world.let_leases_expire()
    world.drain("zurich")
    assert there.version("zurich")["tables"]["public.heap"]["files"] == []


@pytest.mark.parametrize("harm", ["gone", "spoilt"])
def test_a_damaged_file_stops_its_slave_alone(lake, harm):
    there = lake()
    world = there.world
    (file,) = there.version("zurich")["tables"]["public.keyed"]["files"]
    path = there.path / "zurich" / SOURCE / file["path"]
    path.unlink() if harm == "gone" else path.write_bytes(b"spoilt")
    world.master.execute("DELETE FROM keyed WHERE id = 1")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-159: reading public\.keyed: a file is not as it was written"):
        world.drain("zurich")
    assert world.drain("geneva")["changes"] == 1


def test_a_statement_is_refused_before_anybody_executes_it(lake):
    world = lake().world
    with pytest.raises(SluiceError, match="SLC-154: slave zurich keeps files"):
        issue(world.context, SOURCE, "UPDATE keyed SET note = 'x'")


@pytest.mark.spark
@pytest.mark.slow
def test_spark_fills_and_compares_files_and_reads_them(lake, spark):
    from sluice.spark.comparing import compare_all
    from sluice.spark.loading import load

    there = lake(update=False)
    world = there.world
    world.update(load=load)
    world.master.execute(CHANGES)
    assert world.verify(compare=compare_all, initial=True) == {"zurich": 0, "geneva": 0}
    root = there.path / "zurich" / SOURCE
    paths = [str(root / file["path"]) for file in there.version("zurich")["tables"]["public.keyed"]["files"]]
    (row,) = spark.read.parquet(*paths).where("id = 1").collect()
    assert (row.amount, row.day, bytes(row.raw)) == (Decimal("1.13"), date(2024, 1, 1), b"\x00\xff")
