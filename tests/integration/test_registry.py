"""The registry TABLES: actions, names of triggers, order, debug flag; reconciled with the configuration."""

from __future__ import annotations

import psycopg
import pytest
from support.updating import SLAVES, load_here
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import ConfigError
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"
ALL = "INSERT INTO t VALUES (1, 'a'); UPDATE t SET v = 'b'; DELETE FROM t; TRUNCATE t"


def configured(world, **tables):
    """Let the configuration name these tables, and bring the source up to it."""
    settings = {f"public.{name}": entry for name, entry in tables.items()}
    world.configure(lambda plain: plain["sources"][SOURCE].update(tables=settings))
    return bootstrap(world.context, SOURCE)


def actions(world):
    return [action for (action,) in world.master.execute("SELECT db_action FROM repl_items ORDER BY repl_key")]


def own_triggers(world, table="t"):
    query = "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal ORDER BY 1"
    return [name for (name,) in world.master.execute(query, [table])]


# What is configured; what is captured of one of each; how many triggers that takes.
ACTIONS = {
    "not given": ({}, ["INSERT", "UPDATE", "DELETE", "TRUNCATE"], 2),
    "IUD": ({"actions": "IUD"}, ["INSERT", "UPDATE", "DELETE", "TRUNCATE"], 2),
    "in another order": ({"actions": "dui"}, ["INSERT", "UPDATE", "DELETE", "TRUNCATE"], 2),
    "IU": ({"actions": "IU"}, ["INSERT", "UPDATE"], 1),
    "ID": ({"actions": "ID"}, ["INSERT", "DELETE", "TRUNCATE"], 2),
    "UD": ({"actions": "UD"}, ["UPDATE", "DELETE", "TRUNCATE"], 2),
    "I": ({"actions": "I"}, ["INSERT"], 1),
    "U": ({"actions": "U"}, ["UPDATE"], 1),
    "D": ({"actions": "D"}, ["DELETE", "TRUNCATE"], 2),
    "initial copy only": ({"actions": "none"}, [], 0),
}


@pytest.mark.full
def test_the_trigger_fires_on_the_actions_that_are_wanted_now_and_no_other(build):
    world = build(PLAIN, {"public.t": ACTIONS["not given"][0]})
    for name, (settings, captured, count) in ACTIONS.items():
        configured(world, t=settings)
        before = len(actions(world))
        world.master.execute(ALL)
        assert (actions(world)[before:], len(own_triggers(world))) == (captured, count), name
        assert bootstrap(world.context, SOURCE)["added"] == [], name


def test_an_entry_without_actions_stands_for_all_three_and_one_that_is_not_ok_is_made_again(build):
    world = build(PLAIN, ["public.t"])
    world.master.execute("UPDATE repl_tables SET actions = NULL")
    assert bootstrap(world.context, SOURCE)["added"] == []
    world.master.execute(ALL)
    assert actions(world) == ["INSERT", "UPDATE", "DELETE", "TRUNCATE"]
    world.master.execute("UPDATE repl_tables SET status = 'CREATING'")
    assert bootstrap(world.context, SOURCE)["added"] == ["public.t"]
    assert world.master.execute("SELECT status FROM repl_tables").fetchall() == [("OK",)]


def statuses(world):
    return world.master.execute("SELECT tablename, status FROM repl_tables ORDER BY 1").fetchall()


@pytest.mark.parametrize("superuser", [True, False], ids=["with event triggers", "without"])
def test_an_entry_that_somebody_adds_puts_a_create_into_items_and_is_taken_up(build, weak, superuser):
    elsewhere = {} if superuser else {"master": weak}
    world = build(PLAIN + "; CREATE TABLE u (id int PRIMARY KEY, w text)", ["public.t"], elsewhere=elsewhere)
    world.master.execute("INSERT INTO u VALUES (1, 'before')")
    world.master.execute("INSERT INTO repl_tables (schemaname, tablename) VALUES ('public', 'u')")
    assert (actions(world), statuses(world)) == (["CREATE"], [("t", "OK"), ("u", "CREATING")])
    world.master.execute("ALTER TABLE u ADD n int; INSERT INTO u VALUES (2, 'meanwhile', 2)")
    assert own_triggers(world, "u") == []
    world.publish()
    assert statuses(world) == [("t", "OK"), ("u", "OK")]
    world.master.execute("UPDATE u SET w = 'after' WHERE id = 2")
    world.publish()
    log = [(change["action"], change["new"]) for change in world.log()]
    assert log[0][0] == "N"
    assert log[1:] == [("I", ["1", "before", None]), ("I", ["2", "meanwhile", "2"]), ("U", ["2", "after", "2"])]
    assert bootstrap(world.context, SOURCE)["removed"] == ["public.u"], "the configuration decides"


