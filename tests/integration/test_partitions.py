"""Partitions: rows that come, go or change with a partition or with its table's shape reach the slave (R9)."""

from __future__ import annotations

from contextlib import closing

import pytest
from support.detaching import left_pending
from support.world import CAPTURES, SOURCE
from test_ddl import stream

from sluice.capture.reconcile import bootstrap
from sluice.errors import AlteredMeanwhile, Unwatchable
from sluice.monitor.check import findings
from sluice.state.replication import Status
from sluice.vendors.postgresql.read import snapshot

pytestmark = [pytest.mark.postgres]

DDL = """
    CREATE TABLE t (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);
    CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (10);
    CREATE TABLE high PARTITION OF t FOR VALUES FROM (10) TO (100) PARTITION BY RANGE (id);
    CREATE TABLE high_1 PARTITION OF high FOR VALUES FROM (10) TO (20);
    CREATE TABLE high_2 PARTITION OF high FOR VALUES FROM (20) TO (30)"""
ROWS = "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (11, 'c'), (21, 'd')"
PLAIN = "CREATE TABLE p (id int NOT NULL, v text); INSERT INTO p VALUES (101, 'x'), (102, 'y')"


@pytest.fixture
def world(build, request):
    made = build(DDL, ["public.t"], source={"capture": getattr(request, "param", "triggers")})
    made.reader("zurich").execute("CREATE TABLE rest PARTITION OF t DEFAULT")
    made.master.execute(ROWS)
    made.catch_up()
    return made


def rows(world):
    return [(action, text) for action, text in stream(world) if action not in "NAXC"]


def equal(world):
    world.catch_up()
    return world.differences() == {}


def test_a_partition_made_later_is_captured(world):
    world.master.execute("CREATE TABLE more PARTITION OF t FOR VALUES FROM (200) TO (300)")
    world.master.execute("INSERT INTO t VALUES (200, 'a'); INSERT INTO more VALUES (201, 'b'); TRUNCATE more")
    assert [action for action, _ in rows(world)] == ["I", "I", "D", "D"]
    world.catch_up()
    assert sum(world.rows("zurich", "public.t").values()) == 4


def test_truncating_a_partition_deletes_its_rows_and_no_others_also_of_parts_and_as_replica(world):
    world.master.execute("INSERT INTO t VALUES (3, 'e'); TRUNCATE low; INSERT INTO t VALUES (4, 'f')")
    assert sorted(rows(world)[1:-1]) == [("D", "(1,a)"), ("D", "(2,b)"), ("D", "(3,e)")]
    assert equal(world)
    world.master.execute("SET session_replication_role = replica; TRUNCATE high")
    assert sorted(rows(world)) == [("D", "(11,c)"), ("D", "(21,d)")]
    assert equal(world)


def test_a_partition_that_may_wait_at_a_commit_draws_a_last_key_and_locks_no_other(world):
    busy = world.session()
    busy.execute("BEGIN; INSERT INTO t VALUES (25, 'e')")
    world.master.execute("SET lock_timeout = '20s'; ALTER TABLE low ADD UNIQUE (v) DEFERRABLE")
    world.master.execute("INSERT INTO t VALUES (3, 'f')")
    busy.execute("COMMIT")
    world.publish()
    assert [change["action"] for change in world.log()[-3:]] == ["I", "I", "C"]
    world.master.execute("ALTER TABLE t ADD UNIQUE (id, v) DEFERRABLE; INSERT INTO t VALUES (4, 'g'), (26, 'h')")
    assert sorted(action for action, _ in stream(world)) == ["A", "C", "I", "I"]
    assert equal(world)
    assert bootstrap(world.context, SOURCE)["added"] == []
    world.master.execute("ALTER TABLE t DETACH PARTITION low")
    left = "SELECT tgname FROM pg_trigger WHERE tgrelid = 'low'::regclass AND tgname LIKE 'RI_z%'"
    assert world.master.execute(left).fetchall() == []


@pytest.mark.full
def test_truncating_the_whole_table_is_one_change_and_the_next_partition_is_read_again(world):
    world.master.execute("UPDATE t SET id = 12 WHERE id = 1; UPDATE high_1 SET id = 13 WHERE id = 11")
    assert equal(world), "rows move between partitions"
    with world.master.transaction():
        world.master.execute("TRUNCATE t; INSERT INTO t VALUES (5, 'e'), (15, 'f'); TRUNCATE low")
    assert rows(world) == [("T", None), ("I", "(5,e)"), ("I", "(15,f)"), ("D", "(5,e)")]
    assert equal(world)


