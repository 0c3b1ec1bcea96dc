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
# Columns that are called as what our functions keep in mind.
OURS = (
    "again",
    "bearer",
    "captured",
    "command",
    "content",
    "freed",
    "heir",
    "keyed",
    "late",
    "oldcontent",
    "own",
    "there",
)
ADDED = ", ".join(f"ADD {name} int" for name in OURS)
TABLES |= {shape: f"{TABLES[shape]}; ALTER TABLE t {ADDED}" for shape in ("a key", "partitions")}
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
# What a function does for the row n, and the statement that calls it.
CALLED = {
    "those that went come again": ("INSERT INTO t VALUES (n, 1, 'again')", "DELETE FROM t RETURNING called(id)"),
    "one that went comes again": (
        "IF n = 4 THEN INSERT INTO t VALUES (3, 1, 'again'); END IF", "DELETE FROM t WHERE called(id) > 0"),
    "another takes the key": (
        "IF n = 4 THEN UPDATE t SET id = 3 WHERE id = 5; END IF",
        "DELETE FROM t WHERE id IN (3, 4) RETURNING called(id)"),
    "the row of before is one of this transaction": (
        "IF n = 8 THEN INSERT INTO t VALUES (7, 1, 'again'); END IF",
        "BEGIN; INSERT INTO t VALUES (7, 1), (8, 1); DELETE FROM t WHERE id > 6 RETURNING called(id); COMMIT"),
    "others are changed behind them": (
        "UPDATE t SET v = v || 'x' WHERE id < n",
        "INSERT INTO t SELECT g, g % 3 FROM generate_series(7, 9) AS g RETURNING called(id)"),
    "a key that SET takes away is taken": (
        "IF n = 3 THEN INSERT INTO t VALUES (2, 2, 'again'); END IF",
        "UPDATE t SET id = called(id) + 20 WHERE id IN (2, 3)"),
    "a key that was taken away is taken": (
        "IF n = 23 THEN INSERT INTO t VALUES (2, 2, 'again'); END IF",
        "UPDATE t SET id = id + 20 WHERE id IN (2, 3) RETURNING called(id)"),
    "a row within takes the key": (
        "IF n = 3 THEN UPDATE t SET id = 2, grp = 2, v = 'again' WHERE id = 1; END IF",
        "UPDATE t SET id = called(id) + 20 WHERE id IN (2, 3)"),
    "a key that MERGE takes away is taken": (
        "IF n = 3 THEN INSERT INTO t VALUES (2, 2, 'again'); END IF",
        "MERGE INTO t USING (VALUES (2), (3)) AS s (i) ON t.id = s.i"
        " WHEN MATCHED THEN UPDATE SET id = called(s.i) + 20"),
}  # fmt: skip
# Where a key is checked at once.
CALLED_FOR_A_KEY = {
    "a key that a conflict takes away is taken": (
        "IF n = 5 THEN INSERT INTO t VALUES (1, 1, 'again'); END IF",
        "INSERT INTO t SELECT called(g), g % 3, 'n' FROM generate_series(1, 5) AS g"
        " ON CONFLICT (id) DO UPDATE SET id = t.id + 100"),
}  # fmt: skip
# Nothing is within these, though one row has another's key when their triggers fire.
PLAIN = {
    "each is called as the one before": "UPDATE t SET id = id - 1",
    "in the place of one that goes": (
        "WITH gone AS (DELETE FROM t WHERE id < 3 RETURNING *) INSERT INTO t SELECT id, grp, 'second' FROM gone"),
    "moved": "UPDATE t SET grp = (grp + 1) % 3",
    "moved as soon as it is there": (
        "BEGIN; INSERT INTO t VALUES (8, 0), (7, 0); UPDATE t SET grp = 1 WHERE id > 6; COMMIT"),
    "called otherwise as soon as it is there": (
        "BEGIN; INSERT INTO t VALUES (20, 0), (21, 0); UPDATE t SET id = id - 1 WHERE id > 19; COMMIT"),
}  # fmt: skip
CAPTURED = """
    SELECT left(db_action, 1), content, oldcontent FROM repl_queue WHERE left(db_action, 1) IN ('I', 'U', 'D')
    ORDER BY repl_key"""


FULL, KEY = {"public.t": {}}, {"public.t": {"old_images": "key"}}
SHAPES = [pytest.param(ddl, FULL, id=name) for name, ddl in TABLES.items()]
SEEN = [
    *(pytest.param(ddl, FULL, True, id=name) for name, ddl in TABLES.items()),
    pytest.param(KEYED, KEY, True, id="no old images"),
]
POLLED = [pytest.param(TABLES["partitions"], FULL, False, id="partitions, polled")]


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


