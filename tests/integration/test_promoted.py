"""A standby is refused as a source. It may take the place of the source's server: publishing goes on if it has all that
was published (R2).

One standby is promoted for all of these tests; each has databases of its own on it.
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
import pytest
from support.promoting import SLOT, Pair
from support.world import CAPTURES, SOURCE, World

from sluice.capture.reconcile import bootstrap
from sluice.crash import CrashPoint
from sluice.errors import SluiceError, StrangeSource, TransientError
from sluice.log import recorded
from sluice.monitor.check import findings
from sluice.publish import publisher
from sluice.publish.publisher import PointRequest
from sluice.state.replication import Event, Status
from sluice.store import replications
from sluice.vendors.postgresql.capture.log import slot

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

DDL = "CREATE TABLE t (id int PRIMARY KEY)"
# Worlds whose last segment is listed, and the master has no record of that.
UNRECORDED = tuple(f"{capture}, not recorded" for capture in CAPTURES)


@pytest.fixture(scope="module")
def servers(server, tmp_path_factory):
    made = Pair(type(server), tmp_path_factory.mktemp("promoted"))
    yield made
    made.remove()


@contextmanager
def halted_checkpoints(server):
    """A large server takes minutes for the checkpoint that follows a promotion; meanwhile it takes writes already."""
    with server.cluster.admin() as admin:
        (pid,) = admin.execute("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'").fetchone()
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def refused(world):
    """What each way to begin with a source says of it: nothing may be worth a retry."""
    for begin in (world.publish, lambda: bootstrap(world.context, SOURCE)):
        with pytest.raises(SluiceError) as caught:
            begin()
        assert not isinstance(caught.value, TransientError)
        yield str(caught.value)
    (found,) = [one for one in findings(world.context) if one.subject == f"source {SOURCE}"]
    assert not found.good
    yield found.text


def remarks(world):
    """What `./sluice check` says of the source."""
    return next(one.text for one in findings(world.context) if one.subject == f"source {SOURCE}")


def let_copy_again(servers, world):
    """Whether standbys may copy the slot: one of an older version of Sluice, and after bootstrap."""
    copied = "SELECT failover FROM pg_replication_slots WHERE slot_name = (SELECT slot FROM repl.repl_log)"
    (name,) = world.master.execute("SELECT slot FROM repl.repl_log").fetchone()
    with psycopg.connect(servers.old.cluster.admin_dsn(), autocommit=True, replication="database") as session:
        session.execute(f"ALTER_REPLICATION_SLOT {name} (FAILOVER false)")
    for _ in range(2):
        yield world.master.execute(copied).fetchone()[0]
        bootstrap(world.context, SOURCE)


def list_only(world):
    """Publish, and die before the master knows."""

    def dies(point):
        if point is CrashPoint.LISTED:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publisher, "reached", dies)
        with pytest.raises(KeyboardInterrupt):
            world.publisher().publish(None)


@dataclass
class Promoted:
    """Worlds of the old server, and what was said of the new one: as a standby, and before its first checkpoint."""

    worlds: dict[str, World]
    copyable: list[bool]
    of_check: list[str]
    of_standby: list[str]
    of_away: SluiceError
    of_ahead: SluiceError


@pytest.fixture(scope="module")
def promoted(server, servers, tmp_path_factory):
    """One of the worlds is `ahead`: what was published of it the standby never had."""
    made = {
        name: World(
            server,
            tmp_path_factory.mktemp("world") / "world",
            DDL,
            ["public.t"],
            slaves=("zurich", "bern"),
            source={"capture": "triggers" if "triggers" in name else "log"},
            elsewhere={"master": servers.old},
        )
        for name in (*CAPTURES, *UNRECORDED, "ahead")
    }
    ahead = made["ahead"]
    copyable = list(let_copy_again(servers, ahead))
    servers.copy()
    of_check = [remarks(ahead)]
    for world in made.values():
        world.master.execute("INSERT INTO t VALUES (1)")
        world.catch_up()
        # One of its slaves was filled after that.
        for event in (Event.REQUEST, Event.DUMPED, Event.VERIFIED):
            replications.happen(world.context.store, world.pair("bern"), event)
        world.master.execute("INSERT INTO t VALUES (2)")
        world.catch_up()
    servers.await_standby(SLOT)
    of_check.append(remarks(ahead))
    servers.wait_for_slots()
    servers.lead(ahead, servers.new)
    of_standby = list(refused(ahead))
    ahead.let_leases_expire()
    servers.lead(ahead, servers.old)
    for world in made.values():
        world.master.execute("INSERT INTO t VALUES (3)")
    for name in UNRECORDED:
        list_only(made[name])
    servers.wait_for_log()
    servers.cut()
    for world in (ahead, *made.values()):
        world.master.execute("INSERT INTO t VALUES (4) ON CONFLICT DO NOTHING")
    xids = [ahead.master.execute("SELECT xmin FROM t WHERE id = 4").fetchone()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slot, "_PATIENCE_S", 0.0)
        with pytest.raises(TransientError) as away:
            ahead.publish()
    servers.await_standby("")
    ahead.let_leases_expire()
    ahead.publish()
    with halted_checkpoints(servers.new):
        servers.promote()
        servers.lead(ahead, servers.new)
        ahead.master.execute("INSERT INTO t VALUES (44)")
        xids.append(ahead.master.execute("SELECT xmin FROM t WHERE id = 44").fetchone())
        with pytest.raises(StrangeSource) as caught:
            ahead.publish()
    assert xids[0] == xids[1], "the new server gives out the xid again"
    yield Promoted(made, copyable, of_check, of_standby, away.value, caught.value)
    for world in made.values():
        world.close()
        server.drop_databases(world.infos.values())


def test_a_standby_is_refused_as_a_source(promoted):
    for text in promoted.of_standby:
        assert text.startswith("SLC-038: ")
        assert "HINT: point the connection at the primary" in text
    assert "it is a standby" in promoted.of_standby[-1]


def test_bootstrap_lets_standbys_copy_the_slot_and_check_says_what_they_need(promoted):
    assert promoted.copyable == [False, True]
    assert ["synchronized_standby_slots" in text for text in promoted.of_check] == [True, False]
    assert f"name its slot ({SLOT})" in promoted.of_check[0]


def test_while_a_standby_is_away_that_is_to_have_all_first_the_publisher_does_not_hang(promoted):
    assert promoted.of_away.code == 549
    assert f"by {SLOT}" in promoted.of_away.fact


def test_a_server_that_lacks_what_was_published_is_refused(promoted):
    world = promoted.worlds["ahead"]
    assert promoted.of_ahead.code == 48
    assert [row["new"] for row in world.log()] == [["1"], ["2"], ["3"], ["4"]]
    assert world.status("zurich") is Status.INCONSISTENT


@pytest.mark.parametrize("capture", [*CAPTURES, *UNRECORDED])
def test_publishing_goes_on_with_a_server_that_has_all_that_was_published(servers, promoted, capture):
    world = promoted.worlds[capture]
    servers.lead(world, servers.new)
    world.master.execute("INSERT INTO t VALUES (5)")
    with recorded() as lines, pytest.raises(TransientError, match="SLC-548"):
        world.publisher().publish(None, PointRequest(1, "of the old server", "1:1:"))
    assert any("took the source's place" in line and "inconsistent=bern" in line for _, line in lines)
    world.catch_up()
    assert world.differences().keys() <= {("bern", "t")}
    assert [row["new"] for row in world.log()] == [["1"], ["2"], ["3"], ["5"]]
    assert world.status("zurich") is Status.NORMAL
    assert world.status("bern") is Status.INCONSISTENT, "it was filled, perhaps, with what nobody published"


@pytest.mark.parametrize("capture", CAPTURES)
def test_the_old_server_is_refused_and_slaves_stay_as_they_are(servers, promoted, capture):
    world = promoted.worlds[capture]
    servers.lead(world, servers.new)
    world.catch_up()
    servers.lead(world, servers.old)
    world.let_leases_expire()
    before = world.log()
    for begin in (world.publish, lambda: bootstrap(world.context, SOURCE)):
        with pytest.raises(SluiceError, match="SLC-547") as refused:
            begin()
        assert not isinstance(refused.value, StrangeSource)
    assert (world.log(), world.status("zurich")) == (before, Status.NORMAL)
