"""Capture: what reaches ITEMS, in which order, and how it looks to whoever selects from it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from support.lasting import lasting
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import ConfigError
from sluice.messages import column_literal
from sluice.monitor.check import findings

pytestmark = [pytest.mark.postgres]

PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"
EMPTIED = "TRUNCATE t; BEGIN; SET LOCAL sluice.purge = on; DELETE FROM repl_queue; COMMIT"


@pytest.fixture(scope="module")
def shared(server, tmp_path_factory):
    with lasting(server, tmp_path_factory.mktemp("capture"), PLAIN, ["public.t"]) as world:
        yield world


@pytest.fixture
def world(shared):
    """A master that several tests look at, with nothing in its table nor in its queue."""
    shared.master.execute(EMPTIED)
    return shared


def keys(world, table="t"):
    """(key, action, old key, new key) of what is queued for a table, in order."""
    query = "SELECT repl_key, db_action, oldcontent, content FROM REPL_ITEMS WHERE tablename = %s ORDER BY repl_key"
    return world.master.execute(query, [table]).fetchall()


def actions(world, table="t"):
    return [action for _, action, _, _ in keys(world, table)]


def wait_until_blocked(world, session):
    """Until that session waits for a lock."""
    query = "SELECT cardinality(pg_blocking_pids(%s)) > 0"
    until = time.monotonic() + 120
    while not world.master.execute(query, [session.info.backend_pid]).fetchone()[0]:
        assert time.monotonic() < until, "it never waited"
        time.sleep(0.01)


@pytest.mark.smoke
def test_items_shows_the_columns_of_the_guide_and_its_literals(world):
    world.master.execute("INSERT INTO t VALUES (5, 'a < b')")
    world.master.execute("UPDATE t SET v = NULL")
    world.master.execute("DELETE FROM t")
    found = world.master.execute("SELECT * FROM REPL_ITEMS ORDER BY 1")
    assert [column.name.upper() for column in found.description] == [
        "REPL_KEY", "TRANS_KEY", "DBID", "TABLENAME", "GUID", "DB_ACTION", "DB_CATALOG", "DB_SCHEMA", "CONTENT",
        "OLDCONTENT", "VERSION",
    ]  # fmt: skip
    before = '<col name="id">5</col><col name="v"><![CDATA[a < b]]></col>'
    after = '<col name="id">5</col><col name="v" type="null"/>'
    database = world.infos["master"].database
    assert [row[2:] for row in found] == [
        (database, "t", None, "INSERT", None, "public", before, None, "0.0"),
        (database, "t", None, "UPDATE", None, "public", after, before, "0.0"),
        (database, "t", None, "DELETE", None, "public", None, after, "0.0"),
    ]


def test_items_names_what_was_done(build):
    world = build(f"{PLAIN}; CREATE TABLE late (id int PRIMARY KEY DEFERRABLE)", {"public.*": {}})
    world.master.execute("INSERT INTO late VALUES (1)")
    assert actions(world, "late") == ["INSERT", "COMMIT"]
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.catch_up()
    world.master.execute("UPDATE t SET id = 2; DELETE FROM t; TRUNCATE t; ALTER TABLE t RENAME TO u; DROP TABLE u")
    world.master.execute("CREATE TABLE t (id int)")
    found = world.master.execute("SELECT tablename, db_action FROM repl_items ORDER BY repl_key").fetchall()
    done = [("t", "UPDATE"), ("t", "DELETE"), ("t", "TRUNCATE"), ("u", "ALTER"), ("u", "DROP"), ("t", "CREATE")]
    assert found == done


ODD_NAMES = (
    'CREATE TABLE t (id int PRIMARY KEY, "a ""q"" & <x>" text, "Größe" bytea, "line\nbreak" text, "n\x01" numeric[])'
)
ODD_VALUES = [chr(code) for code in (*range(1, 0x21), 0x7F, 0x85, 0xFEFF, 0xFFFE, 0xFFFF, 0x1F600)]
ODD_VALUES += ["", " ", '"', "\\", '""', "\\\\", "a,b", "(a)", "]]>", "<![CDATA[x]]>", "&amp;", "'", "\r\n", "\\."]


def test_python_and_the_database_write_the_same_literal_for_every_value(build):
    world = build(ODD_NAMES, ["public.t"])
    rows = [
        (number, value, value.encode(), None if number % 3 else value, [number, None])
        for number, value in enumerate(ODD_VALUES)
    ]
    with world.master.cursor() as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s, %s, %s, %s, %s)", rows)
    names = ["id", 'a "q" & <x>', "Größe", "line\nbreak", "n\x01"]
    expected = [column_literal.render(names, [str(i), a, b, c, f"{{{i},NULL}}"]) for i, a, b, c, _ in rows]
    assert [literal for *_, literal in keys(world)] == expected
    world.catch_up()
    assert world.differences() == {}


def test_every_value_arrives_as_the_first_of_its_table(build):
    """Also a byte order mark, which readers of texts like to swallow at the beginning."""
    world = build("CREATE TABLE t (v text PRIMARY KEY); CREATE TABLE heap (v text)", ["public.t", "public.heap"])
    for value in ("\ufeffa", "\ufeff", "", " ", "\n", "\r\n", "\\", "'", "\x01"):
        for table in ("t", "heap"):
            world.master.execute(f"INSERT INTO {table} VALUES (%s)", [value])
        world.publish()
    world.drain()
    assert world.differences() == {}


def test_long_images_are_stored_as_they_are_printed(build):
    """To compress them would double what their capture costs the application."""
    world = build(PLAIN, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, repeat('a, b ', 600)), (2, repeat('a, b ', 60000))")
    world.master.execute("UPDATE t SET v = v || 'c'")
    sides = "count(pg_column_compression(content)), count(pg_column_compression(oldcontent))"
    assert world.master.execute(f"SELECT count(*), {sides} FROM repl_queue").fetchone() == (4, 0, 0)
    world.catch_up()
    assert world.differences() == {}


def test_two_prefixes_in_one_schema_do_not_see_each_other(build):
    world = build(PLAIN + "; CREATE TABLE other (id int PRIMARY KEY)", ["public.t"])

    def second(settings):
        settings["sources"]["second"] = {
            "connection": "master",
            "prefix": "TWO_",
            "schema": "repl",
            "tables": {"public.other": {}},
        }

    world.configure(second)
    bootstrap(world.context, "second")
    world.master.execute("INSERT INTO t VALUES (1, 'a'); INSERT INTO other VALUES (7)")
    assert actions(world) == ["INSERT"]
    assert actions(world, "other") == []
    assert world.master.execute("SELECT tablename, content FROM TWO_ITEMS").fetchall() == [
        ("other", '<col name="id">7</col>')
    ]


def test_bootstrap_twice_changes_nothing_and_drops_nothing(world):
    world.master.execute("INSERT INTO t VALUES (1, 'a'); INSERT INTO repl_debug_table VALUES (1, 'kept')")
    catalog = (
        "SELECT oid, relname FROM pg_class WHERE relname LIKE 'repl%' UNION ALL"
        " SELECT oid, tgname FROM pg_trigger UNION ALL SELECT oid, proname FROM pg_proc WHERE proname LIKE 'repl%'"
    )
    before = world.master.execute(catalog).fetchall(), keys(world)
    changed = bootstrap(world.context, SOURCE)
    assert (changed["added"], changed["removed"]) == ([], [])
    assert (world.master.execute(catalog).fetchall(), keys(world)) == before


def test_only_the_actions_asked_for_are_captured(build):
    world = build(PLAIN, {"public.t": {"actions": "ID"}})
    world.master.execute("INSERT INTO t VALUES (1, 'a'); UPDATE t SET v = 'b'; DELETE FROM t")
    assert actions(world) == ["INSERT", "DELETE"]


def test_a_table_taken_out_of_the_configuration_loses_its_trigger_and_one_put_in_gets_it(build):
    world = build(PLAIN + "; CREATE TABLE other (id int PRIMARY KEY)", ["public.t"])
    world.configure(lambda settings: settings["sources"][SOURCE].update(tables={"public.other": {}}))
    changed = bootstrap(world.context, SOURCE)
    assert (changed["added"], changed["removed"]) == (["public.other"], ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a'); INSERT INTO other VALUES (1)")
    assert (actions(world), actions(world, "other")) == ([], ["CREATE", "INSERT"])
    assert world.master.execute("SELECT tablename, status, actions FROM REPL_TABLES").fetchall() == [
        ("other", "OK", "IUD")
    ]


def test_a_trigger_that_was_dropped_by_hand_is_made_again(world):
    (name,) = world.master.execute("SELECT trigger_name FROM REPL_TABLES").fetchone()
    world.master.execute(f'DROP TRIGGER "{name}" ON t')
    assert bootstrap(world.context, SOURCE)["added"] == ["public.t"]
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    assert actions(world) == ["INSERT"]


def test_a_child_that_waits_for_its_parent_draws_its_key_after_the_wait(build):
    """Named before RI_ConstraintTrigger_, the trigger would draw the child's key first."""
    ddl = "CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child (id int REFERENCES parent)"
    world = build(ddl, ["public.parent", "public.child"])
    world.master.execute("INSERT INTO parent VALUES (1)")
    first, second = world.session(), world.session()
    first.execute("BEGIN; UPDATE parent SET id = 2 WHERE id = 1; UPDATE parent SET id = 1 WHERE id = 2")
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(second.execute, "INSERT INTO child VALUES (1)")
        wait_until_blocked(world, second)
        first.execute("INSERT INTO parent VALUES (5)")
        first.execute("COMMIT")
        waiting.result(120)
    query = "SELECT tablename FROM REPL_ITEMS ORDER BY repl_key DESC LIMIT 1"
    assert world.master.execute(query).fetchone() == ("child",)


