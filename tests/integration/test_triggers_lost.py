"""Triggers that somebody dropped or disabled: found at the next sweep, made again, and told (R9)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from support.world import SOURCE

from sluice.control.bootstrap import bootstrap
from sluice.control.replications import get
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

DDL = """
    CREATE TABLE t (id int PRIMARY KEY, v text);
    CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id);
    CREATE TABLE part PARTITION OF parted FOR VALUES FROM (0) TO (1000)
"""
TABLES = {"public.t": {"trigger": "zcap"}, "public.parted": {"trigger": "zparts"}}

# What somebody does, and the table that is not captured by it.
LOST = {
    "dropped": ("DROP TRIGGER zcap ON t", "t"),
    "disabled": ("ALTER TABLE t DISABLE TRIGGER zcap", "t"),
    "all disabled": ("ALTER TABLE t DISABLE TRIGGER USER", "t"),
    "not for replicas": ("ALTER TABLE t ENABLE TRIGGER zcap", "t"),
    "no truncate": ("DROP TRIGGER zcap_t ON t", "t"),
    "on a partition": ("ALTER TABLE part DISABLE TRIGGER zparts", "parted"),
    "with its function": (
        "DO $$ BEGIN EXECUTE format('DROP FUNCTION repl_capture_%s CASCADE', 't'::regclass::oid); END $$",
        "t",
    ),
}


def weak(server):
    """A server on which roles are no superusers, so that no event trigger sees anything."""
    return SimpleNamespace(create_database=lambda: server.create_database(superuser=False), connect=server.connect)


@pytest.mark.parametrize("superuser", [True, False], ids=["seen", "polled"])
@pytest.mark.parametrize(("act", "table"), LOST.values(), ids=LOST)
def test_a_lost_trigger_is_made_again_by_the_next_sweep_and_the_slaves_are_told(build, server, act, table, superuser):
    world = build(DDL, TABLES, elsewhere={} if superuser else {"master": weak(server)})
    world.master.execute(act)
    world.publish()
    known = get(world.context.store, world.pair("zurich"))
    assert known.status is Status.INCONSISTENT
    world.master.execute("SET session_replication_role = replica") if superuser else None
    world.master.execute("INSERT INTO t VALUES (1, 'a'); INSERT INTO parted VALUES (1); TRUNCATE t")
    world.publish()
    assert [change["action"] for change in world.log()] == ["I", "I", "T"]
    reasons = world.reader("control").execute("SELECT string_agg(detail, ' ') FROM audit").fetchone()[0]
    assert f"the triggers of public.{table} were dropped or disabled by hand" in reasons


def test_a_trigger_that_was_disabled_for_a_moment_is_not_forgotten(build):
    world = build(DDL, TABLES)
    world.master.execute("ALTER TABLE t DISABLE TRIGGER zcap; INSERT INTO t VALUES (1, 'a')")
    world.master.execute("ALTER TABLE t ENABLE ALWAYS TRIGGER zcap")
    world.publish()
    assert world.status("zurich") is Status.INCONSISTENT
    assert world.master.execute("SELECT DISTINCT status FROM repl_tables").fetchall() == [("OK",)]


def test_what_was_rolled_back_was_not_lost(build):
    world = build(DDL, TABLES)
    with world.master.transaction(force_rollback=True):
        world.master.execute("ALTER TABLE t DISABLE TRIGGER zcap; DROP TRIGGER zparts ON parted")
    world.publish()
    assert world.status("zurich") is Status.NORMAL


def test_a_bootstrap_heals_as_well_and_says_so(build):
    world = build(DDL, TABLES)
    world.master.execute("DROP TRIGGER zcap ON t")
    assert bootstrap(world.context, SOURCE)["added"] == ["public.t"]
    assert world.status("zurich") is Status.INCONSISTENT


def test_a_configuration_that_changes_a_trigger_loses_nothing(build):
    world = build(DDL, TABLES)
    world.configure(lambda settings: settings["sources"][SOURCE]["tables"]["public.t"].update(actions="I"))
    assert bootstrap(world.context, SOURCE)["added"] == ["public.t"]
    world.publish()
    assert world.status("zurich") is Status.NORMAL
