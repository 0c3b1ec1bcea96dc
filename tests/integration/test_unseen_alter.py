"""An ALTER that no event trigger saw, constraints that came later: one bootstrap, and publishing goes on (R1, R7)."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import SluiceError
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def altered(build, weak):
    """A master whose role may create no event trigger; a column took another's place, and a row was written before and
    after: nobody can tell under which columns."""
    world = build("CREATE TABLE t (id int PRIMARY KEY, w text)", ["public.t"], elsewhere={"master": weak})
    world.master.execute("INSERT INTO t VALUES (1, 'w')")
    for name in ("master", "zurich"):
        world.reader(name).execute("ALTER TABLE t DROP w, ADD v text")
    world.master.execute("INSERT INTO t VALUES (2, 'x')")
    return world


def test_an_unseen_alter_stops_the_publisher_and_nothing_leaves_items(altered):
    with pytest.raises(SluiceError) as stopped:
        altered.publish()
    assert stopped.value.code == 43
    assert len(altered.queued()) == 2
    assert altered.status("zurich") is Status.NORMAL


def test_a_bootstrap_gives_up_what_cannot_be_read_and_says_so(altered):
    bootstrap(altered.context, SOURCE)
    assert altered.left_out() == {"public.t"}
    assert altered.queued() == set()
    altered.master.execute("INSERT INTO t VALUES (3, 'y')")
    assert altered.publish()["changes"] == 1
    assert altered.log()[-1]["new"] == ["3", "y"]
