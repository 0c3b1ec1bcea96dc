"""Some tables of a slave are filled anew; the others keep their rows, and get each of their changes once."""

from __future__ import annotations

import pytest
from support import traffic
from support.updating import background, compare_here, load_here
from support.world import SOURCE

from sluice.capture.reconcile import make_inconsistent
from sluice.errors import SluiceError
from sluice.initial_update.release import abandon
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.row_conflict import RejectedChange
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import blocked, rejected_changes, replications
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

PARENT, HEAP = (TableName("public", name) for name in ("parent", "heap"))

# Of geneva, which has `branch` for `public`: schema, table, and whether that is as the master calls it.
REJECTED = [
    ("branch", "parent", False),
    ("public", "heap", True),
    ("branch", "child", False),
    ("public", "child", True),
    ("public", "parent", False),
]


@pytest.fixture
def world(updating):
    """Two slaves that are NORMAL."""
    world = updating(traffic.DDL, traffic.TABLES)
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    return world


def files(world):
    """Where rows of the tables that keep them are: in another file, if they were emptied."""
    wanted = "SELECT oid::regclass::text, relfilenode FROM pg_class WHERE relname IN ('child', 'shift')"
    return [world.reader(slave).execute(wanted).fetchall() for slave in world.slaves]


def damage(world):
    """Somebody else wrote to them."""
    for slave, schema in (("zurich", "public"), ("geneva", "branch")):
        there = world.reader(slave)
        there.execute("SET session_replication_role = replica")
        there.execute(f"DELETE FROM {schema}.parent WHERE id % 3 = 0; INSERT INTO {schema}.heap VALUES (1, 'mine')")


def reject(world):
    """Changes of these tables and of another are kept that geneva did not carry out, some under the master's names."""
    for number, (schema, table, unseen) in enumerate(REJECTED):
        layout = Layout(0, TableName(schema, table), (Column("id", "integer"),))
        change = RejectedChange(layout, None, "I", 1, number + 1, ["1"], None, unseen)
        rejected_changes.keep(world.context.store, world.pair("geneva"), [change])


def rejected(world):
    kept = (one.change for one in rejected_changes.list_changes(world.context.store, world.pair("geneva")))
    return [(one.layout.name.schema, one.layout.name.table, one.unseen) for one in kept]


@pytest.mark.full
def test_the_others_go_on_exactly_under_constant_writes(world):
    reject(world)
    with background(*traffic.jobs(world.session)):
        with world.running():
            before = files(world)
            damage(world)
            world.inhibit(tables=[PARENT, HEAP])
            assert world.dump()["failed"] == {}
            assert world.release() == {"released": ["zurich", "geneva"]}
            found = verify(
                world.context, VerifyRequest(SOURCE, world.slaves, (PARENT, HEAP), initial=True), compare_here, 60
            )
            assert [one["different"] for one in found["slaves"].values()] == [0, 0]
        assert files(world) == before
        assert rejected(world) == REJECTED[2:], "what was rejected of these tables is there now"
    assert {world.status(slave) for slave in world.slaves} == {Status.NORMAL}
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_what_broke_off_is_filled_with_what_it_lacks_and_no_less(world):
    blocked.skip(world.context.store, world.pair("zurich"), HEAP, "eva")
    world.master.execute(
        "DELETE FROM heap WHERE a < 10; DELETE FROM child WHERE id < 10; DELETE FROM parent WHERE id < 3"
    )
    world.publish()

    def breaking(job):
        world.master.execute(
            "DELETE FROM heap WHERE a < 20; DELETE FROM child WHERE id < 20; UPDATE shift SET id = id + 1"
        )
        raise KeyboardInterrupt

    world.inhibit("zurich", tables=[PARENT, HEAP])
    with background(world.publish), pytest.raises(KeyboardInterrupt):
        world.dump("zurich", load=breaking)
    abandon(world.context, SOURCE, ["zurich"])
    with pytest.raises(SluiceError, match=r"SLC-196: .*zurich is INCONSISTENT.* lacks public.heap, public.parent"):
        world.inhibit("zurich", tables=[PARENT])
    assert world.status("zurich") is Status.INCONSISTENT
    world.inhibit("zurich", tables=[PARENT, HEAP])
    with background(world.publish):
        assert world.dump("zurich")["failed"] == {}
    world.release("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    assert blocked.skipped_tables(world.context.store, world.pair("zurich")) == {}


@pytest.mark.full
def test_what_cannot_be_filled_alone_is_refused_and_nothing_is_changed(world):
    with pytest.raises(SluiceError, match=r"SLC-040: public.other: no table that is watched"):
        world.inhibit("zurich", tables=[TableName("public", "other")])
    assert world.status("zurich") is Status.NORMAL
    world.inhibit("geneva", tables=[HEAP])
    with pytest.raises(SluiceError, match=r"SLC-914: .*an update for some"):
        world.dump("geneva", store=True)
    abandon(world.context, SOURCE, ["geneva"])
    world.inhibit("geneva", tables=[HEAP])

    def losing(job):
        make_inconsistent(world.context, SOURCE, "changes are not known", {Status.TRANSITION})
        return load_here(job)

    with (
        background(world.publish),
        pytest.raises(SluiceError, match=r"SLC-079: .*lost on the way to geneva"),
    ):
        world.dump("geneva", load=losing)
    with pytest.raises(SluiceError, match="SLC-196"):
        world.inhibit("geneva", tables=[HEAP])
    replications.record(world.context.store, world.pair("zurich"), ReplicationEvent.BREAK)
    with pytest.raises(SluiceError, match="SLC-196"):
        world.inhibit("zurich", tables=[HEAP])
