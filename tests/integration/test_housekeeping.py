"""What a source keeps of tables that are gone: as long as something that is queued needs it, and no longer."""

from __future__ import annotations

import pytest
from support.world import SOURCE

pytestmark = [pytest.mark.postgres]


def recorded(world):
    """The relations whose columns are recorded, by the name they had."""
    return [name for (name,) in world.master.execute("SELECT DISTINCT tablename FROM repl_layouts ORDER BY 1")]


def test_columns_of_tables_that_are_gone_stay_until_nothing_of_them_is_queued(build):
    world = build("CREATE TABLE t (id int)", {"public.*": {}})
    source = world.context.source(SOURCE)
    world.master.execute(
        "CREATE TABLE a (id int); INSERT INTO a VALUES (1); ALTER TABLE a ADD v text; INSERT INTO a VALUES (2, 'b');"
        "CREATE TABLE p (id int) PARTITION BY LIST (id); CREATE TABLE p1 PARTITION OF p DEFAULT;"
        "INSERT INTO p VALUES (3); DROP TABLE a, p"
    )
    undecided = world.session()
    undecided.execute("BEGIN; DROP TABLE t")
    source.capture.forget_layouts()
    assert recorded(world) == ["a", "p", "t"]
    undecided.execute("ROLLBACK")
    world.publish()
    assert recorded(world) == ["t"]
    world.drain()
    images = [change["new"] for change in world.log() if change["action"] == "I"]
    assert images == [["1"], ["2", "b"], ["3"]]
    assert world.differences() == {}
    source.close()


@pytest.mark.full
def test_columns_of_a_table_whose_drop_nobody_has_looked_at_yet_stay(build, weak):
    """Its DROP is still to come, and is read by them."""
    tables = "CREATE TABLE t (id int); CREATE TABLE u (id int)"
    world = build(tables, ["public.t", "public.u"], elsewhere={"master": weak})
    world.master.execute("DROP TABLE u")
    source = world.context.source(SOURCE)
    source.capture.forget_layouts()
    source.close()
    world.publish()
    assert [change["action"] for change in world.log()] == ["X"]
    assert recorded(world) == ["t"]