def test_a_truncate_that_is_rolled_back_leaves_nothing_and_spoils_nothing(world):
    with world.master.transaction():
        with world.master.transaction(force_rollback=True):
            world.master.execute("TRUNCATE t")
        world.master.execute("TRUNCATE low")
    assert [action for action, _ in rows(world)] == ["D", "D"]
    assert equal(world)


def test_attaching_a_filled_partition_brings_its_rows(world):
    world.master.execute(PLAIN)
    with world.master.transaction():
        world.master.execute("INSERT INTO t VALUES (5, 'before')")
        world.master.execute("ALTER TABLE t ATTACH PARTITION p FOR VALUES FROM (100) TO (200)")
        world.master.execute("UPDATE p SET v = 'z' WHERE id = 101")
    assert rows(world) == [("I", "(5,before)"), ("I", "(101,x)"), ("I", "(102,y)"), ("U", "(101,z)")]
    assert equal(world)
    world.master.execute("INSERT INTO p VALUES (103, 'w'); TRUNCATE p")
    assert equal(world)


@pytest.mark.full
def test_columns_of_an_attached_partition_may_stand_in_another_order(world):
    world.master.execute("CREATE TABLE p (v text, gone int, id int NOT NULL); ALTER TABLE p DROP gone")
    world.master.execute("INSERT INTO p VALUES ('x', 101)")
    world.master.execute("ALTER TABLE t ATTACH PARTITION p FOR VALUES FROM (100) TO (200)")
    assert equal(world)


# How the rows of low are taken away from t.
AWAY = {
    "detached": "ALTER TABLE t DETACH PARTITION low",
    "detached while others work": "ALTER TABLE t DETACH PARTITION low CONCURRENTLY",
    "dropped by its schema's name": 'DROP TABLE IF EXISTS nothing, "public"."low" CASCADE',
    "dropped by a function": "DO $$BEGIN EXECUTE format('DROP TABLE %I', 'lo' || 'w'); END$$",
}


@pytest.mark.full
def test_rows_that_go_with_their_partition_are_deleted(world):
    for how, away in AWAY.items():
        world.master.execute(away)
        assert sorted(rows(world)) == [("D", "(1,a)"), ("D", "(2,b)")], how
        world.master.execute("INSERT INTO t VALUES (12, 'z')")
        assert equal(world), how
        world.master.execute("DELETE FROM t WHERE id = 12; DROP TABLE IF EXISTS low")
        world.master.execute("CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (10)")
        world.master.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        assert equal(world), how


# Spellings that the text of a statement does not tell, and ways to drop a partition that name none.
UNTOLD = {
    "a comment to the end of the line": "DROP -- old\n TABLE low",
    "escapes in its name": 'DROP TABLE U&"\\006C\\006Fw"',
    "its schema": "CREATE SCHEMA s; ALTER TABLE low SET SCHEMA s; DROP SCHEMA s CASCADE",
    "unheard": "SET event_triggers = off; DROP TABLE low; RESET event_triggers",
}


@pytest.mark.full
@pytest.mark.parametrize("away", UNTOLD.values(), ids=UNTOLD)
def test_a_drop_that_nobody_could_read_before_sends_the_table_again_and_stops_nobody(world, away):
    """Nor does it keep what is done to the table after it from being recorded."""
    world.master.execute("INSERT INTO t VALUES (3, 'e')")
    for statement in away.split("; "):
        world.master.execute(statement)
    world.master.execute("CREATE TABLE low_2 PARTITION OF t FOR VALUES FROM (0) TO (5)")
    world.master.execute("INSERT INTO t VALUES (1, 'new'), (12, 'z')")
    if "event_triggers" not in away:
        world.master.execute("ALTER TABLE t ADD n int; UPDATE t SET n = 5 WHERE id = 12")
    world.publish()
    assert [change["action"] for change in world.log()].count("T") == 1
    assert equal(world)
    assert world.status("zurich") is Status.NORMAL
    assert stream(world) == []
    world.master.execute("DROP TABLE high_1; UPDATE t SET v = 'y'")
    assert equal(world)
    assert [change["action"] for change in world.log()].count("T") == 1