def test_a_trigger_name_that_would_fire_before_the_checks_is_refused(build):
    with pytest.raises(ConfigError, match=r"SLC-041.*would fire before"):
        build(PLAIN, {"public.t": {"trigger": "RI_ConstraintTrigger_a_1"}})


def test_triggers_fire_after_foreign_keys_and_before_those_of_the_application(build):
    """A trigger of the user's that writes the same row again must not be captured before the write it follows."""
    world = build(
        PLAIN
        + """;
        CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NEW.v <> 'again' THEN UPDATE t SET v = 'again' WHERE id = NEW.id; END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER again AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION again()""",
        ["public.t"],
    )
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.master.execute("UPDATE t SET v = 'b'")
    world.catch_up()
    assert world.differences() == {}


def test_savepoints_belong_to_one_transaction_and_what_was_rolled_back_leaves_nothing(world):
    with world.master.transaction():
        world.master.execute("INSERT INTO t VALUES (1, 'a')")
        with world.master.transaction(force_rollback=True):
            world.master.execute("INSERT INTO t VALUES (2, 'b')")
        with world.master.transaction():
            world.master.execute("INSERT INTO t VALUES (3, 'c')")
    transactions = world.master.execute("SELECT trans_key, count(*) FROM REPL_ITEMS GROUP BY 1").fetchall()
    assert [count for _, count in transactions] == [2]


