"""What the DbResources say of their source, and that every name fits into them."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap

pytestmark = [pytest.mark.postgres]

LONG = "n" * 63
WIDE = "ü" * 31
NAMED = (
    f"CREATE SCHEMA {LONG}; CREATE TABLE {LONG}.{LONG} (id int PRIMARY KEY); "
    f"CREATE TABLE {LONG}.{WIDE} (id int PRIMARY KEY)"
)
PLAIN = "CREATE TABLE t (id int PRIMARY KEY)"


def configured(world, **settings):
    world.configure(lambda all_of_it: all_of_it["sources"][SOURCE].update(settings))
    bootstrap(world.context, SOURCE)


def widths(world):
    query = (
        "SELECT column_name, character_maximum_length FROM information_schema.columns"
        " WHERE table_name = 'repl_tables' AND data_type = 'character varying'"
    )
    return dict(world.master.execute(query).fetchall())


def labels(world):
    return world.master.execute("SELECT DISTINCT dbid, version FROM repl_items").fetchall()


@pytest.mark.full
def test_the_longest_names_fit_whatever_the_width(build):
    world = build(NAMED, [f"{LONG}.{LONG}", f"{LONG}.{WIDE}"], source={"char_width": 1, "char_width_small": 1})
    for table in (LONG, WIDE):
        world.master.execute(f"INSERT INTO {LONG}.{table} VALUES (1)")
    shown = world.master.execute("SELECT db_schema, tablename FROM repl_items ORDER BY repl_key").fetchall()
    assert shown == [(LONG, LONG), (LONG, WIDE)]
    registered = world.master.execute("SELECT tablename, status FROM repl_tables").fetchall()
    assert sorted(registered) == [(LONG, "OK"), (WIDE, "OK")]
    world.catch_up()
    assert world.differences() == {}


def test_columns_grow_with_the_configuration_and_never_shrink(build):
    world = build(PLAIN, ["public.t"])
    names = ("catalogname", "schemaname", "tablename", "trigger_name")
    assert widths(world) == {**dict.fromkeys(names, 63), "status": 10, "actions": 3}
    world.master.execute("INSERT INTO t VALUES (1)")
    configured(world, char_width=200, char_width_small=30)
    assert widths(world) == {**dict.fromkeys(names, 200), "status": 30, "actions": 3}
    configured(world, char_width=64, char_width_small=5)
    assert widths(world) == {**dict.fromkeys(names, 200), "status": 30, "actions": 3}
    world.catch_up()
    assert world.differences() == {}


def test_items_names_its_source_and_its_version(build):
    world = build(PLAIN, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1)")
    assert labels(world) == [(world.infos["master"].database, "0.0")]
    configured(world, messages={"db_id": "the 'till' 100 %s", "version": "0.5"})
    assert labels(world) == [("the 'till' 100 %s", "0.5")]
    configured(world, messages={})
    assert labels(world) == [(world.infos["master"].database, "0.0")]
