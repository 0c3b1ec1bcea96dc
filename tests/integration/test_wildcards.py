"""Wildcards: which tables they take, and tables that are made later, of which not one row may be missed."""

from __future__ import annotations

import pytest
from support.world import SOURCE
from test_ddl import named, stream

from sluice.capture.reconcile import bootstrap
from sluice.model.names import TableName
from sluice.model.watched import find_entry
from sluice.monitor import alerts
from sluice.monitor.check import findings
from sluice.state.condition import ReplicationCondition

pytestmark = [pytest.mark.postgres]

DDL = """
    CREATE SCHEMA x; CREATE SCHEMA y;
    CREATE TABLE x.a (id int); CREATE TABLE x.b (id int); CREATE TABLE x.log_1 (id int); CREATE TABLE y.a (id int);
    CREATE TABLE x.parted (id int) PARTITION BY LIST (id); CREATE TABLE x.one PARTITION OF x.parted FOR VALUES IN (1);
    CREATE VIEW x.seen AS SELECT 1; CREATE TABLE x.empty ()"""
EVERYTHING = {"x.*": {}, "x.log_*": {"exclude": True}, "x.log_kept": {"actions": "I"}, "x.b": {"exclude": True}}


@pytest.fixture
def world(build):
    return build(DDL + "; CREATE TABLE x.log_kept (id int)", EVERYTHING)


def actions(world):
    return [action for action, _ in stream(world)]


def test_a_wildcard_takes_tables_and_leaves_out_exclusions_partitions_views_and_other_schemas(world):
    watched = world.context.watched_tables(SOURCE)
    assert {str(name): watch.actions for name, watch in watched.items()} == {
        "x.a": "IUD",
        "x.log_kept": "I",
        "x.parted": "IUD",
    }
    registered = world.master.execute("SELECT tablename FROM repl_tables ORDER BY 1").fetchall()
    assert registered == [("a",), ("log_kept",), ("parted",)]
    assert bootstrap(world.context, SOURCE)["added"] == []
    looked = [finding for finding in findings(world.context) if finding.subject.startswith(("source", "slave"))]
    assert len(looked) == 2
    assert all(finding.good for finding in looked)
    patterns = world.context.watch_settings(SOURCE).entries
    for name in ("a", "b", "log_", "log_kept", "log_kept2", "lo", "z", "A"):
        found = world.master.execute("SELECT actions FROM repl_wants('x', %s)", [name]).fetchone()
        ours = find_entry(patterns, TableName("x", name))
        assert (found and found[0]) == (ours and patterns[ours].actions), "source and configuration decide alike"
    assert world.master.execute("SELECT FROM repl_wants('y', 'a')").fetchone() is None


def test_a_wildcard_leaves_alone_what_we_have_made_ourselves(build):
    world = build("CREATE TABLE a (id int)", {"public.*": {}})

    def second(settings):
        tables = {"public.*": {}}
        settings["sources"]["second"] = {"connection": "master", "prefix": "TWO_", "tables": tables}

    world.configure(second)
    bootstrap(world.context, "second")
    assert (
        list(world.context.watched_tables(SOURCE))
        == list(world.context.watched_tables("second"))
        == [TableName("public", "a")]
    )
    assert stream(world) == []


def test_a_table_made_later_is_captured_from_its_first_row(world):
    with world.master.transaction():
        world.master.execute("CREATE TABLE x.later (id int PRIMARY KEY, v text DEFAULT 'd')")
        world.master.execute("INSERT INTO x.later VALUES (1); UPDATE x.later SET v = 'e'; DELETE FROM x.later")
        world.master.execute("TRUNCATE x.later")
    (action, content), *rows = stream(world)
    assert (action, named(content["after"])) == ("N", "x.later")
    assert "before" not in content
    assert content["after"]["key"] == ["id"]
    assert content["statement"].startswith("CREATE TABLE x.later")
    assert rows == [("I", "(1,d)"), ("U", "(1,e)"), ("D", "(1,e)"), ("T", None)]
    assert TableName("x", "later") in world.context.watched_tables(SOURCE)
    assert bootstrap(world.context, SOURCE)["added"] == []
    world.publish()
    assert len({change["ordinal"] for change in world.log()}) == 1


