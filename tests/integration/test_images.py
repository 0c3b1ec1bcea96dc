"""A row's image depends on nothing but the row: not on the session that writes it, nor on who owns the table (R7)."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.postgres]

ODD_SETTINGS = {
    "datestyle": "German, DMY",
    "intervalstyle": "sql_standard",
    "extra_float_digits": "0",
    "bytea_output": "escape",
    "timezone": "Asia/Kathmandu",
    "search_path": "pg_temp",
}
TYPES = """
CREATE TYPE pair AS (a timestamptz, b float8);
CREATE TYPE colour AS ENUM ('red');
CREATE DOMAIN moment AS timestamptz;
CREATE DOMAIN moments AS moment[];
CREATE TYPE spans AS RANGE (SUBTYPE = interval)
"""
WHEN = "2024-02-01 12:00:00.5+00"
# Type, a value that prints differently under odd settings where it can, the settings that its text depends on.
CASES = [
    ("integer", "7", set()),
    ("numeric(12,2)", "1.50", set()),
    ("text", "a, b", set()),
    ("json", '{"a": 1}', set()),
    ("uuid", "11111111-1111-1111-1111-111111111111", set()),
    ("colour", "red", set()),
    ("int4range", "[1,4)", set()),
    ("date", "2024-02-01", {"DateStyle"}),
    ("timestamp[]", "{2024-02-01 12:00:00}", {"DateStyle"}),
    ("timestamptz", WHEN, {"DateStyle", "TimeZone"}),
    ("moments", f"{{{WHEN}}}", {"DateStyle", "TimeZone"}),
    ("tstzrange", f"[{WHEN},)", {"DateStyle", "TimeZone"}),
    ("tstzmultirange", f"{{[{WHEN},)}}", {"DateStyle", "TimeZone"}),
    ("interval", "1-2 -3 04:05:06", {"IntervalStyle"}),
    ("spans", "[1-2 04:05:06,)", {"IntervalStyle"}),
    ("float8", "0.30000000000000004", {"extra_float_digits"}),
    ("real[]", "{1e-7,0.3}", {"extra_float_digits"}),
    ("point", "(0.30000000000000004,1)", {"extra_float_digits"}),
    ("bytea", r"\x00ff5c", {"bytea_output"}),
    ("money", "12.5", {"lc_monetary"}),
]
EVERY = {"search_path", "DateStyle", "IntervalStyle", "TimeZone", "extra_float_digits", "bytea_output", "lc_monetary"}
CASES += [
    ("regclass", "public.t", EVERY),
    ("pair", f'("{WHEN}",0.30000000000000004)', EVERY),
    ("pair[]", f'{{"(\\"{WHEN}\\",0.1)"}}', EVERY),
]


TABLES = [f"t{number}" for number in range(len(CASES))]


@pytest.fixture
def world(build):
    return build(f"CREATE TABLE t (id int PRIMARY KEY); {TYPES}", ["public.t"])


def odd(world):
    """A session of somebody who likes other settings than we do."""
    session = world.session()
    for name, value in ODD_SETTINGS.items():
        session.execute("SELECT set_config(%s, %s, false)", [name, value])
    return session


def pinned(world, table="t"):
    """The settings that the trigger function of a table pins."""
    query = "SELECT proconfig FROM pg_proc WHERE proname = 'repl_capture_' || %s::regclass::oid"
    (found,) = world.master.execute(query, [table]).fetchone()
    return {setting.partition("=")[0] for setting in found or ()}


def images(world):
    query = "SELECT content FROM repl_queue WHERE left(db_action, 1) IN ('I', 'U') ORDER BY repl_key"
    return [image for (image,) in world.master.execute(query)]


def test_a_column_that_comes_later_is_printed_alike_in_every_session_and_pins_what_its_type_needs(build):
    made = "; ".join(f"CREATE TABLE {table} (id int PRIMARY KEY)" for table in ("t", *TABLES))
    world = build(f"{made}; {TYPES}", [f"public.{table}" for table in TABLES])
    strange = odd(world)
    for table, (type_, value, settings) in zip(TABLES, CASES, strict=True):
        assert pinned(world, table) == set()
        world.master.execute(f"INSERT INTO {table} VALUES (1), (2)")
        world.master.execute(f"ALTER TABLE {table} ADD v {type_}")
        for session, number in ((world.master, 1), (strange, 2)):
            session.execute(f"UPDATE public.{table} SET v = %s WHERE id = %s", [value, number])
        one, two = images(world)[-2:]
        assert one.removeprefix("(1,") == two.removeprefix("(2,") != ")", type_
        assert pinned(world, table) == settings, type_


def test_a_column_that_changes_its_type_is_printed_alike_in_every_session(world):
    strange = odd(world)
    world.master.execute("ALTER TABLE t ADD v text; INSERT INTO t VALUES (1, '2024-02-01')")
    world.master.execute("ALTER TABLE t ALTER v TYPE date USING v::date")
    strange.execute("UPDATE public.t SET v = v + 1")
    assert images(world)[-1] == "(1,2024-02-02)"


def test_where_nobody_sees_an_alter_every_setting_is_pinned(build, weak):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], elsewhere={"master": weak})
    assert pinned(world) == EVERY


def test_a_session_that_puts_its_own_names_first_is_captured_as_every_other(build):
    """The trigger function runs with the rights of its owner, so nothing in it may be found by a user's search_path."""
    world = build("CREATE TABLE t (id int PRIMARY KEY)", {"public.t": {"debug": 1}})
    world.master.execute(
        """
        CREATE SCHEMA mine;
        CREATE FUNCTION mine.nextval(regclass) RETURNS bigint LANGUAGE sql AS 'SELECT 1 / 0';
        CREATE FUNCTION mine.format(text, VARIADIC text[]) RETURNS text LANGUAGE sql AS 'SELECT (1 / 0)::text';
        CREATE FUNCTION mine.record_out(t) RETURNS text LANGUAGE sql AS 'SELECT (1 / 0)::text';
        CREATE DOMAIN mine."char" AS text CHECK (false);
        CREATE DOMAIN mine.regclass AS text CHECK (false);
        CREATE FUNCTION mine.equal(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT 1 / 0 = 1';
        CREATE OPERATOR mine.= (LEFTARG = text, RIGHTARG = text, FUNCTION = mine.equal);
        SET search_path = mine, pg_catalog, public
        """
    )
    world.master.execute("INSERT INTO public.t VALUES (1)")
    assert world.master.execute("SELECT content FROM repl.repl_queue").fetchall() == [("(1)",)]
    (line,) = world.master.execute("SELECT line FROM repl.repl_debug_table").fetchone()
    assert line.startswith("INSERT on public.t by transaction ")


def test_a_cast_that_the_owner_of_a_table_made_is_not_run_with_the_rights_of_the_capture(world):
    world.master.execute(
        """
        CREATE FUNCTION shown(t) RETURNS text LANGUAGE sql AS $$ SELECT 'cast by ' || current_user $$;
        CREATE CAST (t AS text) WITH FUNCTION shown(t) AS ASSIGNMENT
        """
    )
    world.master.execute("INSERT INTO t VALUES (1)")
    assert images(world) == ["(1)"]