def test_a_session_as_replica_is_captured_too(world):
    world.session().execute("SET session_replication_role = replica; INSERT INTO t VALUES (1, 'a'); TRUNCATE t")
    assert actions(world) == ["INSERT", "TRUNCATE"]


def test_a_role_that_may_only_write_its_table_is_captured_and_cannot_touch_the_queue(world):
    world.master.execute("GRANT INSERT ON t TO PUBLIC; SET ROLE pg_monitor")
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.master.execute("DELETE FROM repl.repl_queue")
    world.master.execute("RESET ROLE")
    assert actions(world) == ["INSERT"]


DELETED = [
    "DELETE FROM repl.repl_queue WHERE content LIKE '(1,%'",
    "DELETE FROM repl.repl_queue",
    "TRUNCATE repl.repl_queue",
    "SET session_replication_role = replica; DELETE FROM repl.repl_queue",
]


def test_nobody_takes_changes_out_of_the_queue_by_mistake(build):
    world = build(PLAIN, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    for statement in DELETED:
        with pytest.raises(psycopg.errors.RaiseException, match="not published yet would be lost") as refused:
            world.session().execute(statement)
        assert "SET LOCAL sluice.purge = on" in refused.value.diag.message_hint
    world.catch_up()
    assert world.differences() == {}


def test_increment_draws_the_next_key_of_the_sequence(world):
    (first,), (second,) = (world.master.execute("SELECT repl_increment()").fetchone() for _ in range(2))
    assert second == first + 1
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    assert [key for key, *_ in keys(world)] == [second + 1]


def test_current_tables_holds_each_watched_table_by_relation(build):
    world = build(f"{PLAIN}; CREATE SCHEMA other; CREATE TABLE other.t (id int PRIMARY KEY)", ["public.t", "other.t"])
    query = (
        "SELECT relid = format('%I.%I', schemaname, relname)::regclass, schemaname, relname FROM repl_current_tables"
    )
    assert sorted(world.master.execute(query).fetchall()) == [(True, "other", "t"), (True, "public", "t")]


def test_check_warns_of_triggers_that_run_before_the_capture(build):
    world = build(PLAIN, ["public.t"])
    world.master.execute("CREATE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
    for name in ("again", "Again"):
        world.master.execute(f'CREATE TRIGGER "{name}" AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION own()')
    world.master.execute('CREATE TRIGGER "Before" BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION own()')
    told = {finding.subject: finding for finding in findings(world.context)}[f"source {SOURCE}"]
    assert told.good
    assert "Again on public.t: runs before the capture" in told.text
    assert "again on" not in told.text
    assert "Before on" not in told.text


# What is done before the check, and what waits in it.
WAITING = [
    ("INSERT INTO t VALUES (2, 5)", "COMMIT"),
    ("INSERT INTO t VALUES (4, 6); INSERT INTO t VALUES (2, 5)", "COMMIT"),
    ("SET CONSTRAINTS ALL IMMEDIATE", "INSERT INTO t VALUES (4, 6), (2, 5); COMMIT"),
    ("INSERT INTO t VALUES (4, 6); INSERT INTO t VALUES (2, 5)", "SET CONSTRAINTS ALL IMMEDIATE; COMMIT"),
]


def test_a_check_at_the_commit_is_waited_for_before_the_last_key_is_drawn(build):
    """The value is free once the other transaction has ended, so that one comes first (R1)."""
    world = build("CREATE TABLE t (id int PRIMARY KEY, u int UNIQUE DEFERRABLE INITIALLY DEFERRED)", ["public.t"])
    ended = "SELECT trans_key FROM repl_queue GROUP BY trans_key ORDER BY max(repl_key)"
    deleting = "SELECT trans_key FROM repl_queue WHERE db_action ^@ 'D'"
    for before, waits in WAITING:
        world.master.execute("DELETE FROM t; INSERT INTO t VALUES (1, 5)")
        world.catch_up()
        first, second = world.session(), world.session()
        first.execute("BEGIN; DELETE FROM t WHERE id = 1")
        second.execute(f"BEGIN; {before}")
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(second.execute, waits)
            wait_until_blocked(world, second)
            first.execute("INSERT INTO t VALUES (3, 7); COMMIT")
            waiting.result()
        (earlier,), _ = world.master.execute(ended).fetchall()
        assert world.master.execute(deleting).fetchall() == [(earlier,)], before
        world.catch_up()
        assert world.differences() == {}, before