def test_what_nobody_wants_is_left_alone(world):
    world.master.execute(
        "CREATE TABLE x.log_2 (id int); CREATE TABLE y.b (id int); CREATE TEMP TABLE a (id int);"
        "CREATE TABLE x.none ();"
        "INSERT INTO x.log_2 VALUES (1); INSERT INTO y.b VALUES (1); CREATE UNLOGGED TABLE y.c AS SELECT 1"
    )
    assert stream(world) == []


# How a table with rows comes about.
FILLED = {
    "create table as": "CREATE TABLE x.filled AS SELECT 7 AS id, 'a'::text AS v",
    "select into": "SELECT 7 AS id, 'a'::text AS v INTO x.filled",
    "a rename": "CREATE TABLE y.f AS SELECT 7 AS id, 'a'::text AS v; ALTER TABLE y.f SET SCHEMA x;"
    "ALTER TABLE x.f RENAME TO filled",
}


@pytest.mark.full
def test_rows_that_were_there_before_the_triggers_come_as_inserts_if_wanted(world):
    for made, content in (*((made, True) for made in FILLED.values()), (FILLED["a rename"], False)):
        world.configure(lambda settings, to=content: settings["sources"][SOURCE].update(initial_content=to))
        bootstrap(world.context, SOURCE)
        before = len(stream(world))
        world.master.execute(made + "; INSERT INTO x.filled VALUES (8, 'b')")
        (first, _), *others = stream(world)[before:]
        assert first == "N", made
        assert [text for action, text in others if action == "I"] == (["(7,a)"] if content else []) + ["(8,b)"], made
        world.master.execute("DROP TABLE x.filled")


@pytest.mark.full
def test_a_schema_made_with_its_tables_is_seen(build):
    world = build("CREATE TABLE a (id int)", {"public.a": {}, "z.*": {}})
    world.master.execute("CREATE SCHEMA z CREATE TABLE t (id int) CREATE TABLE u (id int); INSERT INTO z.u VALUES (1)")
    assert actions(world) == ["N", "N", "I"]


