"""Statements of triggers and functions that change rows of the very statement that runs them: slaves are equal (R1)."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.postgres]

KEYED = "CREATE TABLE t (id int PRIMARY KEY, grp int, v text)"
TABLES = {
    "a key": KEYED,
    "no key": "CREATE TABLE t (id int, grp int, v text)",
    "a key checked at commit": "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE, grp int, v text)",
    "partitions": """
        CREATE TABLE t (id int, grp int, v text, PRIMARY KEY (id, grp)) PARTITION BY LIST (grp);
        CREATE TABLE even PARTITION OF t FOR VALUES IN (0, 2);
        CREATE TABLE odd (v text, grp int NOT NULL, id int NOT NULL);
        ALTER TABLE t ATTACH PARTITION odd DEFAULT""",
}
FILLED = "INSERT INTO t SELECT g, g % 3, 'first' FROM generate_series(1, 6) AS g"
# When the trigger runs, and for which event; what it does for the row 3; the statement.
CASES = {
    "others are changed behind them": ("AFTER INSERT", "UPDATE t SET v = v || 'x' WHERE id <> 3", FILLED),
    "those that are there are changed": ("BEFORE INSERT", "UPDATE t SET v = v || 'x'", FILLED),
    "others go": ("AFTER INSERT", "DELETE FROM t WHERE id > 3", FILLED),
    "others are called otherwise": ("AFTER INSERT", "UPDATE t SET id = -id WHERE id <> 3", FILLED),
    "others go and come": (
        "AFTER INSERT", "DELETE FROM t WHERE id = 4; INSERT INTO t VALUES (4, 1, 'second')", FILLED),
    "others move": (
        "AFTER UPDATE", "UPDATE t SET grp = 1 - grp WHERE grp < 2 AND id <> 3", "UPDATE t SET v = 'second'"),
    "twice": (
        "AFTER UPDATE", "UPDATE t SET v = 'x' WHERE id = 4; UPDATE t SET v = v || 'y'", "UPDATE t SET v = 'second'"),
    "back again": (
        "AFTER UPDATE", "UPDATE t SET v = 'x' WHERE id = 4; UPDATE t SET v = 'second'", "UPDATE t SET v = 'second'"),
    "one that went comes again": ("AFTER DELETE", "INSERT INTO t VALUES (4, 1, 'again')", "DELETE FROM t"),
    "one that is called otherwise leaves its key": (
        "AFTER UPDATE", "INSERT INTO t VALUES (4, 1, 'heir')", "UPDATE t SET id = id + 10"),
}  # fmt: skip


FULL, KEY = {"public.t": {}}, {"public.t": {"old_images": "key"}}
SHAPES = [pytest.param(ddl, FULL, id=name) for name, ddl in TABLES.items()]


def act(world, moment, does, statement):
    """Run a statement on six rows, or none, with a trigger that does something for the row 3, once."""
    row, looked = ("NEW", "NEW") if "INSERT" in moment else ("NEW", "OLD") if "UPDATE" in moment else ("OLD", "OLD")
    world.master.execute("TRUNCATE t; DROP FUNCTION IF EXISTS act CASCADE")
    if statement != FILLED:
        world.master.execute(FILLED)
    world.master.execute(f"""
        CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF {looked}.id = 3 AND pg_trigger_depth() = 1 THEN {does}; END IF;
            RETURN {row};
        END $$;
        CREATE TRIGGER act {moment} ON t FOR EACH ROW EXECUTE FUNCTION act()""")
    world.master.execute(statement)


@pytest.mark.parametrize(("ddl", "tables"), [*SHAPES, pytest.param(KEYED, KEY, id="no old images")])
def test_rows_that_a_trigger_changes_within_their_statement_are_as_it_left_them(build, ddl, tables):
    world = build(ddl, tables)
    for name, case in CASES.items():
        act(world, *case)
        world.catch_up()
        assert world.differences() == {}, name
    assert world.master.execute("SELECT status FROM repl_tables").fetchall() == [("OK",)]


def test_a_row_that_somebody_locks_is_captured_as_ever(build):
    world = build(f"{KEYED}; CREATE TABLE child (id int REFERENCES t)", ["public.t"])
    world.master.execute(FILLED)
    world.catch_up()
    other = world.session()
    with other.transaction():
        other.execute("INSERT INTO child VALUES (1), (2)")
        world.master.execute("UPDATE t SET v = 'second'")
    actions = world.master.execute("SELECT left(db_action, 1) FROM repl_queue WHERE db_action <> 'C'").fetchall()
    assert actions == [("U",)] * 6
    world.catch_up()
    assert world.differences() == {}


def test_a_change_that_cannot_be_put_in_order_is_told_and_fails_nobody(build):
    world = build(KEYED, ["public.t"])
    world.master.execute("DROP FUNCTION repl_overtaken")
    act(world, *CASES["others are changed behind them"])
    assert world.master.execute("SELECT count(*) FROM t").fetchone() == (6,)
    assert world.master.execute("SELECT status FROM repl_tables").fetchall() == [("LOST",)]


def test_trigger_functions_of_an_older_version_are_made_again(build):
    world = build(KEYED, ["public.t"])
    (name, body) = world.master.execute(
        "SELECT proname, prosrc FROM pg_proc WHERE proname ~ 'capture_[0-9]'"
    ).fetchone()
    older = body[: body.index("IF NEW.xmax")] + "RETURN NULL; END"
    made = f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $older${older}$older$"
    world.master.execute(f"{made}; UPDATE repl_state SET version = 15")
    world.publish()
    assert world.master.execute("SELECT prosrc FROM pg_proc WHERE proname = %s", [name]).fetchone() == (body,)


RENAMED = {
    "a table": ("ALTER TABLE t RENAME TO other", "other"),
    "a column": ("ALTER TABLE t RENAME id TO number", "t"),
    "a schema": ("CREATE SCHEMA one; ALTER TABLE t SET SCHEMA one; ALTER SCHEMA one RENAME TO two", "two.t"),
    "a key": ("ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (grp)", "t"),
    "a key that is gone": ("ALTER TABLE t DROP CONSTRAINT t_pkey", "t"),
}


@pytest.mark.parametrize("superuser", [True, False], ids=["seen", "polled"])
@pytest.mark.parametrize(("ddl", "name"), RENAMED.values(), ids=RENAMED)
def test_what_is_altered_is_looked_up_as_it_is_called_now(build, weak, ddl, name, superuser):
    world = build(
        f"{KEYED}; INSERT INTO t VALUES (1, 1)", ["public.t"], elsewhere={} if superuser else {"master": weak}
    )
    world.master.execute(ddl)
    other = world.session()
    with other.transaction():
        other.execute(f"SELECT FROM {name} FOR KEY SHARE")
        world.master.execute(f"UPDATE {name} SET v = 'second'")
    assert world.master.execute("SELECT status FROM repl_tables").fetchall() == [("OK",)]