@pytest.mark.full(but=["a key"])
@pytest.mark.parametrize(("ddl", "tables"), [*SHAPES, pytest.param(KEYED, KEY, id="no old images")])
def test_rows_that_a_trigger_changes_within_their_statement_are_as_it_left_them(build, ddl, tables):
    world = build(ddl, tables)
    for name, case in CASES.items():
        act(world, *case)
        world.catch_up()
        assert world.differences() == {}, name
    assert world.master.execute("SELECT status FROM repl_tables").fetchall() == [("OK",)]


@pytest.mark.full
@pytest.mark.parametrize(("ddl", "tables", "superuser"), [*SEEN, *POLLED])
def test_rows_that_a_function_changes_within_a_statement_are_as_it_left_them(build, weak, ddl, tables, superuser):
    world = build(ddl, tables, elsewhere={} if superuser else {"master": weak})
    called = CALLED | CALLED_FOR_A_KEY if KEYED in ddl else CALLED
    for name, (does, statement) in called.items():
        body = f"BEGIN {does}; RETURN n; END"
        world.master.execute(f"""
            TRUNCATE t;
            {FILLED};
            CREATE OR REPLACE FUNCTION called(n int) RETURNS int LANGUAGE plpgsql AS $${body}$$""")
        world.master.execute(statement)
        world.catch_up()
        assert world.differences() == {}, name
    assert world.master.execute("SELECT status FROM repl_tables").fetchall() == [("OK",)]


@pytest.mark.full
@pytest.mark.parametrize(("ddl", "tables", "superuser"), [*SEEN[:1], *POLLED])
def test_a_statement_that_none_is_within_is_captured_once(build, weak, ddl, tables, superuser):
    world = build(ddl, tables, elsewhere={} if superuser else {"master": weak})
    for name, statement in PLAIN.items():
        world.master.execute(f"TRUNCATE t; {FILLED}")
        world.master.execute(statement)
        there = set()
        for action, new, old in world.master.execute(CAPTURED).fetchall():
            assert action == "I" or old in there, name
            there.discard(old)
            assert action == "D" or new not in there, name
            there.add(new)
        world.catch_up()
        assert world.differences() == {}, name


# Each makes one row look as another did before.
ALIKE = {
    "a new one as one that was changed": "UPDATE t SET v = 'x' WHERE id = 4; INSERT INTO t VALUES (4, 1, 'first')",
    "one as its neighbour": "UPDATE t SET v = 'x' WHERE id = 4; UPDATE t SET id = 4, grp = 1, v = 'first' WHERE id = 5",
    "one that went": "DELETE FROM t WHERE id = 4; INSERT INTO t VALUES (4, 1, 'first'), (4, 1, 'second')",
}


@pytest.mark.full
def test_rows_that_look_alike_are_as_many_as_a_trigger_left_of_them_and_stay_behind_a_truncate(build):
    world = build(TABLES["no key"], ["public.t"])
    for name, does in ALIKE.items():
        act(world, "AFTER UPDATE", does, "UPDATE t SET v = 'second'")
        world.catch_up()
        assert world.differences() == {}, name
    world.master.execute("DROP FUNCTION act CASCADE; TRUNCATE t; INSERT INTO t VALUES (4, 1, 'second')")
    world.catch_up()
    world.master.execute("BEGIN; UPDATE t SET v = 'third'; TRUNCATE t")
    act(
        world,
        "AFTER INSERT",
        "UPDATE t SET v = 'x' WHERE id = 4",
        "INSERT INTO t VALUES (3, 1, ''), (4, 1, 'second'); COMMIT",
    )
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_what_is_put_in_order_is_printed_as_all_else(build):
    """Under no setting of the session (R7)."""
    world = build(f"{KEYED}; ALTER TABLE t ADD at timestamptz, ADD f float8, ADD b bytea, ADD i interval", ["public.t"])
    world.master.execute("SET datestyle = 'German'; SET timezone = 'Asia/Tokyo'; SET extra_float_digits = -10")
    world.master.execute("SET bytea_output = 'escape'; SET intervalstyle = 'iso_8601'")
    values = "at = now(), f = 1 / 3.0::float8, b = 'x', i = '1 day 2 hours'"
    act(world, "AFTER INSERT", f"UPDATE t SET {values} WHERE id <> 3", FILLED)
    assert len(world.queued()) > 6 + 5, "nothing was put in order"
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
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


