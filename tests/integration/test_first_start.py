"""What runs before anybody has installed anything: DAGs may come up unpaused, in any order."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.capture.grants import slave_grants
from sluice.capture.reconcile import bootstrap
from sluice.errors import TransientError
from sluice.monitor import check
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


@pytest.mark.full
def test_check_says_what_is_still_to_be_made_and_grants_need_none_of_it(world):
    # As in a process that has never seen the tables.
    world.configure(lambda settings: None)
    findings = {finding.subject: finding for finding in check.findings(world.context)}
    for subject in ("control store", f"source {SOURCE}", "slave zurich"):
        assert findings[subject].good, findings[subject].text
    assert findings["control store"].text.startswith("answers; its tables are made by the first ")
    assert findings["slave zurich"].text.startswith("answers; its own triggers")
    before = slave_grants(world.context, "zurich", silent=False)
    bootstrap(world.context, SOURCE, rebase=True)
    assert slave_grants(world.context, "zurich", silent=False) == before
    (store,) = (one for one in check.findings(world.context) if one.subject == "control store")
    assert store.text == "answers"


def test_a_drain_waits_for_the_columns_of_a_newer_version(world):
    bootstrap(world.context, SOURCE)
    world.reader("control").execute("ALTER TABLE replication DROP COLUMN delivered_at")
    with pytest.raises(TransientError, match=r"SLC-066: .*delivered_at"):
        world.drain()
