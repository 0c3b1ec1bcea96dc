"""Somebody restores a table of a live master from a dump, which has our triggers as well."""

from __future__ import annotations

import os
import subprocess

import pytest

from sluice.runtime import postgres_dirs

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE keyed (id int PRIMARY KEY, v text);
CREATE TABLE heap (a int, b text);
CREATE TABLE parted (id int, at date) PARTITION BY RANGE (at);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')
"""
TABLES = ["public.keyed", "public.heap", "public.parted"]
ROWS = """
INSERT INTO parted SELECT g, '2024-05-05' FROM generate_series(1, 20) AS g;
INSERT INTO keyed SELECT g, 'v' || g FROM generate_series(1, 20) AS g;
INSERT INTO heap SELECT g % 5, 'b' FROM generate_series(1, 20) AS g;
"""
LATER = """
INSERT INTO keyed VALUES (100, 'later'); UPDATE keyed SET v = 'changed' WHERE id = 3; DELETE FROM keyed WHERE id = 4;
INSERT INTO heap VALUES (9, 'x'), (9, 'x'); DELETE FROM heap WHERE a = 2;
INSERT INTO parted VALUES (100, '2024-06-06'); UPDATE parted SET id = 200 WHERE id = 3;
"""


def run(info, program, *options, script=None):
    found = {"HOST": info.host, "PORT": str(info.port), "USER": info.login, "DATABASE": info.database}
    env = {**os.environ, "PGPASSWORD": info.password, **{f"PG{name}": value for name, value in found.items()}}
    command = [postgres_dirs.packaged_binaries() / program, *options]
    done = subprocess.run(command, env=env, input=script, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.full(but=["triggers"])
@pytest.mark.parametrize("capture", ["triggers", "log"])
def test_a_table_is_restored_over_itself_and_each_change_arrives_once(build, capture):
    world = build(DDL, TABLES, source={"capture": capture})
    world.master.execute(ROWS)
    world.catch_up()
    dump = run(world.infos["master"], "pg_dump", "--clean", "--if-exists", "--table=public.*")
    for options in (["--single-transaction"], []):
        world.master.execute("DELETE FROM keyed WHERE id > 10; DELETE FROM heap")
        world.catch_up()
        run(world.infos["master"], "psql", "-qX", "-v", "ON_ERROR_STOP=1", *options, script=dump)
        world.catch_up()
        assert world.differences() == {}
        world.master.execute(LATER)
        world.catch_up()
        assert world.differences() == {}
    world.master.execute("INSERT INTO heap VALUES (77, 'once')")
    assert world.publish()["changes"] == 1


@pytest.mark.full(but=["whole"])
@pytest.mark.parametrize("options", [[], ["--schema=public", "--schema=repl"]], ids=["whole", "schemas"])
def test_a_copy_of_the_database_works_with_what_came_along_and_without_it(build, server, options):
    world = build(DDL, TABLES)
    world.master.execute(ROWS)
    dump = run(world.infos["master"], "pg_dump", "--no-owner", *options)
    copy = server.create_database()
    with server.connect(copy) as session:
        if options:
            session.execute("DROP SCHEMA public")
        run(copy, "psql", "-qX", "-v", "ON_ERROR_STOP=1", script=dump)
        session.execute("SET search_path = public")
        session.execute(LATER)
        session.execute("DROP SCHEMA repl CASCADE")
        session.execute(
            "ALTER TABLE keyed ADD c int; CREATE TABLE other (id int PRIMARY KEY); DROP TABLE heap; TRUNCATE keyed"
        )
        assert session.execute("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal").fetchone() == (0,)
    server.drop_databases([copy])


def test_functions_of_dropped_tables_do_not_pile_up(build):
    world = build(DDL, TABLES)
    functions = "SELECT count(*) FROM pg_proc WHERE proname ~ '^repl_capture_[0-9]+$'"
    made = (
        "DO $$ BEGIN FOR n IN 900001 .. 900150 LOOP EXECUTE format('CREATE FUNCTION repl.repl_capture_%s() RETURNS "
        "trigger LANGUAGE plpgsql AS %L', n, 'BEGIN RETURN NULL; END'); END LOOP; END $$"
    )
    world.master.execute(made)
    world.master.execute("DROP TABLE heap")
    world.publish()
    assert world.master.execute(functions).fetchone() == (102,), "of the tables that are there, and a hundred"
