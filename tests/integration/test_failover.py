"""A source that was promoted, or is another server, is noticed before anything is published from it (R2)."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest

from sluice.errors import SluiceError
from sluice.runtime.postgres import Cluster
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


@pytest.fixture
def promotable(server, tmp_path_factory):
    """A server of its own for the master."""
    made = type(server)(Cluster(tmp_path_factory.mktemp("promotable")))
    made.cluster.start("fsync = off")
    yield made
    made.cluster.remove()


@contextmanager
def halted_checkpoints(admin):
    """A large server takes minutes for the checkpoint that follows a promotion; meanwhile it takes writes already."""
    (pid,) = admin.execute("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'").fetchone()
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_source_on_another_timeline_is_not_published_from(build, promotable):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], elsewhere={"master": promotable})
    world.master.execute("INSERT INTO t VALUES (1)")
    world.catch_up()
    world.master.execute("INSERT INTO t VALUES (2)")
    cluster = promotable.cluster
    with cluster.admin() as admin:
        (directory,) = admin.execute("SHOW data_directory").fetchone()
    cluster.stop()
    (Path(directory) / "standby.signal").touch()
    cluster.start("fsync = off", port=world.infos["master"].port)
    world.let_leases_expire()
    with cluster.admin() as admin, halted_checkpoints(admin):
        assert admin.execute("SELECT pg_promote()").fetchone() == (True,)
        with pytest.raises(SluiceError, match="SLC-048"):
            world.publish()
    assert world.status("zurich") is Status.INCONSISTENT
    assert [row["new"] for row in world.log()] == [["1"]], "nothing of the other timeline is in the log"
