"""What a definition that travels runs without naming it: checks of a value's type, and casts that nobody wrote."""

from __future__ import annotations

import pytest

from sluice.commands import unblock
from sluice.errors import SluiceError
from sluice.state.ddl_question import Decision
from sluice.store import ddl_questions

pytestmark = [pytest.mark.postgres]

# It leaves a trace, but on the master.
REWRITTEN = "ts_rewrite('a', $q$SELECT 'a'::tsquery, 'b'::tsquery FROM nextval('public.planted')$q$) <> 'c'"
DOMAIN = f"""CREATE DOMAIN d{{name}} AS int
    CONSTRAINT a CHECK (CASE WHEN current_database() <> '{{master}}' THEN {REWRITTEN} ELSE true END);"""
REWRITES, AS_JSON = "pg_catalog.ts_rewrite", "public.as_json"
OF_SERVER = "pg_stat_get_backend_activity"

HOSTILE = {
    # The server reads a value as soon as it reads the definition in which it stands.
    "a value in a default": (REWRITES, f"{DOMAIN} CREATE TABLE {{name}} (d d{{name}}[] DEFAULT '{{1}}'::d{{name}}[])"),
    "a value in a check": (
        REWRITES,
        f"{DOMAIN} CREATE TYPE y{{name}} AS (a d{{name}});"
        "CREATE TABLE {name} (y y{name}, CHECK (y <> '(1)'::y{name}))",
    ),
    "a value in another domain": (
        REWRITES,
        f"{DOMAIN} CREATE TYPE r{{name}} AS RANGE (SUBTYPE = d{{name}});"
        "CREATE DOMAIN e{name} AS r{name} DEFAULT '[1,2)'::r{name}; CREATE TABLE {name} (e e{name})",
    ),
    "a value in another check of the domain": (
        REWRITES,
        f"{DOMAIN} ALTER DOMAIN d{{name}} ADD CONSTRAINT b CHECK (VALUE <> ALL ('{{2}}'::d{{name}}[]));"
        "CREATE TABLE {name} (d d{name})",
    ),
    "a value in a new column": (
        REWRITES,
        f"{DOMAIN} ALTER TABLE t ADD {{name}} d{{name}}[] DEFAULT '{{1}}'::d{{name}}[]",
    ),
    "a cast to a column": ("public.to_hue", "CREATE TABLE {name} (n int, h hue GENERATED ALWAYS AS (n) STORED)"),
    "a cast of a check": ("public.is_on", "CREATE TABLE {name} (s switch, CHECK (s))"),
    "a cast of a condition": ("public.is_on", "CREATE TABLE {name} (n int, s switch, EXCLUDE (n WITH =) WHERE (s))"),
    "a cast within JSON": (AS_JSON, "CREATE TABLE {name} (h hue[], CHECK (to_jsonb(h) IS NOT NULL))"),
    "a cast within a row": (AS_JSON, "CREATE TABLE {name} (p pot, CHECK (row_to_json(p) IS NOT NULL))"),
    "a cast within built JSON": (AS_JSON, "CREATE TABLE {name} (h hue, CHECK (json_build_array(h) IS NOT NULL))"),
    "a cast in JSON's own words": (AS_JSON, "CREATE TABLE {name} (h hue, CHECK (JSON_ARRAY(h) IS NOT NULL))"),
    "a function of the server that somebody made a cast": (
        f"pg_catalog.{OF_SERVER}",
        f"CREATE TABLE {{name}} (n int, CHECK ({OF_SERVER}(n) <> ''))",
    ),
    # The last one, since a slave that rejects it has a column that takes no value.
    "a cast to a column's new type": ("public.to_hue", "ALTER TABLE v ALTER g TYPE hue"),
}
# Whoever may make objects on the slave owns these there.
DDL = f"""
CREATE SEQUENCE planted;
CREATE TABLE t (id int PRIMARY KEY);
CREATE TABLE u (id int PRIMARY KEY, b bool);
CREATE TABLE v (id int PRIMARY KEY, n int, g int GENERATED ALWAYS AS (n) STORED);
CREATE FUNCTION ours(int) RETURNS int LANGUAGE plpgsql IMMUTABLE
    AS 'BEGIN PERFORM nextval(''public.planted''); RETURN 1; END';
CREATE TYPE hue AS ENUM ('red');
CREATE TYPE pot AS (h hue);
CREATE TYPE switch AS (n int);
CREATE DOMAIN number AS int;
CREATE FUNCTION to_hue(int) RETURNS hue LANGUAGE sql IMMUTABLE AS 'SELECT ''red''::public.hue';
CREATE FUNCTION as_json(hue) RETURNS json LANGUAGE sql IMMUTABLE AS 'SELECT ''1''::json';
CREATE FUNCTION is_on(switch) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE CAST (int AS hue) WITH FUNCTION to_hue(int) AS ASSIGNMENT;
CREATE CAST (hue AS json) WITH FUNCTION as_json(hue);
CREATE CAST (switch AS bool) WITH FUNCTION is_on(switch) AS ASSIGNMENT;
CREATE CAST (number AS text) WITH FUNCTION {OF_SERVER}(int);
"""


