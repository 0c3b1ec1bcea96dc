"""What is odd about blocks: a row of 200 megabytes, a slave that another source fills at the same time."""

from __future__ import annotations

from functools import partial

import pytest
from support.updating import background, blocks_here, compare_here, load_here
from support.world import SOURCE

from sluice.drain.run import drain
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.dump import ONLINE, dump
from sluice.initial_update.inhibit import InhibitRequest, inhibit
from sluice.initial_update.release import release
from sluice.publish.run import publish
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import replications
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]


@pytest.mark.full
def test_a_row_of_200_megabytes_comes_in_a_block_and_follows(updating):
    ddl = """
        CREATE TABLE large (id int PRIMARY KEY, v text, n int);
        INSERT INTO large SELECT g, 'v', 0 FROM generate_series(1, 50) AS g;
        UPDATE large SET v = repeat(E'tab\\t and \\\\ ', 20000000) WHERE id = 25;
    """
    world = updating(ddl, ["public.large"], source={"blocks": {"rows": 30, "patience_s": 60}})
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    world.inhibit("zurich")
    world.dump("zurich", mode=ONLINE)
    world.release("zurich")
    with world.running("zurich"):
        load_online(world.context, SOURCE, ["zurich"], blocks_here)
        world.master.execute("UPDATE large SET n = 1 WHERE id <> 25")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    hashed = "SELECT md5(v), length(v) FROM large WHERE id = 25"
    assert world.reader("zurich").execute(hashed).fetchone() == world.master.execute(hashed).fetchone()


@pytest.mark.full
def test_two_sources_fill_a_table_of_one_slave_at_the_same_time_one_of_them_in_blocks(several):
    """Each has rows of its own there, which are not the other's to take away."""
    world = several(
        "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL DEFAULT 0)",
        {("east", "hub"): {}, ("west", "hub"): {}},
        source={"blocks": {"rows": 200, "patience_s": 30}},
    )
    world.configure(lambda plain: plain["slaves"]["hub"].update(on_existing_rows="merge"))
    for number, master in enumerate(("east", "west")):
        world.at(master).execute(f"INSERT INTO t SELECT 2 * g + {number} FROM generate_series(0, 499) AS g".encode())
    at_once = {name: partial(publish, world.context, name, once=True) for name in ("east", "west")}
    jobs = [*at_once.values(), *(partial(drain, world.context, pair, once=True) for pair in world.pairs)]
    change = "UPDATE t SET n = n + 1 WHERE id % 7 < 2; DELETE FROM t WHERE id = (SELECT max(id) FROM t)"
    writes = [partial(world.at(master, "writes").execute, change) for master in ("east", "west")]
    rounds = []

    def while_the_other_is_filled(job):
        found = blocks_here(job)
        if len(rounds) == 0:
            dump(world.context, "west", ["hub"], load_here)
            release(world.context, "west", ["hub"])
        rounds.append(found)
        return found

    inhibit(world.context, "east", ["hub"])
    dump(world.context, "east", ["hub"], load_here, mode=ONLINE)
    release(world.context, "east", ["hub"])
    inhibit(world.context, "west", ["hub"])
    with background(*jobs), background(*writes, pause_s=0.3):
        load_online(world.context, "east", ["hub"], while_the_other_is_filled)
    with background(*jobs):
        for master in ("east", "west"):
            told = verify(world.context, VerifyRequest(master, ("hub",), initial=True), compare_here, 60)
            assert told["slaves"]["hub"]["different"] == 0
    assert len(rounds) > 1
    assert {replications.get(world.context.store, pair).status for pair in world.pairs} == {Status.NORMAL}
    assert world.rows("hub") == world.rows("east") + world.rows("west")
    # Rows of the other are no rows of the range that the master lacks.
    world.at("hub").execute("DELETE FROM t WHERE id BETWEEN 100 AND 109")
    world.at("hub").execute("UPDATE t SET n = -1 WHERE id BETWEEN 110 AND 119")
    for master in ("east", "west"):
        inhibit(world.context, master, ["hub"], InhibitRequest(keys=["public.t: 100 .. 119"]))
        dump(world.context, master, ["hub"], load_here, mode=ONLINE)
        release(world.context, master, ["hub"])
        with background(*jobs):
            load_online(world.context, master, ["hub"], blocks_here)
            verify(world.context, VerifyRequest(master, ("hub",), initial=True), compare_here, 60)
    assert world.rows("hub") == world.rows("east") + world.rows("west")
