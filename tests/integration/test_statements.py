"""A statement is executed on the master and on each slave, once, at its place between the rows."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.issuing import DDL, everywhere, execute, standings
from support.world import SOURCE

from sluice.cli.parser import main
from sluice.crash import CrashPoint
from sluice.errors import SluiceError
from sluice.store import statement_results
from sluice.store.statement_results import StatementStatus

pytestmark = [pytest.mark.postgres]

FAMILY = (
    "CREATE TABLE parent (id int PRIMARY KEY);"
    "CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent ON DELETE CASCADE)"
)


CAPTURES = pytest.mark.parametrize("world", ["triggers", "log"], indirect=True)


@pytest.fixture
def world(build, request):
    """A master with some rows that are not published, captured by triggers or as it is asked for, and two slaves."""
    capture = getattr(request, "param", "triggers")
    made = build(DDL, ["public.t"], slaves=("zurich", "geneva"), source={"capture": capture})
    made.master.execute("INSERT INTO t SELECT g, g, 'v' FROM generate_series(1, 5) AS g")
    return made


@CAPTURES
def test_what_it_changes_counts_once_at_its_place_between_the_rows(world):
    world.master.execute("UPDATE t SET x = x * 10")
    done = execute(world, "UPDATE t SET x = x + 1 WHERE id < 4")
    world.master.execute("UPDATE t SET x = x * 10")
    world.master.execute("INSERT INTO t VALUES (6, 1, 'after')")
    assert done.answer.count == 3
    world.publish()
    assert [row["action"] for row in world.log()] == [*"IIIII", *"UUUUU", "S", *"UUUUU", "I"]
    world.catch_up()
    assert world.differences() == {}
    assert world.rows("zurich", "public.t").total() == 6
    assert standings(world, done) == everywhere(world)


def test_a_statement_that_fails_changes_nothing_and_goes_nowhere(world):
    queued = world.queued()
    with pytest.raises(SluiceError, match="duplicate key") as caught:
        execute(world, "INSERT INTO t (id) VALUES (9), (1)")
    assert caught.value.code == 105
    assert world.queued() == queued
    world.catch_up()
    assert world.differences() == {}
    (last,) = world.reader("control").execute("SELECT slave, status FROM answer").fetchall()
    assert last == ("", "FAILED")


def test_a_select_is_answered_by_every_node_at_its_place_and_the_answers_are_compared(world):
    before = execute(world, "SELECT id, x, NULL AS nothing FROM t ORDER BY id")
    world.master.execute("UPDATE t SET x = 0")
    world.publish()
    assert standings(world, before)["zurich"] == (StatementStatus.WAITING, "")
    world.session("geneva").execute("INSERT INTO t VALUES (0, 0, 'odd')")
    world.catch_up()
    assert standings(world, before) == {
        **everywhere(world),
        "geneva": (StatementStatus.FAILED, "other rows than on the master"),
    }
    master, geneva, zurich = statement_results.answers(world.context.store, before.id)
    assert master.answer.columns == ("id", "x", "nothing")
    assert master.answer == zurich.answer
    assert master.answer.rows[:2] == (("1", "1", None), ("2", "2", None))
    assert geneva.answer.rows[0] == ("0", "0", None)


@pytest.mark.full
def test_an_answer_is_bounded(world):
    world.configure(lambda settings: settings["sources"][SOURCE].update(statement_max_rows=2))
    done = execute(world, "SELECT id FROM t ORDER BY id DESC")
    assert (done.answer.rows, done.answer.more) == ((("5",), ("4",)), True)
    world.catch_up()
    assert standings(world, done)["zurich"] == (StatementStatus.OK, "only the first rows were compared")


def test_a_select_that_fails_on_a_slave_stops_nothing(world):
    world.master.execute("CREATE TABLE apart (id int)")
    done = execute(world, "SELECT * FROM apart")
    world.catch_up()
    assert standings(world, done)["zurich"][0] is StatementStatus.FAILED
    assert world.differences() == {}


def test_a_statement_that_fails_on_a_slave_stops_that_slave_in_front_of_it(world):
    world.catch_up()
    world.session("geneva").execute("INSERT INTO t VALUES (8, 8, 'in the way')")
    done = execute(world, "INSERT INTO t VALUES (8, 1, 'v')")
    world.publish()
    world.drain("zurich")
    with pytest.raises(SluiceError) as caught:
        world.drain("geneva")
    assert caught.value.code == 104
    found = standings(world, done)
    assert (found["zurich"][0], found["geneva"][0]) == (StatementStatus.OK, StatementStatus.FAILED)
    world.session("geneva").execute("DELETE FROM t WHERE id = 8")
    world.catch_up()
    assert standings(world, done) == everywhere(world)
    assert world.differences() == {}


@pytest.mark.full
def test_a_slave_may_have_no_part_in_statements(world):
    world.configure(lambda settings: settings["replications"][1].update(statements=False))
    done = execute(world, "UPDATE t SET x = -1")
    world.catch_up()
    assert set(standings(world, done)) == {"", "zurich"}
    assert world.rows("zurich", "public.t") == world.rows("master", "public.t")
    assert not any('"x":-1' in row for (row,) in world.rows("geneva", "public.t"))


def test_cascades_of_a_statement_act_on_the_slave_and_those_of_rows_arrive(build):
    world = build(FAMILY, ["public.parent", "public.child"])
    world.master.execute("INSERT INTO parent SELECT generate_series(1, 4)")
    world.master.execute("INSERT INTO child SELECT g, g FROM generate_series(1, 4) AS g")
    execute(world, "DELETE FROM parent WHERE id = 1")
    world.master.execute("DELETE FROM parent WHERE id = 2")
    execute(world, "DELETE FROM parent WHERE id = 3")
    assert world.catch_up() is None
    assert world.differences() == {}
    assert world.rows("zurich", "public.child").total() == 1


@pytest.mark.full
def test_work_that_a_transaction_puts_off_to_its_end_belongs_to_the_statement(build):
    world = build(DDL, ["public.t"])
    for name in ("master", "zurich"):
        world.session(name).execute(
            "CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN UPDATE t SET x = x + 1 WHERE id = NEW.id; RETURN NULL; END $$;"
            "CREATE CONSTRAINT TRIGGER again AFTER INSERT ON t INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION again()"
        )
    execute(world, "INSERT INTO t VALUES (1, 1, 'v')")
    world.publish()
    assert [row["action"] for row in world.log()] == ["S"]
    world.catch_up()
    assert world.differences() == {}
    assert world.rows("zurich", "public.t").total() == 1


@CAPTURES
def test_a_table_is_altered_by_a_statement_between_its_rows(world):
    execute(world, "ALTER TABLE t ADD COLUMN note text DEFAULT 'none'")
    world.master.execute("UPDATE t SET note = 'new' WHERE id = 1")
    execute(world, "ALTER TABLE public.t RENAME COLUMN v TO w")
    world.master.execute("INSERT INTO t VALUES (6, 6, 'w', 'last')")
    execute(world, "CREATE INDEX by_x ON t (x)")
    world.publish()
    assert [row["action"] for row in world.log()] == [*"IIIII", "S", "U", "S", "I", "S"]
    world.catch_up()
    assert world.differences() == {}


NAMING = [
    "UPDATE public.t SET x = public.t.x + 1 FROM public.u AS other WHERE public.t.id = other.id",
    "UPDATE t SET x = x + 1 WHERE id IN (SELECT id FROM u)",
    'INSERT INTO "public"."t" (id, v) SELECT id + 100, \'in public\' FROM PUBLIC.u ON CONFLICT (id) DO NOTHING',
    "WITH gone AS (DELETE FROM public.t WHERE id = 2 RETURNING id) DELETE FROM u WHERE id IN (SELECT id FROM gone)",
    "ALTER TABLE public.t ADD COLUMN more int",
    "TRUNCATE public.t",
]


@pytest.mark.full
def test_a_slave_executes_it_under_its_own_names(updating):
    world = updating(f"{DDL}; CREATE TABLE u (id int PRIMARY KEY)", ["public.t", "public.u"])
    world.master.execute("INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'); INSERT INTO u VALUES (1), (2)")
    world.update()
    for text in NAMING:
        world.master.execute("UPDATE t SET x = 5")
        done = execute(world, text)
        world.catch_up()
        assert standings(world, done) == everywhere(world), text
        assert world.differences() == {}, text


@pytest.mark.full
def test_plain_names_are_looked_up_in_the_schema_given(build):
    world = build("CREATE SCHEMA apart; CREATE TABLE apart.t (id int PRIMARY KEY)", ["apart.t"])
    execute(world, "INSERT INTO t VALUES (1)", schema="apart")
    world.catch_up()
    assert world.rows("zurich", "apart.t").total() == 1


@pytest.mark.full
def test_a_statement_that_the_initial_data_have_is_obsolete(updating):
    world = updating(DDL, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 1, 'v')")
    done = execute(world, "UPDATE t SET x = x + 1")
    world.update()
    assert standings(world, done)["zurich"] == (StatementStatus.OK, "the initial data have it")
    later = execute(world, "UPDATE t SET x = x + 1")
    world.catch_up()
    assert world.differences() == {}
    assert world.rows("master", "public.t") == {('{"id":1,"x":3,"v":"v"}',): 1}
    assert standings(world, later) == everywhere(world)


@pytest.mark.full
def test_other_transactions_keep_their_rows_and_their_order(world):
    """One that has written already keeps a key below the statement's: the statement waits, and sees its rows."""
    open_ = world.session()
    open_.execute("BEGIN; INSERT INTO t VALUES (9, 9, 'late'); UPDATE t SET v = 'hit' WHERE id = 5")
    with ThreadPoolExecutor(1) as pool:
        issued = pool.submit(execute, world, "UPDATE t SET x = x + 100 WHERE v = 'hit' OR id IN (1, 9)")
        with pytest.raises(TimeoutError):
            issued.result(1)
        open_.execute("COMMIT")
        assert issued.result(60).answer.count == 3
    world.catch_up()
    assert world.differences() == {}