@pytest.mark.full
def test_a_change_that_cannot_be_put_in_order_is_told_and_fails_nobody(build):
    world = build(KEYED, ["public.t"])
    world.master.execute("DROP FUNCTION repl_overtaken")
    act(world, *CASES["others are changed behind them"])
    assert world.master.execute("SELECT count(*) FROM t").fetchone() == (6,)
    assert world.master.execute("SELECT status FROM repl_tables").fetchall() == [("LOST",)]


# Each with a table of its own.
RENAMED = {
    "a": ("ALTER TABLE a RENAME TO other", "other"),
    "b": ("ALTER TABLE b RENAME id TO number", "b"),
    "c": ("CREATE SCHEMA one; ALTER TABLE c SET SCHEMA one; ALTER SCHEMA one RENAME TO two", "two.c"),
    "d": ("ALTER TABLE d DROP CONSTRAINT d_pkey, ADD PRIMARY KEY (grp)", "d"),
    "e": ("ALTER TABLE e DROP CONSTRAINT e_pkey", "e"),
}


@pytest.mark.full
@pytest.mark.parametrize("superuser", [True, False], ids=["seen", "polled"])
def test_what_is_altered_is_looked_up_as_it_is_called_now(build, weak, superuser):
    tables = ";".join(f"{KEYED.replace(' t ', f' {name} ')}; INSERT INTO {name} VALUES (1, 1)" for name in RENAMED)
    watched = [f"public.{name}" for name in RENAMED]
    world = build(tables, watched, elsewhere={} if superuser else {"master": weak})
    other = world.session()
    statuses = "SELECT status FROM repl_tables WHERE relid IS NOT NULL"
    for ddl, name in RENAMED.values():
        world.master.execute(ddl)
        with other.transaction():
            other.execute(f"SELECT FROM {name} FOR KEY SHARE")
            world.master.execute(f"UPDATE {name} SET v = 'second'")
        assert world.master.execute(statuses).fetchall() == [("OK",)] * len(RENAMED), ddl


@pytest.mark.full
def test_rows_are_deleted_from_a_table_that_may_not_be_read_any_more(build, weak):
    world = build(f"{KEYED}; {FILLED}", ["public.t"], elsewhere={"master": weak})
    world.master.execute("REVOKE SELECT ON t FROM CURRENT_USER; DELETE FROM t")
    assert world.master.execute("SELECT count(*) FROM repl_queue WHERE db_action = 'DELETE'").fetchone() == (6,)
    assert world.master.execute("SELECT status FROM repl_tables").fetchall() == [("OK",)]


EMPTIED = """
CREATE FUNCTION refill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_WHEN = 'BEFORE' THEN
        INSERT INTO t VALUES (7, 7, 'before'); INSERT INTO u VALUES (7, 'before');
    ELSE
        INSERT INTO t VALUES (8, 8, TG_TABLE_NAME) ON CONFLICT DO NOTHING; INSERT INTO u VALUES (8, TG_TABLE_NAME);
    END IF;
    RETURN NULL; END $$;
CREATE TABLE u (id int, v text);
"""


@pytest.mark.full
@pytest.mark.parametrize("ddl", [KEYED, TABLES["partitions"]], ids=["whole", "partitions"])
def test_what_triggers_bring_when_a_table_is_emptied_is_there_in_the_end(build, ddl):
    """Whatever their names, and whichever of several tables is told first (R1)."""
    world = build(f"{ddl}; {EMPTIED}", ["public.t", "public.u"])
    for name in ("Again", "again"):
        for moment in ("BEFORE", "AFTER"):
            made = f'CREATE TRIGGER "{name} {moment}" {moment} TRUNCATE ON t EXECUTE FUNCTION refill()'
            world.master.execute(made.encode())
        for statement in ("TRUNCATE t", "TRUNCATE u, t", "TRUNCATE t, u"):
            world.master.execute("INSERT INTO t VALUES (1, 1), (2, 2); INSERT INTO u VALUES (1)")
            world.catch_up()
            world.master.execute(statement.encode())
            world.catch_up()
            assert world.rows("master", "public.t")
            assert world.differences() == {}, (name, statement)
            world.master.execute("DELETE FROM t; DELETE FROM u")
        world.master.execute(f'DROP TRIGGER "{name} BEFORE" ON t; DROP TRIGGER "{name} AFTER" ON t')
