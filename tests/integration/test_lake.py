"""A slave of Parquet files is as exact as a database, and readable by anybody (R4, R5, R7, R10)."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import traffic
from support.lake import CHANGES, TABLES
from support.updating import background
from support.world import SOURCE

from sluice.errors import SluiceError
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]


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


@pytest.mark.full
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
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    assert len(there.read("geneva", "public.keyed")) == len(rows) + 2, "an initial update comes behind what was"


@pytest.mark.full
def test_an_update_under_constant_writes_leaves_no_difference(lake):
    """Keys that move and swap, keys checked at commit, tables without a key."""
    there = lake(traffic.DDL, traffic.TABLES, update=False)
    world = there.world
    with background(*traffic.jobs(world.session)):
        world.inhibit()
        with world.running():
            world.dump()
            world.release()
        assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    assert world.verify() == {"zurich": 0, "geneva": 0}


@pytest.mark.full
def test_what_a_slave_calls_otherwise_or_leaves_out_is_so_in_its_files(lake):
    there = lake(update=False)
    world = there.world
    seen = {"public.keyed": {"as": "main.things", "columns": {"note": "said"}, "exclude_columns": ["raw", "free"]}}
    seen["public.heap"] = {"exclude_columns": ["a"], "where": "a <> 4 OR b = 'changed'", "compute": {"twice": "a * 2"}}
    world.configure(lambda settings: [settings["slaves"][slave].update(tables=seen) for slave in world.slaves])
    world.update()
    world.master.execute(CHANGES)
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    (row,) = [row for row in there.read("zurich", "main.things") if row["id"] == 1]
    assert row.keys() == {"id", "said", "amount", "day", "at", "sluice_text"}
    expected = "SELECT b, a * 2 FROM heap WHERE a <> 4 OR b = 'changed'"
    heap = Counter((row["b"], row["twice"]) for row in there.read("zurich", "public.heap"))
    assert heap == Counter(world.master.execute(expected).fetchall())


@pytest.mark.full
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
    newest = max((there.path / "zurich" / SOURCE / "versions").glob("*.json"))
    newest.write_text(newest.read_text().replace(f'"bytes": {file["bytes"]}', f'"bytes": {path.stat().st_size}'))
    with pytest.raises(SluiceError, match=r"keyed on zurich: 1 missing, 1 extra, 1 changed; first .* changed \(5\)"):
        world.verify()


@pytest.mark.full
@pytest.mark.spark
@pytest.mark.slow
def test_spark_fills_and_compares_files_and_reads_them(lake, spark):
    from sluice.spark.compare_tasks import compare_all
    from sluice.spark.load_tasks import load

    there = lake(update=False)
    world = there.world
    world.update(load=load)
    world.master.execute(CHANGES)
    assert world.verify(compare=compare_all, initial=True) == {"zurich": 0, "geneva": 0}
    root = there.path / "zurich" / SOURCE
    paths = [str(root / file["path"]) for file in there.version("zurich")["tables"]["public.keyed"]["files"]]
    (row,) = spark.read.parquet(*paths).where("id = 1").collect()
    assert (row.amount, row.day, bytes(row.raw)) == (Decimal("1.13"), date(2024, 1, 1), b"\x00\xff")
