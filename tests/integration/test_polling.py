"""DDL on a master whose role may create no event triggers: found by comparing the catalog with the last look."""

from __future__ import annotations

import json

import psycopg
import pytest
from support.world import SOURCE
from test_ddl import columns, named

from sluice.capture.reconcile import bootstrap
from sluice.errors import TransientError
from sluice.monitor.check import findings
from sluice.state.replication import Status
from sluice.vendors.postgresql.capture import ddl_polling

pytestmark = [pytest.mark.postgres]

PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"


@pytest.fixture
def polled(build, weak):
    """Makes worlds whose master may create no event trigger."""
    return lambda ddl, tables: build(ddl, tables, elsewhere={"master": weak})


def published(world):
    """Publish; the actions of the log."""
    world.publish()
    return [change["action"] for change in world.log()]


def content(world, action):
    return [json.loads(change["new"][0]) for change in world.log() if change["action"] == action]


def test_an_added_column_is_found_and_images_of_before_and_after_are_told_apart(polled):
    world = polled(PLAIN, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    world.master.execute("ALTER TABLE t ADD n int")
    world.master.execute("INSERT INTO t VALUES (3, 'c', 7); UPDATE t SET n = 8 WHERE id = 1")
    assert published(world) == ["I", "I", "I", "U", "A"]
    ((altered),) = content(world, "A")
    assert (columns(altered["before"]), columns(altered["after"])) == ({1: "id", 2: "v"}, {1: "id", 2: "v", 3: "n"})
    world.catch_up()
    assert world.differences() == {}


def test_tables_are_compared_with_their_records_again_only_if_the_catalog_changed(polled, monkeypatch):
    world, looks, unseen = polled(PLAIN, ["public.t"]), [], ddl_polling._unseen
    monkeypatch.setattr(ddl_polling, "_unseen", lambda *given: looks.append(1) or unseen(*given))
    published(world)
    first = len(looks)
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    assert (published(world), len(looks)) == (["I"], first), "a step makes its own session"
    world.master.execute("ALTER TABLE t ADD n int")
    assert published(world) == ["I", "A"]
    assert len(looks) > first


@pytest.mark.full
def test_what_leaves_images_as_they_are_is_sent_after_them(polled):
    world = polled(PLAIN, ["public.t"])
    changes = ["RENAME v TO w", "ALTER w SET DEFAULT 'x'", "ALTER w SET NOT NULL", "RENAME TO u"]
    for number, change in enumerate(changes, 1):
        world.master.execute(f"INSERT INTO t VALUES ({number}, 'a'); ALTER TABLE t {change}")
        assert published(world) == ["I", "A"] * number, change
    assert published(world) == ["I", "A"] * number


@pytest.mark.full
def test_a_type_that_changed_sends_the_table_again_or_leaves_it_out_if_images_are_queued(polled):
    world = polled(PLAIN, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, '5')")
    world.catch_up()
    world.master.execute("ALTER TABLE t ALTER v TYPE int USING v::int * 2")
    assert published(world)[1:] == ["A", "T", "I"]
    world.catch_up()
    assert world.differences() == {}
    world.master.execute("INSERT INTO t VALUES (2, 6); ALTER TABLE t ALTER v TYPE text")
    assert (published(world)[4:], world.left_out()) == ([], {"public.t"})


@pytest.mark.full
def test_a_column_that_came_and_went_between_two_looks_is_not_guessed(polled):
    world = polled(PLAIN, ["public.t"])
    world.master.execute("ALTER TABLE t ADD a int; INSERT INTO t VALUES (1, 'x', 1); ALTER TABLE t DROP a, ADD b int")
    world.master.execute("INSERT INTO t VALUES (2, 'x', 2)")
    assert (published(world), world.left_out()) == ([], {"public.t"})


@pytest.mark.full
def test_tables_of_equal_names_in_two_schemas_do_not_mix(polled):
    world = polled("CREATE SCHEMA s; CREATE TABLE s.t (id int); CREATE TABLE t (id int)", ["public.t", "s.t"])
    world.master.execute("ALTER TABLE s.t ADD v text; DROP TABLE public.t; ALTER TABLE s.t SET SCHEMA public")
    assert sorted(published(world)) == ["A", "X"]
    assert named(content(world, "X")[0]["before"]) == "public.t"
    assert named(content(world, "A")[0]["after"]) == "public.t"
    watched = world.master.execute("SELECT schemaname, tablename FROM repl_tables WHERE status = 'OK'").fetchall()
    assert watched == [("public", "t")]


def test_two_tables_that_swap_their_names_are_told_apart(polled):
    """What was written meanwhile belongs to the table that it was written to, whatever that is called now."""
    world = polled("CREATE TABLE a (x int); CREATE TABLE b (x int, y int)", ["public.a", "public.b"])
    world.master.execute("INSERT INTO a VALUES (1)")
    world.master.execute("ALTER TABLE a RENAME TO c; ALTER TABLE b RENAME TO a; ALTER TABLE c RENAME TO b")
    world.master.execute("INSERT INTO a VALUES (2, 2); INSERT INTO b VALUES (3)")
    assert published(world) == ["I", "I", "I", "A", "A"]
    assert [change["new"] for change in world.log()[:3]] == [["1"], ["2", "2"], ["3"]]
    renamed = {(named(command["before"]), named(command["after"])) for command in content(world, "A")}
    assert renamed == {("public.a", "public.b"), ("public.b", "public.a")}
    assert bootstrap(world.context, SOURCE)["added"] == []
    world.master.execute("INSERT INTO a VALUES (4, 4)")
    assert published(world)[5:] == ["I"]
    names = "SELECT tablename FROM repl_tables WHERE relid = tablename::regclass ORDER BY 1"
    assert world.master.execute(names).fetchall() == [("a",), ("b",)]


@pytest.mark.full
def test_a_table_takes_the_name_of_one_that_was_dropped(polled):
    world = polled("CREATE TABLE a (x int); CREATE TABLE b (x int)", ["public.a", "public.b"])
    world.master.execute("INSERT INTO b VALUES (1); DROP TABLE b; ALTER TABLE a RENAME TO b; INSERT INTO b VALUES (2)")
    assert sorted(published(world)) == ["A", "I", "I", "X"]
    assert world.master.execute("SELECT tablename FROM repl_tables WHERE status = 'OK'").fetchall() == [("b",)]


@pytest.mark.full
def test_a_dropped_table_that_the_configuration_has_no_more_is_forgotten(polled):
    world = polled("CREATE TABLE a (x int); CREATE TABLE b (x int)", ["public.a", "public.b"])
    world.master.execute("DROP TABLE b")
    world.configure(lambda plain: plain["sources"][SOURCE]["tables"].pop("public.b"))
    bootstrap(world.context, SOURCE)
    assert world.master.execute("SELECT tablename FROM repl_tables").fetchall() == [("a",)]
    assert published(world) == ["X"]


@pytest.mark.full
def test_what_changed_just_before_a_bootstrap_is_sent_as_well_and_check_says_how_it_was_found(polled):
    world = polled(PLAIN, ["public.t"])
    texts = {finding.subject: finding.text for finding in findings(world.context)}
    assert "found by polling" in texts[f"source {SOURCE}"]
    world.master.execute("ALTER TABLE t ADD n int")
    bootstrap(world.context, SOURCE)
    assert published(world) == ["A"]
    assert world.status("zurich") is Status.NORMAL


@pytest.mark.full
def test_ddl_that_is_rolled_back_leaves_nothing(polled):
    world = polled(PLAIN, ["public.*"])
    with world.master.transaction(force_rollback=True):
        world.master.execute("ALTER TABLE t ADD n int; INSERT INTO t VALUES (1, 'a', 2); CREATE TABLE u (id int)")
    with world.master.transaction(force_rollback=True):
        world.master.execute("DROP TABLE t; CREATE TABLE t (n numeric)")
    world.master.execute("INSERT INTO t VALUES (3, 'b')")
    assert published(world) == ["I"]
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_a_constraint_that_came_later_is_waited_for_at_commit(polled):
    """Neither table's columns changed; yet a child may be written before its parent from now on."""
    parted = "child (id int PRIMARY KEY, p int) PARTITION BY RANGE (id)"
    world = polled(
        f"CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE {parted};"
        "CREATE TABLE low PARTITION OF child FOR VALUES FROM (0) TO (10); INSERT INTO parent VALUES (1)",
        ["public.parent", "public.child"],
    )
    reference = "FOREIGN KEY (p) REFERENCES parent DEFERRABLE INITIALLY DEFERRED"
    world.master.execute(f"ALTER TABLE child ADD {reference}")
    assert published(world) == ["A"]
    child, parent = world.session(), world.session()
    child.execute("BEGIN; INSERT INTO child VALUES (2, 2)")
    parent.execute("INSERT INTO parent VALUES (2)")
    child.execute("COMMIT; BEGIN; DELETE FROM parent WHERE id = 1")
    parent.execute("INSERT INTO parent VALUES (3)")
    child.execute("COMMIT")
    world.publish()
    rows = [change["new"] or change["old"] for change in world.log() if change["action"] in "ID"]
    assert rows == [["2"], ["2", "2"], ["3"], ["1"]]
    keys = "SELECT count(*) FROM repl_layouts"
    known = world.master.execute(keys).fetchone()
    world.publish()
    assert world.master.execute(keys).fetchone() == known


@pytest.mark.full
def test_a_table_made_anew_is_two_tables(polled):
    world = polled(PLAIN, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a'); DROP TABLE t; CREATE TABLE t (n numeric)")
    world.master.execute("INSERT INTO t VALUES (2.5)")
    assert sorted(published(world)) == ["I", "I", "N", "X"]
    assert [change["new"] for change in world.log() if change["action"] == "I"] == [["1", "a"], ["2.5"]]


@pytest.mark.full
def test_a_partition_that_came_or_went_filled_sends_the_table_again(polled):
    world = polled(
        "CREATE TABLE t (id int PRIMARY KEY) PARTITION BY RANGE (id);"
        "CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (10)",
        ["public.t"],
    )
    world.reader("zurich").execute("CREATE TABLE rest PARTITION OF t DEFAULT")
    world.master.execute("INSERT INTO t VALUES (1); CREATE TABLE p (id int NOT NULL); INSERT INTO p VALUES (11)")
    world.master.execute("ALTER TABLE t ATTACH PARTITION p FOR VALUES FROM (10) TO (20); INSERT INTO t VALUES (12)")
    world.catch_up()
    assert world.differences() == {}
    world.master.execute("DROP TABLE low; CREATE TABLE more PARTITION OF t FOR VALUES FROM (20) TO (30)")
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_a_table_that_stays_locked_is_looked_at_again_later(polled, monkeypatch):
    monkeypatch.setattr("sluice.vendors.postgresql.capture.queue.triggers._LOCK_TRIES", 2)
    world = polled(PLAIN, ["public.t"])
    world.master.execute("ALTER TABLE t ADD n int")
    writer = world.session()
    writer.execute("BEGIN; INSERT INTO t VALUES (1, 'a', 2)")
    with pytest.raises(TransientError, match="SLC-036"):
        world.publish()
    writer.execute("COMMIT")
    assert published(world) == ["I", "A"]


@pytest.mark.full
def test_a_new_table_that_stays_locked_holds_up_no_other(polled):
    world = polled(PLAIN, {"public.*": {}})
    world.master.execute("CREATE TABLE later (id int)")
    writer = world.session()
    writer.execute("BEGIN; INSERT INTO later VALUES (1)")
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    assert published(world) == ["I"]
    writer.execute("COMMIT")
    assert published(world) == ["I", "N", "I"]


@pytest.mark.parametrize("superuser", [True, False], ids=["event triggers", "polling"])
def test_tables_are_compared_with_the_catalog_again_only_when_it_changed(build, server, weak, superuser):
    world = build(PLAIN, ["public.t"], elsewhere={} if superuser else {"master": weak})
    with psycopg.connect(server.cluster.admin_dsn("postgres"), autocommit=True) as admin:
        admin.execute(f"ALTER DATABASE {world.infos['master'].database} SET track_functions = 'all'")
    altering, publisher = world.session(), world.publisher()

    def compared():
        before = compared_so_far(altering)
        altering.execute("INSERT INTO t SELECT count(*) FROM t")
        publisher._database.capture.poll_ddl()
        assert publisher._database.capture.silenced() == []
        publisher.publish(None)
        return compared_so_far(publisher._database.capture._session.open()) > before

    assert [compared(), compared()] == [True, False]
    for statement, changes in (
        ("COMMENT ON TABLE t IS 'no column'", False),
        ("ALTER TABLE t ALTER v SET DEFAULT 'x'", True),
        ("CREATE TABLE other (id int)", False),
        ("ALTER TABLE t ADD n int", True),
    ):
        altering.execute(statement)
        found = [compared(), compared(), compared()]
        assert (any(found), found[-1]) == (changes, False)


def compared_so_far(session):
    """How often somebody asked what a table is like, at least after all that this session did."""
    session.execute("SELECT pg_stat_force_next_flush()")
    session.execute("SELECT pg_stat_clear_snapshot()")
    names = ["repl_listed", "repl_table_definition", "repl_silenced"]
    query = "SELECT coalesce(sum(calls), 0) FROM pg_stat_user_functions WHERE funcname = ANY (%s)"
    return session.execute(query, [names]).fetchone()[0]


@pytest.fixture
def stranger(server):
    """Begins a transaction of a role that may do no more than update a table, which it locks against everybody."""
    made = []

    def lock(world, table):
        session = server.cluster.admin(world.infos["master"].database)
        session.autocommit = True
        role = f"eve_{world.infos['master'].database}"
        session.execute(f"CREATE ROLE {role}; GRANT UPDATE ON {table} TO {role}")
        session.execute(f"SET SESSION AUTHORIZATION {role}")
        session.execute(f"BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        made.append((session, role))
        return session

    yield lock
    for session, role in made:
        session.execute("ROLLBACK")
        session.execute(f"RESET SESSION AUTHORIZATION; DROP OWNED BY {role}; DROP ROLE {role}")
        session.close()


LOCKED = {
    "public.x": "CREATE TABLE x (id int PRIMARY KEY, d int DEFAULT 1)",
    "public.p": "CREATE TABLE p (id int PRIMARY KEY, d int DEFAULT 1) PARTITION BY RANGE (id);"
    "CREATE TABLE x PARTITION OF p DEFAULT",
}


@pytest.mark.parametrize("table", LOCKED)
def test_a_table_that_somebody_locks_holds_up_no_other_one(polled, stranger, table, caplog):
    world = polled(f"{LOCKED[table]}; {PLAIN}; ALTER TABLE t ALTER v SET DEFAULT 'v'", ["public.t", table])
    caplog.set_level("INFO")
    # Nothing that makes its rows unreadable: it may wait.
    world.master.execute(f"ALTER TABLE {table} ALTER d SET DEFAULT 2")
    session = stranger(world, "x")
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    assert published(world) == ["I"]
    world.master.execute("ALTER TABLE t ADD n int; INSERT INTO t VALUES (2, 'b', 2)")
    assert published(world) == ["I", "I", "A"]
    who = f"{table} is locked by process {session.info.backend_pid} of "
    assert who in caplog.text
    assert any(who in one for one in world.standing().unwatched)
    session.execute("ROLLBACK")
    world.catch_up()
    assert world.differences() == {}
    assert [change["action"] for change in world.log()] == ["I", "I", "A", "A"]
    assert world.standing().unwatched == ()


@pytest.mark.full
def test_a_table_that_changed_and_is_locked_is_named_with_who_locks_it(polled, stranger):
    world = polled(f"{LOCKED['public.x']}; {PLAIN}", ["public.t", "public.x"])
    world.master.execute("ALTER TABLE x ADD n int; INSERT INTO x VALUES (1, 1, 1)")
    session = stranger(world, "x")
    who = f"public.x is locked by process {session.info.backend_pid} of "
    with pytest.raises(TransientError, match=f"SLC-036: .*{who}.*, and its columns or partitions changed before"):
        world.publish()
    session.execute("ROLLBACK")
    world.catch_up()
    assert world.differences() == {}
