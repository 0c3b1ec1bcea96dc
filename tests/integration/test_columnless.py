"""A table without a column counts as none: an owner who drops the last one stops no other table of the source (R9)."""

from __future__ import annotations

from contextlib import closing

import pytest
from support.world import SOURCE

from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (a int, b int); CREATE TABLE other (id int PRIMARY KEY); CREATE TABLE empty ()"


@pytest.mark.full
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
        database.capture.install(world.context.watched_tables(SOURCE), world.context.watch_settings(SOURCE))
    world.master.execute("ALTER TABLE t ADD COLUMN c int; ALTER TABLE empty ADD COLUMN c int DEFAULT 7")
    world.master.execute("INSERT INTO t VALUES (5); INSERT INTO empty VALUES (6)")
    world.catch_up()
    assert (world.standing().status, world.standing().unwatched) == (Status.NORMAL, ())
    assert world.differences() == {}


@pytest.mark.full(but=["polled"])
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


ONE_COLUMN = {
    "filled": "CREATE TABLE filled (a int NOT NULL)",
    "keyed": "CREATE TABLE keyed (a int PRIMARY KEY)",
    "ruled": "CREATE DOMAIN d AS int NOT NULL; CREATE TABLE ruled (a d)",
    "checked": "CREATE TABLE checked (a int CHECK (a IS NOT NULL))",
    "one_null": "CREATE TABLE one_null (a int); CREATE UNIQUE INDEX ON one_null (coalesce(a, 0))",
}


@pytest.mark.full
@pytest.mark.parametrize("gone", ["DROP TABLE {}", ""], ids=["dropped", "left"])
def test_a_table_that_loses_its_only_column_between_two_looks_stops_no_slave(build, weak, gone):
    made = "; ".join(ONE_COLUMN.values())
    tables = f"{made}; CREATE TABLE other (id int PRIMARY KEY)"
    world = build(tables, [f"public.{table}" for table in (*ONE_COLUMN, "other")], elsewhere={"master": weak})
    for table in ONE_COLUMN:
        world.reader("zurich").execute(f"CREATE UNIQUE INDEX ON {table} (coalesce(a, 0))")
        world.master.execute(f"INSERT INTO {table} VALUES (1), (2)")
    world.catch_up()
    for n, t in enumerate(ONE_COLUMN, 3):
        world.master.execute(
            f"INSERT INTO {t} VALUES ({n}); DELETE FROM {t} WHERE a = 1; ALTER TABLE {t} DROP COLUMN a"
        )
        world.master.execute(f"INSERT INTO {t} SELECT FROM generate_series(1, 3); {gone.format(t)}")
    world.master.execute("INSERT INTO other VALUES (2)")
    world.catch_up()
    assert world.standing().status is Status.NORMAL
    assert world.rows("zurich", "public.other") == world.rows("master", "public.other")
    inserted = {change["new"][0] for change in world.log() if change["action"] == "I" and change["new"]}
    assert inserted >= {str(n) for n, _ in enumerate(ONE_COLUMN, 3)}


def test_rows_of_null_before_others_stay(build, weak):
    world = build("CREATE TABLE t (a int)", ["public.t"], elsewhere={"master": weak})
    world.master.execute("INSERT INTO t VALUES (NULL), (1), (NULL); UPDATE t SET a = NULL WHERE a = 1; DROP TABLE t")
    world.publish()
    assert [(change["action"], change["new"]) for change in world.log()][:4] == [
        ("I", [None]),
        ("I", ["1"]),
        ("I", [None]),
        ("U", [None]),
    ]