def written(world, statement, name):
    """A definition, as somebody writes it on the master."""
    return statement.replace("{name}", name).replace("{master}", world.infos["master"].database)


def planted(world):
    """Whether the query was executed on the slave."""
    return world.reader("zurich").execute("SELECT is_called FROM planted").fetchone()[0]


@pytest.mark.full
def test_what_is_run_without_being_named_is_asked_about_before_it_is_run(build, airflow):
    world = build(DDL, ["public.*"])
    world.infos[world.context.config.airflow_api] = airflow.info()
    pair = world.pair("zurich")
    world.catch_up()
    for number, (what, (called, statement)) in enumerate(HOSTILE.items()):
        world.master.execute(written(world, statement, f"h{number}"))
        world.publish()
        assert world.drain()["standby"].startswith("APPROVAL: the master's "), what
        assert not planted(world), what
        ((key,),) = world.reader("control").execute("SELECT key FROM question WHERE state = 'WAITING'").fetchall()
        page = ddl_questions.describe(world.context.store, pair, key)["body"]
        assert f", calls {called}" in page, what
        if what.startswith("a value in a "):
            assert "is not read before that" in page, "whoever decides about the type is told what is made with it"
        unblock.decide(world.context, pair, key, Decision.REJECT)
    assert not planted(world)


@pytest.mark.full
def test_what_was_rejected_is_not_run_by_a_later_alter_where_columns_are_called_otherwise(build, airflow):
    world = build(DDL, ["public.*"])
    world.infos[world.context.config.airflow_api] = airflow.info()
    slave = world.reader("zurich")
    slave.execute("ALTER TABLE u RENAME b TO flag")
    renamed = {"public.u": {"columns": {"b": "flag"}}}
    world.configure(lambda settings: settings["slaves"]["zurich"].update(tables=renamed))
    for more in ("CHECK (ours(1) > 0)", "EXCLUDE (id WITH =) WHERE (ours(1) > 0)"):
        world.master.execute(f"ALTER TABLE u ADD {more}")
        world.publish()
        assert world.drain()["standby"].startswith("APPROVAL: the master's "), more
        ((key,),) = world.reader("control").execute("SELECT key FROM question WHERE state = 'WAITING'").fetchall()
        unblock.decide(world.context, world.pair("zurich"), key, Decision.REJECT)
    world.drain()
    world.master.execute("ALTER TABLE u ADD n int CHECK (n > 0); INSERT INTO u VALUES (1, true, 5)")
    world.catch_up()
    assert slave.execute("SELECT id, flag, n FROM u").fetchall() == [(1, True, 5)]
    checks = "SELECT count(*) FROM pg_constraint WHERE conrelid = 'u'::regclass AND contype IN ('c', 'x')"
    assert slave.execute(checks).fetchone() == (1,)
    assert not planted(world)


def test_json_of_the_servers_own_types_is_made_by_itself(build):
    world = build(DDL, ["public.*"])
    world.catch_up()
    world.master.execute("CREATE TABLE h (p hue, n int[], CHECK (to_jsonb(n) <> json_build_array(n)::jsonb))")
    world.catch_up()
    assert world.rows("zurich", "public.h") == world.rows("master", "public.h")


def test_an_initial_update_runs_no_check_of_a_type_that_it_does_not_make(updating):
    world = updating("CREATE SEQUENCE planted", ["public.h"], {}, slaves=("zurich",))
    world.reader("zurich").execute("CREATE SEQUENCE planted")
    world.master.execute(written(world, HOSTILE["a value in a default"][1], "h"))
    with pytest.raises(
        SluiceError, match=r"(?s)SLC-320: .*calls pg_catalog\.ts_rewrite; the default of column d.* not read"
    ):
        world.inhibit("zurich")
    assert not planted(world)
