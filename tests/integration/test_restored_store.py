"""A control store that was lost: noticed by the source and its slaves, and left behind by a rebase (R2, R6)."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def world(build, server):
    """A source that has published, a slave that has received, and a store that knows of neither."""
    made = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    for number in range(5):
        made.master.execute("INSERT INTO t VALUES (%s)", [number])
        made.publish()
    made.drain()
    made.context.store.close()
    made.infos["control"] = server.create_database()
    made.context = Context(made.context.config, made.infos)
    made.context.store.migrate()
    return made


def test_a_lost_store_stops_the_publisher_and_nothing_leaves_items(world):
    world.master.execute("INSERT INTO t VALUES (5)")
    queued = world.queued()
    with pytest.raises(SluiceError) as stopped:
        world.publish()
    assert stopped.value.code == 299
    assert world.queued() == queued != set()


@pytest.mark.full
def test_a_rebase_lets_an_empty_store_go_on_with_the_source(world):
    world.master.execute("INSERT INTO t VALUES (5)")
    bootstrap(world.context, SOURCE, rebase=True)
    assert world.publish()["transactions"] == 1
    assert world.status("zurich") is Status.UNCONFIGURED


@pytest.mark.full
def test_the_slave_of_a_lost_store_is_ahead_of_the_new_log(world):
    with pytest.raises(SluiceError) as stopped:
        world.drainer()
    assert stopped.value.code == 52


def test_what_a_logical_restore_of_the_master_brings_along_is_not_applied_on_top(updating):
    """Its queue bears transaction ids of another cluster, which look as if they came after the load."""
    world = updating("CREATE TABLE log (v text)", ["public.log"])
    world.update()
    world.master.execute("INSERT INTO log VALUES ('published')")
    world.catch_up()
    world.master.execute("INSERT INTO log VALUES ('queued')")
    world.master.execute(
        "UPDATE repl_state SET incarnation = gen_random_uuid();"
        "UPDATE repl_queue SET trans_key = (trans_key::text::bigint + 1000000)::text::xid8"
    )
    with pytest.raises(SluiceError, match="SLC-048"):
        world.publish()
    bootstrap(world.context, SOURCE, rebase=True)
    world.update()
    world.catch_up()
    assert world.differences() == {}