def test_an_entry_that_cannot_be_watched_is_not_taken(build):
    world = build(PLAIN, ["public.t"])
    for wrong in ("repl_items", "repl_queue"):
        with pytest.raises(psycopg.errors.RaiseException, match=f"no table repl.{wrong} that can be watched"):
            world.master.execute("INSERT INTO repl_tables (schemaname, tablename) VALUES ('repl', %s)", [wrong])
    assert statuses(world) == [("t", "OK")]


# What an entry calls the table t.
SPELLED = [("public", "T"), ("PUBLIC", "t"), ("public", " t")]


def test_an_entry_for_another_spelling_of_a_table_is_answered_and_one_for_a_table_to_come_waits(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", {"public.other": {"actions": "none"}})
    add = "INSERT INTO repl_tables (schemaname, tablename) VALUES (%s, %s)"
    for schema, table in SPELLED:
        with pytest.raises(
            psycopg.errors.RaiseException, match=f"no table {schema}.{table}; there is public.t"
        ) as told:
            world.master.execute(add, [schema, table])
        hint = "Name it as the catalog does, or set its status to WANTED if it is to come."
        assert told.value.diag.message_hint == hint
    world.master.execute(add, ["public", "later"])
    world.master.execute("INSERT INTO repl_tables (schemaname, tablename, status) VALUES ('public', 'T', 'WANTED')")
    assert dict(statuses(world)) == {"later": "WANTED", "other": "WANTED", "T": "WANTED"}
    world.master.execute('CREATE TABLE "T" (id int PRIMARY KEY)')
    assert ("T", "OK") in statuses(world)


# What an entry says that somebody adds; what the server answers.
REFUSED = {
    "a trigger before the checks": ({"trigger_name": "A_capture"}, "A_capture would fire before"),
    "a trigger called as the checks": ({"trigger_name": "RI_ConstraintTrigger_x"}, "would fire before"),
    "a name without room": ({"trigger_name": "z" * 62}, "is too long"),
    "no action": ({"actions": "IX"}, "some of I, U and D, and not IX"),
}


def test_an_entry_that_the_configuration_could_not_have_is_not_taken(build):
    world = build(PLAIN + "; CREATE TABLE u (id int PRIMARY KEY)", ["public.t"])
    for said, answer in REFUSED.values():
        ((column, value),) = said.items()
        add = f"INSERT INTO repl_tables (schemaname, tablename, {column}) VALUES ('public', 'u', %s)"
        with pytest.raises(psycopg.errors.RaiseException, match=answer):
            world.master.execute(add, [value])
        assert (actions(world), statuses(world)) == ([], [("t", "OK")])


def test_actions_of_an_entry_mean_the_same_in_small_letters(build):
    world = build(PLAIN + "; CREATE TABLE u (id int PRIMARY KEY)", ["public.t"])
    world.master.execute("INSERT INTO repl_tables (schemaname, tablename, actions) VALUES ('public', 'u', 'id')")
    world.master.execute("UPDATE repl_tables SET actions = 'u', status = 'CREATING' WHERE tablename = 't'")
    world.publish()
    assert statuses(world) == [("t", "OK"), ("u", "OK")]
    world.master.execute("INSERT INTO u VALUES (1); UPDATE u SET id = 2; DELETE FROM u; " + ALL)
    assert actions(world) == ["INSERT", "DELETE", "UPDATE"]


def test_an_entry_that_somebody_changes_has_one_trigger_still(build):
    world = build(PLAIN, ["public.t"])
    with pytest.raises(psycopg.errors.RaiseException, match="keeps its name"):
        world.master.execute("UPDATE repl_tables SET trigger_name = 'zother', status = 'CREATING'")
    world.publish()
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    assert actions(world) == ["INSERT"]


def test_an_entry_that_is_set_to_creating_gets_its_triggers_again_and_loses_nothing(build):
    world = build(PLAIN, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a'); UPDATE repl_tables SET debug = 1, status = 'CREATING'")
    busy = world.session()
    busy.execute("BEGIN; INSERT INTO t VALUES (2, 'b')")
    assert world.publish()["changes"] == 1, "what is in use is left for the next look, and holds up nothing"
    busy.execute("COMMIT")
    world.publish()
    world.master.execute("INSERT INTO t VALUES (3, 'c')")
    world.catch_up()
    assert (statuses(world), world.differences()) == ([("t", "OK")], {})
    assert world.master.execute("SELECT count(*) FROM repl_debug_table").fetchone() == (1,)
    assert world.status("zurich") is Status.NORMAL


def test_a_table_that_lost_its_triggers_is_not_made_ok_in_silence(build):
    world = build(PLAIN, {"public.t": {"trigger": "zcap"}})
    world.master.execute("UPDATE repl_tables SET status = 'CREATING'; ALTER TABLE t DISABLE TRIGGER zcap")
    world.publish()
    assert (statuses(world), world.left_out()) == ([("t", "OK")], {"public.t"})


def test_a_table_that_bootstrap_adds_later_has_a_create_in_items_and_the_first_ones_have_none(build):
    world = build(PLAIN + "; CREATE TABLE u (id int PRIMARY KEY)", ["public.t"])
    assert actions(world) == []
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    assert configured(world, t={}, u={})["added"] == ["public.u"]
    world.master.execute("INSERT INTO u VALUES (1)")
    assert actions(world) == ["INSERT", "CREATE", "INSERT"]
    assert configured(world, t={}, u={"actions": "I"})["added"] == ["public.u"]
    assert actions(world) == ["INSERT", "CREATE", "INSERT"], "it was watched before"
    world.catch_up()
    assert world.differences() == {}


def test_the_columns_of_the_registry_are_those_of_the_guide(build):
    world = build(PLAIN, {"public.t": {"trigger": "zcap", "actions": "UI", "debug": 1}})
    found = world.master.execute("SELECT * FROM repl_tables")
    names = [column.name.upper() for column in found.description]
    row = dict(zip(names, found.fetchone(), strict=True))
    assert row.pop("REPL_KEY") > 0
    row.pop("RELID")
    assert row.pop("OLD_IMAGES") == "full"
    assert row == {
        "CATALOGNAME": " ",
        "SCHEMANAME": "public",
        "TABLENAME": "t",
        "ACTIONS": "IU",
        "STATUS": "OK",
        "TRIGGER_NAME": "zcap",
        "DEBUG": 1,
    }


def test_a_table_that_is_debugged_leaves_a_line_for_each_change_until_it_is_not(build):
    world = build(PLAIN, {"public.t": {"debug": 1}})
    world.master.execute(ALL)
    query = "SELECT split_part(line, ' ', 1) FROM repl_debug_table ORDER BY repl_key"
    lines = [("INSERT",), ("UPDATE",), ("DELETE",), ("TRUNCATE",)]
    assert world.master.execute(query).fetchall() == lines
    assert configured(world, t={})["added"] == ["public.t"]
    world.master.execute(ALL)
    assert world.master.execute(query).fetchall() == lines


@pytest.mark.full
def test_a_trigger_of_the_application_keeps_its_name(build):
    """Each name that we need is looked at, not the row trigger's alone."""
    world = build(PLAIN, {"public.t": {"actions": "none"}})
    world.master.execute("CREATE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
    for name in ("zcap", "zcap_t", "W_zcap"):
        event = "TRUNCATE ON t FOR EACH STATEMENT" if name == "zcap_t" else "INSERT ON t FOR EACH ROW"
        world.master.execute(f'CREATE TRIGGER "{name}" AFTER {event} EXECUTE FUNCTION own()')
        with pytest.raises(ConfigError, match=f"SLC-041: public.t has a trigger {name} of its own"):
            configured(world, t={"trigger": "zcap"})
        assert own_triggers(world) == [name]
        world.master.execute(f'DROP TRIGGER "{name}" ON t')


def test_the_longest_name_is_taken_and_another_one_takes_its_place(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY DEFERRABLE)", {"public.t": {"trigger": "z" * 61}})
    assert own_triggers(world) == ["W_" + "z" * 61, "z" * 61, "z" * 61 + "_t"]
    configured(world, t={"trigger": "Über uns"})
    assert own_triggers(world) == ["W_Über uns", "Über uns", "Über uns_t"]


def test_a_renamed_trigger_is_not_doubled(build):
    world = build(PLAIN, {"public.t": {"trigger": "zcap"}})
    world.master.execute("ALTER TRIGGER zcap ON t RENAME TO zother")
    assert bootstrap(world.context, SOURCE)["added"] == ["public.t"]
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    assert actions(world) == ["INSERT"]


@pytest.mark.full
def test_an_initial_update_reconciles_as_a_bootstrap_does(updating):
    ddl = "CREATE TABLE a (id int); CREATE TABLE b (id int); CREATE TABLE c (id int PRIMARY KEY)"
    world = updating(ddl, ["public.a", "public.c"])
    wanted = {"public.b": {}, "public.c": {"actions": "I", "trigger": "zcap"}}
    world.configure(lambda plain: plain["sources"][SOURCE].update(tables=wanted))
    world.update()
    assert [own_triggers(world, table) for table in "ac"] == [[], ["zcap"]]
    world.master.execute("INSERT INTO a VALUES (1); INSERT INTO b VALUES (2); INSERT INTO c VALUES (3); DELETE FROM c")
    found = world.master.execute(
        "SELECT tablename, db_action FROM repl_items ORDER BY repl_key DESC LIMIT 2"
    ).fetchall()
    assert found == [("c", "INSERT"), ("b", "INSERT")]
    assert statuses(world) == [("b", "OK"), ("c", "OK")]


ORDERED = """
    CREATE TABLE a (id int PRIMARY KEY);
    CREATE TABLE b (id int PRIMARY KEY);
    CREATE TABLE parent (id int PRIMARY KEY);
    CREATE TABLE child (id int REFERENCES parent)
"""


def registered(world):
    return [name for (name,) in world.master.execute("SELECT tablename FROM repl_tables ORDER BY repl_key")]


# What is configured; the order of the registry, of creation and of loading.
ORDERS = {
    "unspecified first, as negative ones": (
        {"b": {"sequence": -7}, "a": {"sequence": 0}, "parent": {"sequence": 2}, "child": {"sequence": 1}},
        ["b", "a", "child", "parent"],
    ),
    "ties by foreign key": (
        {"child": {"sequence": 3}, "parent": {"sequence": 3}, "b": {"sequence": 1}},
        ["a", "b", "parent", "child"],
    ),
}


@pytest.mark.full
@pytest.mark.parametrize(("settings", "order"), ORDERS.values(), ids=ORDERS)
def test_tables_are_registered_created_and_loaded_in_the_order_of_their_sequence(updating, settings, order):
    tables = {f"public.{name}": settings.get(name, {}) for name in ("child", "b", "a", "parent")}
    world = updating(ORDERED, tables)
    world.master.execute("INSERT INTO parent VALUES (1); INSERT INTO child VALUES (1); INSERT INTO a VALUES (1)")
    assert registered(world) == order
    seen = []

    def load(job):
        seen.extend(dict.fromkeys(chunk.leaf.table.table for chunk in job.chunks))
        return load_here(job)

    world.update(load=load)
    numbers = [max(settings.get(name, {}).get("sequence", -1), -1) for name in seen]
    assert (numbers, set(seen)) == (sorted(numbers), set(order))
    for slave in SLAVES:
        made = world.reader(slave).execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname = ANY (%s) ORDER BY oid", [order]
        )
        assert [name for (name,) in made] == order
    world.catch_up()
    assert world.differences() == {}


def test_the_order_is_kept_and_follows_the_configuration(build):
    world = build(ORDERED, ["public.b", "public.a"])
    query = "SELECT tablename, repl_key FROM repl_tables ORDER BY repl_key"
    kept = world.master.execute(query).fetchall()
    configured(world, a={}, b={})
    assert world.master.execute(query).fetchall() == kept
    configured(world, a={"sequence": 1}, b={}, parent={})
    assert registered(world) == ["b", "parent", "a"]


@pytest.mark.full
def test_a_cycle_is_named_and_loaded_with_its_constraints_after_the_data(updating):
    world = updating(
        "CREATE TABLE hen (id int PRIMARY KEY, egg int); CREATE TABLE egg (id int PRIMARY KEY, hen int REFERENCES hen)",
        ["public.hen", "public.egg"],
    )
    world.master.execute("ALTER TABLE hen ADD FOREIGN KEY (egg) REFERENCES egg DEFERRABLE INITIALLY DEFERRED")
    world.master.execute("BEGIN; INSERT INTO hen VALUES (1, 1); INSERT INTO egg VALUES (1, 1); COMMIT")
    assert bootstrap(world.context, SOURCE)["cycles"] == [["public.egg", "public.hen"]]
    world.update()
    world.catch_up()
    assert world.differences() == {}
    for slave in SLAVES:
        keys = world.reader(slave).execute("SELECT count(*) FROM pg_constraint WHERE contype = 'f'").fetchone()
        assert keys == (2,)


def test_bootstrap_repeats_what_the_server_says_if_that_is_wanted(build, caplog):
    world = build(PLAIN, ["public.t"])
    for wanted in (False, True):
        world.configure(lambda plain, wanted=wanted: plain["sources"][SOURCE].update(bootstrap_warnings=wanted))
        with caplog.at_level("INFO", logger="sluice"):
            bootstrap(world.context, SOURCE)
        assert ("already exists, skipping" in caplog.text) is wanted
