"""`spark.read.format("sluice")` gives the changes of the log, typed, partition by partition, as the files have them."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from support.sparkserver import TOKEN, job_environment
from support.world import SOURCE

from sluice.spark.change_source import find_changes, read_segment, register
from sluice.statements import issue

pytestmark = [pytest.mark.postgres, pytest.mark.spark, pytest.mark.slow]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, price numeric(9,2), day date, at timestamptz, raw bytea, note text, ok boolean);
CREATE TABLE other (id int PRIMARY KEY);
"""
OVER_CONNECT = """
import json
from pyspark.sql import SparkSession
from sluice.context import Context
from sluice.spark.change_source import register
spark = SparkSession.builder.remote(REMOTE).create()
register(spark, Context.from_environment())
read = spark.read.format("sluice").option("source", "flights").option("table", "public.t").load()
rows = read.orderBy("sluice_ordinal", "sluice_key").select("sluice_action", "id", "sluice_old.id").collect()
print(json.dumps([list(row) for row in rows]))
"""


@pytest.fixture
def world(build):
    made = build(DDL, ["public.t", "public.other"])
    made.master.execute("INSERT INTO t VALUES (1, 12.50, '2026-02-03', '2026-02-03 04:05:06+00', '\\x00ff', 'a', true)")
    made.master.execute("INSERT INTO other VALUES (1)")
    made.publish()
    made.master.execute("UPDATE t SET price = 'NaN', day = 'infinity', id = 2, note = NULL; INSERT INTO t VALUES (3)")
    made.publish()
    made.master.execute("DELETE FROM t WHERE id = 3; TRUNCATE t")
    made.publish()
    return made


def changes(spark, world, **options):
    register(spark, world.context)
    reader = spark.read.format("sluice").options(**{"source": SOURCE, "table": "public.t"} | options)
    read = reader.load()
    return read, read.orderBy("sluice_ordinal", "sluice_key").collect()


@pytest.mark.full
def test_changes_are_typed_rows_in_the_order_of_the_log_one_partition_a_segment(world, spark):
    read, rows = changes(spark, world)
    segments = world.context.manifest(SOURCE).kept_segments()
    assert read.rdd.getNumPartitions() == len(segments) >= 3
    assert [(row.sluice_action, row.id, row.sluice_old and row.sluice_old.id) for row in rows] == [
        ("I", 1, None),
        ("U", 2, 1),
        ("I", 3, None),
        ("D", None, 3),
        ("T", None, None),
    ]
    first, second = rows[0], rows[1]
    assert (first.price, first.day, first.raw, first.ok) == (Decimal("12.50"), date(2026, 2, 3), b"\x00\xff", True)
    assert first["at"].astimezone(UTC) == datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert (second.price, second.day, second.sluice_text) == (None, None, {"price": "NaN", "day": "infinity"})
    assert second.sluice_old.price == Decimal("12.50")
    assert dict(read.dtypes)["price"] == "decimal(9,2)"


@pytest.mark.full
def test_they_are_those_of_the_files(world, spark):
    found = find_changes(world.context, {"source": SOURCE, "table": "public.t"})
    here = [
        row for part in found.segments for some in read_segment(world.context, found, part) for row in some.to_pylist()
    ]
    _, rows = changes(spark, world)
    what = ("sluice_segment", "sluice_ordinal", "sluice_key", "sluice_transaction", "sluice_action", "note")
    assert [tuple(row[name] for name in what) for row in rows] == [tuple(row[name] for name in what) for row in here]
    logged = [change["repl_key"] for change in world.log() if change["action"] in ("I", "U", "D", "T")]
    assert {row.sluice_key for row in rows} < set(logged)
    assert len(rows) == len(logged) - 1


@pytest.mark.full
def test_they_begin_behind_a_position(world, spark):
    _, rows = changes(spark, world)
    place = f"{rows[0].sluice_segment}/{rows[0].sluice_ordinal}"
    read, later = changes(spark, world, since=place)
    assert later == rows[1:]
    assert read.rdd.getNumPartitions() < len(world.context.manifest(SOURCE).kept_segments()) + 1


@pytest.mark.full
def test_a_statement_on_all_nodes_is_a_row_since_the_rows_that_it_changed_are_not_in_the_log(world, spark):
    issue.issue(world.context, SOURCE, "INSERT INTO t VALUES (9)")
    world.publish()
    _, rows = changes(spark, world)
    assert [(row.sluice_action, row.id, row.sluice_old) for row in rows[-2:]] == [("T", None, None), ("S", None, None)]


@pytest.mark.full
def test_values_of_columns_that_changed_are_among_the_texts(world, spark):
    world.master.execute("INSERT INTO t (id, price, note) VALUES (4, 1.25, 'b')")
    world.master.execute(
        "ALTER TABLE t DROP COLUMN note; ALTER TABLE t ALTER price TYPE numeric; ALTER TABLE t ADD more int"
    )
    world.master.execute("INSERT INTO t (id, price, more) VALUES (5, 1.125, 7)")
    world.publish()
    _, rows = changes(spark, world)
    before = next(row for row in rows if row.sluice_action == "I" and row.id == 4)
    after = next(row for row in rows if row.sluice_action == "I" and row.id == 5)
    assert (before.price, before.more, before.sluice_text) == (None, None, {"price": "1.25", "note": "b"})
    assert (after.price, after.more, after.sluice_text) == ("1.125", 7, None)


@pytest.mark.full
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"since": "9999/1"}, "SLC-620: .*beyond the end of the log"),
        ({"since": "soon"}, "SLC-914: .*it is no position"),
        ({"table": "public.nothing"}, "SLC-914: .*has no change of a table public.nothing"),
        ({"table": "t"}, "SLC-914: .*is no table"),
        ({"source": "nobody"}, "SLC-003"),
    ],
)
def test_what_cannot_be_read_is_refused(world, spark, options, said):
    with pytest.raises(Exception, match=f"(?s){said}"):
        changes(spark, world, **options)


@pytest.mark.full
def test_spark_connect_reads_the_same(world, spark_server, java, tmp_path):
    there = {"SPARK_CONNECT_AUTHENTICATE_TOKEN": TOKEN}
    program = OVER_CONNECT.replace("REMOTE", repr(spark_server.remote))
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**job_environment(java), **world.environment(), **there},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    expected = [["I", 1, None], ["U", 2, 1], ["I", 3, None], ["D", None, 3], ["T", None, None]]
    assert json.loads(done.stdout.splitlines()[-1]) == expected