def test_a_statement_does_not_wait_for_ever_for_those_who_write(world):
    open_ = world.session()
    open_.execute("BEGIN; INSERT INTO t VALUES (9, 9, 'late')")
    with pytest.raises(SluiceError, match=r"SLC-107: others write to t"):
        execute(world, "UPDATE t SET x = x + 100")
    open_.execute("ROLLBACK")


def test_a_statement_that_is_refused_is_kept_nowhere(world):
    for text in ("ALTER ROLE x PASSWORD 'canary'", "UPDATE t SET v = 'canary\0b'"):
        with pytest.raises(SluiceError, match="SLC-10"):
            execute(world, text)
    control = world.reader("control")
    assert control.execute("SELECT count(*) FROM audit WHERE detail LIKE '%canary%'").fetchone() == (0,)
    assert control.execute("SELECT count(*) FROM statement").fetchone() == (0,)


def test_who_issued_what_and_when_is_kept_and_items_shows_it(world, monkeypatch):
    monkeypatch.setenv("SLUICE_RUN", "anna")
    done = execute(world, "DELETE FROM t WHERE id = 1")
    row = world.reader("control").execute("SELECT actor, sql, at IS NOT NULL FROM statement").fetchone()
    assert row == ("anna", "DELETE FROM t WHERE id = 1", True)
    note = "SELECT actor, detail FROM audit WHERE event = 'statement'"
    assert world.reader("control").execute(note).fetchall() == [("anna", f"{done.id}: DELETE FROM t WHERE id = 1")]

    (action, content) = world.master.execute(
        "SELECT db_action, content FROM repl_items ORDER BY repl_key DESC LIMIT 1"
    ).fetchone()
    assert (action, json.loads(content)["id"]) == ("STATEMENT", done.id)


