"""Tables with constraints that are checked at the commit: no statement stumbles over what waits for it (R9)."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.postgres]

REFERRED = (
    "CREATE TABLE t (id int PRIMARY KEY, u int); CREATE TABLE c (t int REFERENCES t DEFERRABLE INITIALLY DEFERRED)"
)
CHECKED_LATE = {"a key": "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE, u int)", "a reference to it": REFERRED}
HELD = [
    "TRUNCATE t CASCADE; INSERT INTO t VALUES (30)",
    "ALTER TABLE t ADD v int DEFAULT 7, ALTER u TYPE bigint; INSERT INTO t VALUES (31)",
    "CREATE INDEX ON t (u)",
]


@pytest.mark.full(but=["a reference to it"])
@pytest.mark.parametrize("ddl", CHECKED_LATE.values(), ids=CHECKED_LATE)
def test_a_table_with_checks_at_the_commit_is_altered_behind_its_changes(build, ddl):
    """As it may be without us (R9)."""
    world = build(ddl, ["public.t"])
    for n, behind in enumerate(HELD, 1):
        made = f"INSERT INTO t VALUES ({n}, 1), (-{n}, 2); UPDATE t SET u = 3"
        world.master.execute(f"BEGIN; {made}; {behind}; COMMIT".encode())
        assert world.master.execute("SELECT count(*) FROM repl_notes").fetchone() == (0,), behind
        world.catch_up()
        assert world.differences() == {}, behind


def test_a_statement_has_one_last_key_drawn_if_its_checks_wait_for_the_commit(build):
    world = build(CHECKED_LATE["a key"], ["public.t"])
    for statement in ("INSERT INTO t SELECT generate_series(1, 9)", "UPDATE t SET u = 3", "DELETE FROM t"):
        world.master.execute(statement)
    assert world.master.execute("SELECT count(*) FROM repl_queue WHERE db_action = 'C'").fetchone() == (3,)


def test_rows_that_a_trigger_brings_before_their_table_is_emptied_fail_no_commit(build):
    world = build(CHECKED_LATE["a key"], ["public.t"])
    world.master.execute("""
        CREATE FUNCTION bring() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO t VALUES (5); RETURN NULL; END';
        CREATE TRIGGER bring BEFORE TRUNCATE ON t EXECUTE FUNCTION bring()""")
    world.master.execute("TRUNCATE t")
    world.catch_up()
    assert world.differences() == {}
