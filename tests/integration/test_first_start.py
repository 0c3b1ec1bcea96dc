"""What runs before anybody has installed anything: DAGs may come up unpaused, in any order."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import TransientError
from sluice.state.replication import ReplicationEvent
from sluice.store import replications

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def world(build):
    """Nobody has made the tables of the control store."""
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    world.reader("control").execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return world


def test_a_drain_that_runs_before_bootstrap_waits_for_it(world):
    with pytest.raises(TransientError, match=r"SLC-066: the control store lacks tables") as caught:
        world.drain()
    assert "bootstrap" in caught.value.hint
    bootstrap(world.context, SOURCE)
    assert world.drain()["standby"] == "the replication is UNCONFIGURED"
    for event in (ReplicationEvent.REQUEST, ReplicationEvent.DUMPED, ReplicationEvent.VERIFIED):
        replications.record(world.context.store, world.pair("zurich"), event)
    world.master.execute("INSERT INTO t VALUES (1)")
    world.catch_up()
    assert world.differences() == {}


def test_a_drain_waits_for_the_columns_of_a_newer_version(world):
    bootstrap(world.context, SOURCE)
    world.reader("control").execute("ALTER TABLE replication DROP COLUMN delivered_at")
    with pytest.raises(TransientError, match=r"SLC-066: .*delivered_at"):
        world.drain()
