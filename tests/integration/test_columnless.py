"""A table without a column counts as none: an owner who drops the last one stops no other table of the source (R9)."""

from __future__ import annotations

from contextlib import closing

import pytest
from support.world import SOURCE

from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (a int, b int); CREATE TABLE other (id int PRIMARY KEY); CREATE TABLE empty ()"


@pytest.mark.parametrize("seen", [True, False], ids=["seen", "polled"])
def test_a_table_that_loses_its_last_column_is_taken_for_dropped_until_it_has_one(build, seen):
    world = build(DDL, ["public.t", "public.other", "public.empty"])
    world.reader("zurich").execute("DROP TABLE empty")
    if not seen:
        for (name,) in world.master.execute("SELECT evtname FROM pg_event_trigger").fetchall():
            world.master.execute(f'DROP EVENT TRIGGER "{name}"')
    world.master.execute("INSERT INTO t VALUES (1, NULL); INSERT INTO other VALUES (1)")
    world.catch_up()
    world.master.execute("INSERT INTO t VALUES (2, 2)")
    world.master.execute("ALTER TABLE t DROP COLUMN a, DROP COLUMN b")
    world.master.execute("INSERT INTO t DEFAULT VALUES; DELETE FROM t; INSERT INTO other VALUES (2)")
    world.catch_up()
    standing = world.standing()
    assert standing.status is Status.NORMAL
    assert [note.split(",")[0] for note in standing.unwatched] == [
        "public.empty has no column",
        "public.t has no column",
    ]
    assert world.rows("zurich", "public.other") == world.rows("master", "public.other")
    with closing(world.context.source(SOURCE)) as database:
        database.capture.install(world.context.watched(SOURCE), world.context.wanted(SOURCE))
    world.master.execute("ALTER TABLE t ADD COLUMN c int; ALTER TABLE empty ADD COLUMN c int DEFAULT 7")
    world.master.execute("INSERT INTO t VALUES (5); INSERT INTO empty VALUES (6)")
    world.catch_up()
    assert (world.standing().status, world.standing().unwatched) == (Status.NORMAL, ())
    assert world.differences() == {}


@pytest.mark.parametrize("seen", [True, False], ids=["seen", "polled"])
def test_a_table_that_is_dropped_after_its_last_column_stops_no_other_one(build, weak, seen):
    elsewhere = {} if seen else {"master": weak}
    world = build(DDL, ["public.t", "public.other", "public.empty"], elsewhere=elsewhere)
    world.master.execute("INSERT INTO t VALUES (1, NULL), (2, 2)")
    world.catch_up()
    world.master.execute("INSERT INTO t VALUES (3, 3); ALTER TABLE t DROP COLUMN a, DROP COLUMN b")
    world.master.execute("INSERT INTO t DEFAULT VALUES; DROP TABLE t; INSERT INTO other VALUES (2)")
    world.catch_up()
    assert world.standing().status is Status.NORMAL
    assert world.rows("zurich", "public.other") == world.rows("master", "public.other")
    assert world.reader("zurich").execute("SELECT to_regclass('public.t')").fetchone() == (None,)