def test_roles_without_privileges_issue_and_execute_statements_that_alter_tables_as_well(build, weak):
    ddl = f"{DDL}; CREATE TABLE u (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED); CREATE TABLE gone (id int)"
    world = build(ddl, ["public.t", "public.u", "public.gone"], elsewhere={"master": weak, "zurich": weak})
    world.master.execute("INSERT INTO t VALUES (1, 1, 'v')")
    execute(world, "ALTER TABLE t ADD COLUMN note text")
    world.master.execute("UPDATE t SET note = 'new'")
    execute(world, "INSERT INTO u VALUES (1), (2)")
    execute(world, "UPDATE u SET id = id + 1")
    execute(world, "DROP TABLE gone")
    world.publish()
    world.drain()
    for table in ("public.t", "public.u"):
        assert world.rows("zurich", table) == world.rows("master", table)
    assert world.session("zurich").execute("SELECT to_regclass('gone')").fetchone() == (None,)


def test_the_command_prints_what_each_node_answered(world, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("sluice.cli.commands._context", lambda: world.context)
    file = tmp_path / "count.sql"
    file.write_text("SELECT count(*) AS rows FROM t;\n")
    assert main(["statement", SOURCE, "--sql-file", str(file), "--wait", "0"]) == 0
    world.catch_up()
    printed = capsys.readouterr().out.splitlines()
    assert printed[1:] == ["flights (master)  OK", "rows", "5", "geneva  WAITING", "zurich  WAITING"]
    file.write_text("DELETE FROM nowhere")
    assert main(["statement", SOURCE, "--sql-file", str(file)]) == 1
    assert main(["statement", SOURCE, "--sql-file", str(tmp_path / "none.sql")]) == 1
    errors = capsys.readouterr().err
    assert "SLC-105" in errors
    assert "SLC-659" in errors


def test_a_drain_that_dies_beside_a_statement_executes_it_once(world):
    world.catch_up()
    done = execute(world, "UPDATE t SET x = x + 1")
    world.publish()
    died = world.job("drain", "--slave", "zurich", "--once", crash_at=CrashPoint.MERGED)
    assert died.returncode not in (0, 3)
    assert standings(world, done)["zurich"] == (StatementStatus.OK, "")
    world.catch_up()
    assert world.differences() == {}
    assert standings(world, done) == everywhere(world)


def test_a_publisher_that_dies_before_it_purged_sends_a_statement_once(world):
    execute(world, "UPDATE t SET x = x + 1")
    assert world.job("publish", "--once", crash_at=CrashPoint.LISTED).returncode not in (0, 3)
    world.catch_up()
    assert [row["action"] for row in world.log()].count("S") == 1
    assert world.differences() == {}
