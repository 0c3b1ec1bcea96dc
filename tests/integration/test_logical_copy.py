"""A master's server is replaced by a logical copy of it, of a newer version, and no slave is filled again."""

from __future__ import annotations

import pytest
from support.changing_over import DDL, TABLES, expect_equal, write
from support.updating import background, compare_here
from support.upgrading import copy_logically
from support.waiting import until
from support.world import CAPTURES, SOURCE, World

from sluice.errors import SluiceError
from sluice.monitor.status import statuses
from sluice.publish import upgrade_master
from sluice.state.condition import ReplicationCondition
from sluice.state.replication import Status
from sluice.verify.run import VerifyRequest, verify

PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"
SYNCED = "SELECT count(*) > 0 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel"
FOLLOWED = "SELECT confirmed_flush_lsn >= %s::pg_lsn FROM pg_replication_slots WHERE slot_name = 'green'"
CATALOG = (
    "SELECT oid, xmin FROM pg_class WHERE relkind = 'r' AND relnamespace::regnamespace::text IN ('repl', 'public')"
)
pytestmark = [pytest.mark.full, pytest.mark.postgres, pytest.mark.slow]


def lead(world, server, copy):
    """Let the connection of the master lead to a copy, which is no upgrade."""
    world.infos = {**world.infos, "master": copy}
    world._servers["master"] = server
    world.configure(lambda _: None)
    world.reconnect("master")
    with pytest.raises(SluiceError, match=r"SLC-962: .*written there anew, as by a dump or a subscription"):
        upgrade_master.take(world.context, SOURCE, "alice")


@pytest.mark.parametrize("capture", CAPTURES)
def test_slaves_go_on_with_a_logical_copy_and_are_compared(server, oldest, tmp_path, monkeypatch, capture):
    source = {"capture": capture}
    world = World(server, tmp_path / "world", DDL, TABLES, source=source, elsewhere={"master": oldest})
    write(world, 1)
    world.master.execute("ALTER TABLE t ADD note text DEFAULT 'n'")
    world.catch_up()
    write(world, 10)
    upgrade_master.prepare(world.context, SOURCE, "alice")
    with pytest.raises(SluiceError, match=r"SLC-962.*no logical copy"):
        upgrade_master.take_copy(world.context, SOURCE, "alice")
    lead(world, server, copy_logically(world.infos["master"], server, server.cluster.bin))
    (waiting,) = statuses(world.context)
    assert waiting.condition is ReplicationCondition.UNPUBLISHED
    assert "waits since" in waiting.publishing
    assert "verify all rows" in upgrade_master.take_copy(world.context, SOURCE, "alice")["note"]
    write(world, 30)
    expect_equal(world)
    assert world.standing().condition is ReplicationCondition.DOUBTFUL
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    with background(world.publish, world.drain):
        verify(world.context, VerifyRequest(SOURCE, ("zurich",)), compare_here, 60)
    assert world.standing().condition is ReplicationCondition.WELL
    assert world.status("zurich") is Status.NORMAL


def test_slaves_go_on_with_a_copy_that_follows_all_tables_by_a_subscription(server, oldest, tmp_path):
    """So does a provider that switches from blue to green; triggers that fire in every session fire there, too."""
    world = World(server, tmp_path / "world", PLAIN, ["public.t"], elsewhere={"master": oldest})
    blue, publishing = world.infos["master"], world.master
    publishing.execute("INSERT INTO t VALUES (1, 'a')")
    world.catch_up()
    publishing.execute("CREATE PUBLICATION green FOR ALL TABLES")
    green = copy_logically(blue, server, server.cluster.bin, "--schema-only", "--no-publications")
    with server.connect(green) as following:
        leads = f"host=127.0.0.1 port={blue.port} dbname={blue.database} user={blue.login} password={blue.password}"
        following.execute(f"CREATE SUBSCRIPTION green CONNECTION '{leads}' PUBLICATION green".encode())
        until(lambda: following.execute(SYNCED).fetchone() == (True,))
        altered = publishing.execute(CATALOG).fetchall()
        publishing.execute("INSERT INTO t VALUES (2, 'b'); UPDATE t SET v = 'c' WHERE id = 1")
        until(lambda: following.execute("SELECT count(*) FROM t").fetchone() == (2,))
        queued = [
            each.execute("SELECT count(*) FROM repl.repl_queue").fetchone()[0] for each in (publishing, following)
        ]
        # The rows that came at first count, too.
        assert queued[1] > queued[0], "what is captured there comes on top of what is copied"
        world.publish()
        upgrade_master.prepare(world.context, SOURCE, "alice")
        assert publishing.execute(CATALOG).fetchall() == altered, "no provider switches over after an ALTER TABLE"
        lsn = publishing.execute("SELECT pg_current_wal_lsn()::text").fetchone()
        until(lambda: publishing.execute(FOLLOWED, lsn).fetchone() == (True,))
        following.execute("DROP SUBSCRIPTION green")
    lead(world, server, green)
    upgrade_master.take_copy(world.context, SOURCE, "alice")
    world.master.execute("INSERT INTO t VALUES (3, 'd')")
    expect_followed(world)


def expect_followed(world):
    world.catch_up()
    assert world.differences() == {}
    assert world.drain()["tolerated"] == 0
    assert world.status("zurich") is Status.NORMAL