def test_a_sweep_that_meets_an_unread_drop_has_it_looked_for_at_once(world):
    """Looks come once a minute where DDL is seen."""
    (epoch,) = world.master.execute("SELECT epoch FROM repl_state").fetchone()
    with closing(world.context.source(SOURCE)) as source:
        source.capture.poll_ddl()
        world.master.execute("SET event_triggers = off; DROP TABLE low; RESET event_triggers")
        source.capture.poll_ddl()
        assert stream(world) == []
        with pytest.raises(AlteredMeanwhile, match=r"SLC-095: .*changed since"), source.capture.sweep(epoch, None):
            pass
        source.capture.poll_ddl()
    assert [action for action, _ in stream(world)] == ["T", "I", "I"]
    assert equal(world)


@pytest.mark.full
def test_rows_that_went_unread_with_their_partition_are_told_where_updates_are_not_sent(build):
    world = build(DDL, {"public.t": {"actions": "ID"}})
    world.master.execute(f"{ROWS}; DROP /* old */ TABLE low")
    world.publish()
    world.publish()
    assert world.left_out() == {"public.t"}


@pytest.mark.full
@pytest.mark.parametrize("world", CAPTURES, indirect=True)
def test_a_detach_that_waits_for_others_holds_up_nobody(world):
    reading = world.session()
    reading.execute("BEGIN; SELECT FROM t")
    detaching = world.session()
    left_pending(detaching, world.master, "t", "low")
    world.master.execute("INSERT INTO t VALUES (12, 'z')")
    world.catch_up()
    ((missing, extra),) = world.differences().values()
    assert (missing.total(), extra.total()) == (0, 2), "the server hides its rows, and nobody has detached it yet"
    left = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhdetachpending"
    assert world.master.execute(left).fetchall() == [("low",)]
    reading.execute("COMMIT")
    world.master.execute("DELETE FROM low WHERE id = 1; INSERT INTO low VALUES (3, 'y')")
    world.master.execute("ALTER TABLE t DETACH PARTITION low FINALIZE")
    world.publish()
    assert [change["action"] for change in world.log()[-2:]] == ["D", "D"]
    if world.context.config.source(SOURCE).capture == "triggers":
        assert equal(world)
        return
    # The server does not count it among the table's partitions any more: the runbook says what to do then.
    world.catch_up()
    ((missing, extra),) = world.differences().values()
    assert (missing.total(), list(extra)) == (0, [('{"id":1,"v":"a"}',)])


@pytest.mark.full
def test_a_part_of_parts_that_is_dropped_takes_its_rows_along(world):
    world.master.execute("DROP TABLE high")
    assert sorted(rows(world)) == [("D", "(11,c)"), ("D", "(21,d)")]
    assert equal(world)


@pytest.mark.full
@pytest.mark.parametrize("world", CAPTURES, indirect=True)
def test_a_drop_that_only_mentions_a_partition_deletes_nothing(world):
    world.master.execute("CREATE TABLE other (id int); DROP TABLE other /* not low */")
    gone, back = ([text for action, text in rows(world) if action == kind] for kind in "DI")
    assert gone == back
    assert equal(world)


def test_a_drop_that_fails_leaves_nothing(world):
    world.master.execute("CREATE VIEW seen AS SELECT * FROM low")
    with pytest.raises(Exception, match="depend"):
        world.master.execute("DROP TABLE low")
    assert stream(world) == []


def test_a_table_with_partitions_that_is_dropped_is_one_command(world):
    world.master.execute("DROP TABLE t")
    assert [action for action, _ in stream(world)] == ["X"]


@pytest.mark.full
def test_partitions_come_and_go_as_tables_of_their_own_under_a_wildcard(build):
    world = build(DDL, {"public.*": {}})
    world.master.execute(f"{ROWS}; {PLAIN}; ALTER TABLE t ATTACH PARTITION p FOR VALUES FROM (100) TO (200)")
    world.master.execute(
        "ALTER TABLE t DETACH PARTITION low; INSERT INTO low VALUES (7, 'g'); INSERT INTO p VALUES (103, 'h')"
    )
    commands = [
        (row["action"], row["content"])
        for action, text in stream(world)
        if action in "NX" and (row := {"action": action, "content": (text.get("after") or text["before"])["table"]})
    ]
    assert commands == [("N", "p"), ("X", "p"), ("N", "low")]
    found = world.master.execute("SELECT tablename, db_action FROM repl_items ORDER BY repl_key").fetchall()
    assert found[-2:] == [("low", "INSERT"), ("t", "INSERT")]
    assert found.count(("t", "DELETE")) == 2
    again = bootstrap(world.context, SOURCE)
    assert (again["added"], again["removed"]) == ([], [])
    world.publish()


