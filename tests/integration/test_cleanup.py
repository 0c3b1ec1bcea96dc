"""`cleanup` takes every DbResource of a prefix out of the source, and nothing else."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.capture.uninstall import cleanup
from sluice.errors import SluiceError, TransientError
from sluice.state.replication import Status
from sluice.store import leases

pytestmark = [pytest.mark.postgres]

DDL = """
    CREATE SCHEMA "Odd one";
    CREATE TABLE "Odd one"."T 1" (id int PRIMARY KEY DEFERRABLE);
    CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id);
    CREATE TABLE part PARTITION OF parted FOR VALUES FROM (0) TO (1000);
    CREATE TABLE repl_mine (id int);
    CREATE FUNCTION repl_capture_mine() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER zown AFTER INSERT ON parted FOR EACH ROW EXECUTE FUNCTION repl_capture_mine()
"""
TABLES = ["Odd one.T 1", "public.parted"]
EVERYTHING = """
    SELECT oid::regclass::text FROM pg_class WHERE oid >= 16384 AND relkind <> 't' AND relname NOT LIKE 'pg_toast%'
    UNION ALL SELECT oid::regprocedure::text FROM pg_proc WHERE oid >= 16384
    UNION ALL SELECT tgrelid::regclass || '.' || tgname FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT 'event trigger ' || evtname FROM pg_event_trigger
"""
MINE = {"repl_mine", "repl_capture_mine()"}


def everything(world):
    return {name for (name,) in world.master.execute(EVERYTHING)}


def other(world, prefix):
    """One more source in the same schema of the same database; what it has made there."""
    before = everything(world)
    settings = {"connection": "master", "prefix": prefix, "schema": "repl", "tables": {"public.parted": {}}}
    world.configure(lambda plain: plain["sources"].update(other=settings))
    bootstrap(world.context, "other")
    return everything(world) - before


@pytest.mark.full(but=["RE"])
@pytest.mark.parametrize("prefix", ["RE", "REPL_CAPTURE_1"])
def test_a_prefix_is_removed_and_one_beside_it_stays_and_works(build, prefix):
    world = build(DDL, TABLES)
    before = everything(world)
    assert other(world, prefix)
    cleanup(world.context, "other")
    assert everything(world) == before
    world.master.execute("INSERT INTO parted VALUES (1)")
    assert len(world.queued()) == 1
    made = other(world, prefix)
    cleanup(world.context, SOURCE)
    assert everything(world) >= made
    world.master.execute("INSERT INTO parted VALUES (2)")
    assert world.master.execute(f"SELECT content FROM {prefix}items").fetchall() == [('<col name="id">2</col>',)]


def test_all_of_ours_goes_and_all_of_the_users_stays(build):
    world = build(DDL, TABLES)
    world.master.execute("INSERT INTO parted VALUES (1)")
    before = everything(world)
    dropped = cleanup(world.context, SOURCE)
    left = everything(world)
    assert {name for name in left if "repl" in name} == MINE
    assert {"parted", "part", '"Odd one"."T 1"', "parted.zown", "part.zown"} <= left < before
    assert "TABLE repl.repl_queue" in dropped
    assert world.status("zurich") is Status.INCONSISTENT
    assert cleanup(world.context, SOURCE) == []


def test_what_depends_on_a_resource_keeps_all_of_them(build):
    world = build(DDL, TABLES)
    world.master.execute("CREATE VIEW watching AS SELECT * FROM repl_items")
    before = everything(world)
    with pytest.raises(SluiceError, match="cannot drop"):
        cleanup(world.context, SOURCE)
    assert everything(world) == before


def test_a_publisher_at_work_is_left_alone(build):
    world = build(DDL, TABLES)
    before = everything(world)
    with leases.hold_lease(world.context.store, f"publish {SOURCE}"), pytest.raises(TransientError, match="SLC-051"):
        cleanup(world.context, SOURCE)
    assert everything(world) == before
