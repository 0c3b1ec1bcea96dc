"""A master's server is replaced by a logical copy of it, of a newer version, and no slave is filled again."""

from __future__ import annotations

import pytest
from support.changing_over import DDL, TABLES, expect_equal, write
from support.updating import background, compare_here
from support.upgrading import copy_logically
from support.world import CAPTURES, SOURCE, World

from sluice.errors import SluiceError
from sluice.monitor.status import statuses
from sluice.publish import upgrade_master
from sluice.state.condition import ReplicationCondition
from sluice.state.replication import Status
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.full, pytest.mark.postgres, pytest.mark.slow]


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
    world.infos = {**world.infos, "master": copy_logically(world.infos["master"], server, server.cluster.bin)}
    world._servers["master"] = server
    world.configure(lambda _: None)
    world.reconnect("master")
    world.master = world.session()
    with pytest.raises(SluiceError, match=r"SLC-962: .*written there anew, as by a dump or a subscription"):
        upgrade_master.take(world.context, SOURCE, "alice")
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