@pytest.mark.full
def test_a_partitioned_table_that_is_watched_no_more_has_no_triggers_of_ours(world):
    world.master.execute("CREATE TABLE other (id int)")
    world.configure(lambda settings: settings["sources"][SOURCE].update(tables={"public.other": {}}))
    bootstrap(world.context, SOURCE)
    query = "SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal"
    assert {name for (name,) in world.master.execute(query)} == {"other", "repl_notes", "repl_queue", "repl_tables"}


def test_a_foreign_table_is_refused_as_a_partition(build):
    world = build("CREATE TABLE t (id int) PARTITION BY RANGE (id)", ["public.t"])
    world.master.execute("CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing")
    world.master.execute("CREATE FOREIGN TABLE far PARTITION OF t FOR VALUES FROM (300) TO (400) SERVER nowhere")
    fact = "SLC-477: public.far is a foreign table and a partition of public.t"
    with pytest.raises(Unwatchable, match=fact):
        bootstrap(world.context, SOURCE)
    world.publish()
    assert [fact in one.text for one in findings(world.context) if one.subject == f"source {SOURCE}"] == [True]
    assert world.left_out() == {"public.t"}
    world.master.execute("ALTER TABLE t DETACH PARTITION far")
    world.publish()


# An ALTER of `w (id int, v text)` that computes values.
COMPUTED = {
    "a default for each row": "ADD n float DEFAULT random()",
    "another type, computed": "ALTER id TYPE bigint USING id * 10",
    "values alone": "ALTER v TYPE text USING upper(v)",
    "a default that another file forgets": "ADD n text DEFAULT 'a''{b', SET UNLOGGED",
}


@pytest.mark.full
def test_values_that_an_alter_computes_arrive(build):
    cases = [(key, computed) for key in ("", " PRIMARY KEY") for computed in COMPUTED.values()]
    tables = {f"w{number}": case for number, case in enumerate(cases)}
    ddl = ";".join(f"CREATE TABLE {name} (id int{key}, v text)" for name, (key, _) in tables.items())
    world = build(ddl, [f"public.{name}" for name in tables])
    for name in tables:
        world.master.execute(f"INSERT INTO {name} VALUES (1, 'a'), (2, 'b')")
    world.catch_up()
    for name, (_, computed) in tables.items():
        world.master.execute(f"ALTER TABLE {name} {computed}")
        world.master.execute(f"UPDATE {name} SET v = 'after' WHERE v IN ('a', 'A')")
    world.catch_up()
    assert world.differences() == {}, tables


@pytest.mark.full
def test_rows_of_partitions_have_the_default_of_a_column_that_is_added(world):
    world.master.execute("ALTER TABLE t ADD n text DEFAULT 'a''{b', ADD m timestamptz DEFAULT now(), ADD o int")
    world.master.execute("ALTER TABLE t ALTER n SET DEFAULT 'later'; INSERT INTO t (id) VALUES (12)")
    assert sum(action == "I" for action, *_ in rows(world)) == 1
    assert equal(world)


@pytest.mark.full
def test_an_alter_that_computes_nothing_sends_no_row(build):
    world = build("CREATE TABLE w (id int, v varchar(5))", ["public.w"])
    world.master.execute("INSERT INTO w VALUES (1, 'a')")
    world.catch_up()
    world.master.execute(
        "ALTER TABLE w ADD n int DEFAULT 5; ALTER TABLE w ALTER v TYPE text; ALTER TABLE w SET UNLOGGED"
    )
    assert rows(world) == []


@pytest.mark.full
def test_a_partition_that_is_attached_while_a_dump_begins_comes_once(updating, monkeypatch):
    world = updating(
        "CREATE TABLE t (id int, v text) PARTITION BY RANGE (id); CREATE TABLE p (id int, v text)", ["public.t"]
    )
    world.master.execute("CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (10); INSERT INTO t VALUES (1, 'a')")
    world.master.execute("INSERT INTO p VALUES (11, 'x'), (11, 'x')")

    def exported(session):
        made = snapshot_exported(session)
        world.master.execute("ALTER TABLE t ATTACH PARTITION p FOR VALUES FROM (10) TO (20)")
        return made

    snapshot_exported = snapshot.exported
    monkeypatch.setattr(snapshot, "exported", exported)
    world.update()
    monkeypatch.undo()
    world.catch_up()
    assert world.differences() == {}
