"""Changes of one master on a table of a slave in which rows of another one are, too: what would take these stops it."""

from __future__ import annotations

import pytest
from support.several import Several

from sluice.commands import retry_rejected
from sluice.commands.unblock import decide, remove_first
from sluice.errors import SluiceError
from sluice.model.names import Pair
from sluice.monitor.check import findings
from sluice.state.ddl_question import Decision
from sluice.state.dispatcher import Hold
from sluice.state.replication import Status
from sluice.store import rejected_changes, replications

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL DEFAULT 0); CREATE TABLE own (id int PRIMARY KEY)"
EAST = Pair("east", "hub")


def hub(several, **more) -> Several:
    """East, which alone has a table `own`, and west with rows of their own, which have arrived in the hub."""
    world = several(DDL, {("east", "hub"): more, ("west", "hub"): more}, ["public.*"])
    world.configure(lambda settings: settings["sources"]["west"].update(tables={"public.t": {}, "public.later*": {}}))
    world.configure(lambda settings: settings["slaves"]["hub"].update(on_existing_rows="merge"))
    world.at("east").execute("INSERT INTO t VALUES (1), (3); INSERT INTO own VALUES (1)")
    world.at("west").execute("INSERT INTO t VALUES (2)")
    world.until_quiet()
    return world


def keys(world, table="t"):
    return sorted(key for (key,) in world.at("hub").execute(f"SELECT id FROM {table}".encode()))


def stopped(world, pair, error):
    """What a drain says that stops; and again, when it is let go on without anything being fixed."""
    world.publish(pair.source)
    for _ in range(2):
        with pytest.raises(SluiceError, match=error) as caught:
            world.drain(pair.source, pair.slave)
        replications.lift(world.context.store, pair, Hold.EXCEPTION, "go on")
    return caught.value


@pytest.mark.full(but=["one_to_one"])
@pytest.mark.parametrize("mode", ["batch", "one_to_one"])
def test_a_truncate_takes_no_rows_of_others_and_stops_the_slave_in_front_of_it(several, mode):
    world = hub(several, mode=mode)
    east, west = world.at("east"), world.at("west")
    east.execute("INSERT INTO t VALUES (5)")
    east.execute("TRUNCATE own")
    east.execute("BEGIN; TRUNCATE t; INSERT INTO t VALUES (7); INSERT INTO own VALUES (2); COMMIT")
    error = stopped(world, EAST, r"SLC-231: .*public.t here, .*: public.t of west. The slave stands")
    assert "--remove-first" in error.hint
    # What comes before it is there.
    assert (keys(world), keys(world, "own")) == ([1, 2, 3, 5], [])
    west.execute("UPDATE t SET n = 1; INSERT INTO t VALUES (4)")
    world.publish("west")
    world.drain("west", "hub")
    world.at("hub").execute("DELETE FROM t WHERE id IN (1, 3, 5)")
    (ordinal,) = {int(word) for word in error.fact.partition("transaction ")[2].split()[:1]}
    remove_first(world.context, EAST, ordinal)
    east.execute("INSERT INTO t VALUES (9)")
    world.until_quiet()
    kept = rejected_changes.list_changes(world.context.store, EAST)
    assert [one.change.action for one in kept] == ["T", "I", "I"]
    with pytest.raises(SluiceError, match="SLC-231"):
        retry_rejected.carry_out(world.context, EAST, [])
    rejected_changes.drop(world.context.store, EAST, [kept[0].id])
    retry_rejected.carry_out(world.context, EAST, [])
    assert (keys(world), keys(world, "own")) == ([2, 4, 7, 9], [2])


# What the master does; whether it is decided to be done; what the hub has then.
LOSING = {
    "a drop that is not done": ("DROP TABLE t", Decision.REJECT, [1, 2, 3]),
    "a drop that is": ("DROP TABLE t", Decision.APPROVE, None),
    "a column that goes": ("ALTER TABLE t DROP COLUMN n", Decision.APPROVE, [1, 2, 3]),
    "rows that are computed anew": ("ALTER TABLE t ADD at timestamptz DEFAULT clock_timestamp()", None, [1, 2, 3]),
}


@pytest.mark.full(but=["a drop that is not done", "rows that are computed anew"])
@pytest.mark.parametrize(("ddl", "answer", "left"), LOSING.values(), ids=LOSING)
def test_ddl_that_loses_rows_of_others_waits_for_a_decision(several, ddl, answer, left):
    world = hub(several)
    world.at("east").execute("ALTER TABLE t ADD note text; ALTER TABLE own ADD n int")
    world.until_quiet()
    world.at("east").execute(ddl.encode())
    error = stopped(world, EAST, r"SLC-143: .*Lost with it: .*, and rows of others: public.t of west")
    assert keys(world) == [1, 2, 3]
    if answer is None:
        return
    key = int(error.hint.partition("--approve ")[2].split("`")[0])
    decide(world.context, EAST, key, answer)
    world.drain("east", "hub")
    there = world.at("hub").execute("SELECT to_regclass('t') IS NOT NULL").fetchone() == (True,)
    assert (keys(world) if there else None) == left


@pytest.mark.full
def test_a_create_leaves_a_table_alone_in_which_rows_of_others_are(several):
    world = hub(several, recreate_tables=True)
    for name in world.masters:
        world.at(name).execute("CREATE TABLE later (id int PRIMARY KEY)")
    world.at("west").execute("INSERT INTO later VALUES (2)")
    world.publish("west")
    world.drain("west", "hub")
    stopped(world, EAST, "SLC-141: .*public.later with rows")
    assert keys(world, "later") == [2]


ALL = ("east", "west", "south")


@pytest.mark.full
def test_masters_that_have_all_rows_of_each_other_take_none(several):
    arrows = {(one, other): {"block_loop": True} for one in ALL for other in ALL if one != other}
    world = several("CREATE TABLE t (id int PRIMARY KEY, n int)", arrows)
    for number, name in enumerate(ALL):
        world.at(name).execute("INSERT INTO t VALUES (%s, 0)", [number])
    world.until_quiet()
    assert [found.text for found in findings(world.context) if "SLC-230" in found.text] == []
    world.update("east", "west")
    world.until_quiet()
    assert world.rows("west") == world.rows("east") == world.rows("south")
    world.at("east").execute("TRUNCATE t")
    world.until_quiet()
    assert [world.rows(name).total() for name in ALL] == [0, 0, 0]
    # East does not hand on what it does not get.
    world.configure(lambda s: s["slaves"]["east"].update(tables={"public.t": {"where": "n > 0"}}))
    taking = {found.subject for found in findings(world.context) if "SLC-230" in found.text}
    assert taking == {"slave west", "slave south"}
    assert {replications.get(world.context.store, pair).status for pair in world.pairs} == {Status.NORMAL}
