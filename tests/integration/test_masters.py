"""Each kind of master, by the same tests: its values, and its changes, arrive by an update and by the stream."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from support.masters import MASTERS
from support.updating import blocks_here
from support.world import SOURCE

from sluice.initial_update.blocks.load import load_online

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def afterwards():
    """What is left to do once the sessions of the worlds have ended."""
    with ExitStack() as stack:
        yield stack


@pytest.mark.full
@pytest.mark.parametrize("kind", MASTERS)
def test_values_and_changes_of_a_master_arrive_by_an_update_and_by_the_stream(afterwards, updating, kind):
    master = MASTERS[kind]
    world = master.world(updating, afterwards)
    master.insert(world, 0)
    world.update()
    master.insert(world, 100)
    world.publish()
    rows = [change["new"] for change in world.log() if change["action"] == "I"]
    assert {int(number) % 100: texts for number, *texts in rows} == master.texts
    assert world.verify(initial=True) == {"zurich": 0}
    ordinal = max(change["ordinal"] for change in world.log())
    for statement in (
        "UPDATE t SET v0 = NULL WHERE id >= 100",
        "UPDATE t SET id = id + 1000 WHERE id = 1",
        "DELETE FROM t WHERE id = 0",
        "INSERT INTO t (id) SELECT 5000 + id FROM t",
    ):
        world.master.execute(statement)
    assert world.verify() == {"zurich": 0}
    count = len(master.texts)
    changes = [change["action"] for change in world.log(ordinal)]
    assert changes == ["U"] * (count + 1) + ["D"] + ["I"] * (2 * count - 1)
    for command in (
        "ALTER TABLE t ADD added varchar(9) DEFAULT 'it''s'",
        "UPDATE t SET added = NULL WHERE id >= 5000",
        "ALTER TABLE t RENAME COLUMN added TO renamed",
        "ALTER TABLE t DROP COLUMN v1",
    ):
        world.master.execute(command)
    assert world.verify() == {"zurich": 0}
    world.master.execute("TRUNCATE TABLE t")
    world.publish()
    assert [change["action"] for change in world.log(ordinal)][-1] == "T"


@pytest.mark.full
@pytest.mark.parametrize("kind", MASTERS)
def test_a_table_of_a_master_comes_in_blocks_while_its_stream_goes_on(afterwards, updating, kind):
    world = MASTERS[kind].world(updating, afterwards)
    world.configure(lambda settings: settings["sources"][SOURCE].update(blocks={"rows": 5}))
    for base in (0, 100, 200):
        MASTERS[kind].insert(world, base)
    world.inhibit()
    assert world.dump(mode="online")["failed"] == {}
    world.release()
    world.master.execute("UPDATE t SET id = id + 1000 WHERE id < 2")
    world.master.execute("DELETE FROM t WHERE id = 100")
    with world.running():
        assert load_online(world.context, SOURCE, world.slaves, blocks_here)["rows"]["zurich"] > 0
    assert world.verify(initial=True) == {"zurich": 0}
