"""Tables that are dropped, made anew or renamed while they come in blocks: the load of all others goes on (R10)."""

from __future__ import annotations

import pytest
from support.updating import background, blocks_here
from support.world import SOURCE

from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.dump import ONLINE
from sluice.state.replication import ReplicationEvent
from sluice.store import replications

pytestmark = [pytest.mark.postgres]

TABLES = ("anew", "called", "gone", "stays")
DDL = "".join(
    f"CREATE TABLE {name} (id int PRIMARY KEY, n int NOT NULL DEFAULT 0);"
    f"INSERT INTO {name} SELECT g FROM generate_series(1, 700) AS g;"
    for name in TABLES
)
HAPPENS = """
BEGIN; DROP TABLE anew; CREATE TABLE anew (id int PRIMARY KEY, other text); INSERT INTO anew VALUES (1, 'anew'); COMMIT;
ALTER TABLE called RENAME TO renamed;
DROP TABLE gone;
"""


@pytest.mark.full
def test_what_becomes_of_a_table_is_no_end_of_the_load(updating):
    """It happens behind the point of a round, whose blocks are put off."""
    world = updating(DDL, [f"public.{name}" for name in TABLES], {}, source={"blocks": {"rows": 300}})
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    told, at = [], 2

    def load(job):
        if len(told) == at:
            world.master.execute(HAPPENS)
        found = blocks_here(job)
        told.append({one.error.code for one in found if one.error})
        return found

    world.inhibit("zurich")
    assert world.dump("zurich", mode=ONLINE)["failed"] == {}
    world.release("zurich")
    writes = "UPDATE stays SET n = n + 1 WHERE id % 7 = 0; DELETE FROM stays WHERE id = (SELECT max(id) FROM stays)"
    writer = world.session()
    with background(lambda: writer.execute(writes)), world.running("zurich"):
        load_online(world.context, SOURCE, ["zurich"], load)
    assert told[at] == {95}
    assert not any(told[at + 1 :])
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    for table in ("anew", "renamed", "stays"):
        assert world.rows("zurich", f"public.{table}") == world.rows("master", f"public.{table}")
    assert world.reader("zurich").execute("SELECT to_regclass('gone'), to_regclass('called')").fetchone() == (
        None,
        None,
    )