@pytest.mark.full
def test_a_table_dropped_and_made_anew_within_one_sweep_is_two_tables(build):
    world = build("CREATE TABLE t (id int, v text)", ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a'); DROP TABLE t; CREATE TABLE t (n numeric)")
    world.master.execute("INSERT INTO t VALUES (2.5)")
    assert actions(world) == ["I", "X", "N", "I"]
    world.publish()
    assert [change["new"] for change in world.log() if change["action"] == "I"] == [["1", "a"], ["2.5"]]
    assert world.master.execute("SELECT status FROM repl_tables").fetchall() == [("OK",)]


@pytest.mark.full
def test_a_table_made_in_a_transaction_that_is_rolled_back_leaves_nothing(world):
    before = world.master.execute("SELECT * FROM repl_tables ORDER BY 3").fetchall()
    with world.master.transaction(force_rollback=True):
        world.master.execute("CREATE TABLE x.later AS SELECT 1 AS id")
    assert stream(world) == []
    assert world.master.execute("SELECT * FROM repl_tables ORDER BY 3").fetchall() == before
    world.master.execute("CREATE TABLE x.later (id int)")
    assert actions(world) == ["N"]


@pytest.mark.full
def test_without_detection_columns_are_recorded_and_nothing_else(world):
    world.configure(lambda settings: settings["sources"][SOURCE].update(detect_ddl=False))
    bootstrap(world.context, SOURCE)
    world.master.execute("ALTER TABLE x.a ADD v text; INSERT INTO x.a VALUES (1, 'b'); CREATE TABLE x.later (id int)")
    world.master.execute("DROP TABLE x.log_kept")
    assert stream(world) == [("I", "(1,b)")]
    world.publish()
    assert world.log()[-1]["new"] == ["1", "b"]
    assert world.standing().unwatched[0].startswith("x.later is not captured: the last bootstrap did not know of it")


def test_a_role_that_makes_tables_needs_no_right_on_ours_and_may_give_them_odd_names(world):
    world.master.execute(
        "CREATE ROLE maker_of_tables; GRANT CREATE, USAGE ON SCHEMA x TO maker_of_tables; SET ROLE maker_of_tables"
    )
    world.master.execute("CREATE TABLE x.made (id int); INSERT INTO x.made VALUES (1); RESET ROLE")
    assert actions(world) == ["N", "I"]
    world.master.execute("""CREATE TABLE x."q""u'o %s" AS SELECT 'a'::text AS "sluice_row", 1 AS "x%I" """)
    assert stream(world)[3:] == [("I", "(a,1)")]


@pytest.mark.full
def test_a_table_that_could_not_be_watched_when_it_was_made_is_watched_by_the_next_run(world):
    busy, maker = world.session(), world.session()
    with busy.transaction():
        busy.execute("LOCK TABLE repl_tables")
        maker.execute("SET lock_timeout = '100ms'; CREATE TABLE x.later (id int); INSERT INTO x.later VALUES (1)")
    assert stream(world) == []
    world.publish()
    world.master.execute("INSERT INTO x.later VALUES (2)")
    world.publish()
    assert [(row["action"], row["new"]) for row in world.log()][1:] == [("I", ["1"]), ("I", ["2"])]


def test_a_table_that_cannot_be_watched_stops_nobody(world):
    world.master.execute("CREATE TABLE y.later (id int)")
    (name,) = world.master.execute("SELECT 'RI_z_repl_capture_' || 'y.later'::regclass::oid").fetchone()
    world.master.execute("CREATE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
    world.master.execute(f'CREATE TRIGGER "{name}" AFTER INSERT ON y.later EXECUTE FUNCTION own()')
    world.master.execute("ALTER TABLE y.later SET SCHEMA x; INSERT INTO x.later VALUES (1); INSERT INTO x.a VALUES (1)")
    assert world.publish()["changes"] == 1
    told = world.standing()
    assert told.condition is ReplicationCondition.INCOMPLETE
    (note,) = told.lacking
    assert note.startswith("x.later is not captured yet")
    told_by = {"to": "smtp://mails?to=dba@example.com", "after_s": 0, "failed_runs": False}
    world.configure(lambda settings: settings.update(alerts=told_by))
    assert all(line in alerts.look(world.context)["text"] for line in note.splitlines()), "why, and what to type"
    world.master.execute(f'DROP TRIGGER "{name}" ON x.later')
    assert world.publish()["changes"] == 2
    assert not world.standing().lacking


def test_an_idle_publisher_looks_for_such_tables_once_and_not_at_every_sweep(world):
    source = world.context.source(SOURCE)
    newest = "SELECT max(query_start) FROM pg_stat_activity WHERE application_name = 'sluice publish'"
    source.capture.poll_ddl()
    before = world.master.execute(newest).fetchone()
    source.capture.poll_ddl()
    assert world.master.execute(newest).fetchone() == before != (None,)
    source.close()


@pytest.mark.full
def test_what_is_wanted_of_a_table_is_so_from_its_first_row_and_goes_with_it(build):
    world = build("CREATE TABLE t (id int)", {"public.*": {"debug": 1}})
    world.master.execute("CREATE TABLE u (id int); INSERT INTO u VALUES (1); DROP TABLE u")
    assert world.master.execute("SELECT FROM repl_debug_table WHERE line LIKE 'INSERT on public.u %'").rowcount == 1
    assert world.master.execute("SELECT tablename FROM repl_tables").fetchall() == [("t",)]
