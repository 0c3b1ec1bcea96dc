"""Parts of a large transaction cost what they change, and not what the slave's table has."""

from __future__ import annotations

import time

import pytest

pytestmark = [pytest.mark.postgres]

PARTS = 6
PART = 500
DDL = """
CREATE TABLE one (id int PRIMARY KEY, v text);
CREATE TABLE two (a int, b text, v text, PRIMARY KEY (a, b));
CREATE TABLE parted (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);
CREATE TABLE low PARTITION OF parted FOR VALUES FROM (0) TO (50000);
CREATE TABLE high PARTITION OF parted DEFAULT;
CREATE TABLE heap (a int, v text);
INSERT INTO one SELECT g, 'v' || g FROM generate_series(1, 100000) AS g;
INSERT INTO two SELECT id / 10, 'b' || id % 10, v FROM one;
INSERT INTO parted TABLE one;
INSERT INTO heap SELECT * FROM one WHERE id <= 20000;
"""
TABLES = ["public.one", "public.two", "public.parted", "public.heap"]
SCANS = """
SELECT sum(pg_stat_get_numscans(oid))::int FROM pg_class
WHERE relname = ANY (%s) AND pg_stat_clear_snapshot() IS NOT NULL
"""


@pytest.fixture(scope="module")
def world(server, tmp_path_factory):
    from support.world import World

    made = World(server, tmp_path_factory.mktemp("large"), DDL, TABLES)
    yield made
    made.close()
    server.drop_databases(made.infos.values())


def scans(world, tables):
    """How often these tables were read as a whole, by this session and by drains, which have ended."""
    slave = world.reader("zurich")
    slave.execute("SELECT pg_stat_force_next_flush()")
    drains = "SELECT FROM pg_stat_activity WHERE application_name ~ 'drain' AND datname = current_database()"
    while slave.execute(drains).fetchone():
        time.sleep(0.05)
    return slave.execute(SCANS, [tables]).fetchone()[0]


@pytest.mark.parametrize(
    ("change", "tables"),
    [
        ("UPDATE one SET v = v || '!' WHERE id % 33 = 0", ["one"]),
        ("UPDATE one SET id = -id WHERE id % 33 = 1", ["one"]),
        ("DELETE FROM one WHERE id % 33 = 2", ["one"]),
        ("INSERT INTO one SELECT 200000 + g, 'new' FROM generate_series(1, 3000) AS g", ["one"]),
        ("UPDATE two SET v = v || '!' WHERE a % 33 = 0", ["two"]),
        ("DELETE FROM two WHERE a % 33 = 1", ["two"]),
        ("UPDATE parted SET v = v || '!' WHERE id % 33 = 0", ["low", "high"]),
    ],
)
def test_rows_are_found_by_the_index_of_their_key(world, monkeypatch, change, tables):
    monkeypatch.setattr("sluice.drain.batches.PART", PART)
    before = scans(world, tables)
    world.master.execute(change.encode())
    world.publish()
    assert world.drain()["changes"] > (PARTS - 1) * PART
    assert scans(world, tables) == before


def test_a_table_without_a_key_is_read_once_for_all_parts(world, monkeypatch):
    monkeypatch.setattr("sluice.drain.batches.PART", PART)
    before = scans(world, ["heap"])
    world.master.execute("UPDATE heap SET v = v || '!' WHERE a % 13 = 0; DELETE FROM heap WHERE a % 13 = 1")
    world.publish()
    assert world.drain()["changes"] > (PARTS - 1) * PART
    assert scans(world, ["heap"]) - before <= 2
    assert world.differences() == {}, "all tables are as their changes left them"
