"""Tables that are dropped, made anew or altered while they come in blocks: the load of all others goes on (R10)."""

from __future__ import annotations

import pytest
from support.updating import background, blocks_here
from support.world import SOURCE

from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.dump import ONLINE
from sluice.state.replication import ReplicationEvent
from sluice.store import replications

pytestmark = [pytest.mark.postgres]

MADE = """
CREATE TABLE {0} (id int PRIMARY KEY, n int NOT NULL DEFAULT 0, v text);
INSERT INTO {0} SELECT g, 0, 'x' FROM generate_series(1, 700) AS g;
"""
# By the name of the table to which it happens; None where the master has none of that name afterwards.
HAPPENS = {
    "anew": (
        "BEGIN; DROP TABLE anew; CREATE TABLE anew (id int PRIMARY KEY, other text);"
        "INSERT INTO anew VALUES (1, 'anew'); COMMIT",
        "public.anew",
    ),
    "called": ("ALTER TABLE called RENAME TO renamed", "public.renamed"),
    "gone": ("DROP TABLE gone", None),
    "dropped": ("ALTER TABLE dropped DROP COLUMN v", "public.dropped"),
    "named": ("ALTER TABLE named RENAME COLUMN v TO w", "public.named"),
    "moved": ("ALTER TABLE moved SET SCHEMA elsewhere", "elsewhere.moved"),
    "added": ("ALTER TABLE added ADD COLUMN c int DEFAULT 5", "public.added"),
    "typed": ("ALTER TABLE typed ALTER COLUMN v TYPE varchar(90)", "public.typed"),
}


@pytest.mark.full(but=["few"])
@pytest.mark.parametrize("kinds", [("named", "gone"), tuple(HAPPENS)], ids=["few", "all"])
def test_what_becomes_of_a_table_is_no_end_of_the_load(updating, kinds):
    """It happens behind the point of a round, whose blocks are put off."""
    tables = [*kinds, "stays"]
    ddl = "CREATE SCHEMA elsewhere;" + "".join(map(MADE.format, tables))
    world = updating(ddl, [f"public.{name}" for name in tables], {}, source={"blocks": {"rows": 300}})
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    told, at = [], 2

    def load(job):
        if len(told) == at:
            for name in kinds:
                world.master.execute(HAPPENS[name][0])
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
    for table in ["public.stays", *filter(None, (HAPPENS[name][1] for name in kinds))]:
        assert world.rows("zurich", table) == world.rows("master", table)
    for name in kinds:
        if HAPPENS[name][1] != f"public.{name}":
            assert world.reader("zurich").execute("SELECT to_regclass(%s)", [f"public.{name}"]).fetchone() == (None,)
