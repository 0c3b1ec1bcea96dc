"""A source that is a standby, was promoted, or is another server, is noticed before anything is published (R2)."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import SluiceError, TransientError
from sluice.monitor.check import findings
from sluice.runtime.postgres import Cluster
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


@pytest.fixture
def promotable(server, tmp_path_factory):
    """A server of its own for the master."""
    made = type(server)(Cluster(tmp_path_factory.mktemp("promotable")))
    made.start()
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


def test_a_standby_is_refused_as_a_source_and_so_is_what_it_is_promoted_to(build, promotable):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], elsewhere={"master": promotable})
    world.master.execute("INSERT INTO t VALUES (1)")
    world.catch_up()
    world.master.execute("INSERT INTO t VALUES (2)")
    cluster = promotable.cluster
    with cluster.admin() as admin:
        (directory,) = admin.execute("SHOW data_directory").fetchone()
    cluster.stop()
    (Path(directory) / "standby.signal").touch()
    promotable.start(first=world.infos["master"].port)
    world.let_leases_expire()
    told = list(refused(world))
    for text in told:
        assert text.startswith("SLC-038: ")
        assert "HINT: point the connection at the primary" in text
    assert "it is a standby" in told[-1]
    assert world.status("zurich") is Status.NORMAL, "the primary goes on where it was"
    world.let_leases_expire()
    with cluster.admin() as admin, halted_checkpoints(admin):
        assert admin.execute("SELECT pg_promote()").fetchone() == (True,)
        with pytest.raises(SluiceError, match="SLC-048"):
            world.publish()
    assert world.status("zurich") is Status.INCONSISTENT
    assert [row["new"] for row in world.log()] == [["1"]], "nothing of the other timeline is in the log"
