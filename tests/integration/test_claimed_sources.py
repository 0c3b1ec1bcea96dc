"""A source is captured for one control store: a second one is refused, or takes it, and then the first one says so."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.capture.uninstall import cleanup
from sluice.context import Context
from sluice.errors import ConfigError
from sluice.initial_update.inhibit import inhibit
from sluice.publish.run import publish
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def world(build):
    made = build("CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY)", ["public.t", "public.u"])
    made.master.execute("INSERT INTO t VALUES (1)")
    return made


@pytest.fixture
def other(world, server):
    """Another installation, which watches less of the same source under the same prefix."""
    settings = world.context.config.model_copy(deep=True)
    settings.sources[SOURCE].tables.pop("public.u")
    context = Context(settings, {**world.infos, "control": server.create_database()})
    context.store.migrate()
    yield context
    context.store.close()


ACTS = [
    lambda context: bootstrap(context, SOURCE),
    lambda context: publish(context, SOURCE, once=True),
    lambda context: inhibit(context, SOURCE, ["zurich"]),
    lambda context: cleanup(context, SOURCE),
]


def test_a_second_store_is_refused_and_changes_nothing(world, other):
    queued = world.queued()
    for act in ACTS:
        with pytest.raises(ConfigError, match="SLC-299: the source is captured for another control store") as refused:
            act(other)
        assert "trigger the DAG bootstrap with rebase" in refused.value.hint
        assert world.queued() == queued != set()
    world.master.execute("INSERT INTO u VALUES (1)")
    world.catch_up()
    assert world.differences() == {}


def test_slaves_of_a_store_whose_source_was_taken_are_not_shown_as_normal(world, other):
    world.catch_up()
    bootstrap(other, SOURCE, rebase=True)
    assert world.status("zurich") is Status.NORMAL
    with pytest.raises(ConfigError, match="SLC-299"):
        world.publish()
    assert world.status("zurich") is Status.INCONSISTENT
    world.master.execute("INSERT INTO t VALUES (2)")
    assert publish(other, SOURCE, once=True)["transactions"] == 1
