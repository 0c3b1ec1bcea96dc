"""A lock keeps a table, and not the name of its schema: what gets its name meanwhile runs nothing with our rights."""

from __future__ import annotations

from functools import partial

import pytest
from psycopg import sql

from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.model.position import Position
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.session import connect, read_tables_alone

pytestmark = [pytest.mark.postgres]

DDL = "CREATE SCHEMA app; CREATE TABLE app.t (id int PRIMARY KEY, v text)"
NAME = TableName("app", "t")
# What the owner of the schema does, with a function of his that tells who ran it.
INSTEAD = """
    CREATE SCHEMA own; CREATE SEQUENCE own.ran;
    CREATE FUNCTION own.f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
        EXECUTE format('COPY (SELECT 1) TO %L', current_setting('data_directory') || '/ran_' || current_database());
        RETURN 1;
    END $$;
    ALTER SCHEMA app RENAME TO app_before; CREATE SCHEMA app;
    CREATE VIEW app.t AS SELECT own.f() AS id, 'x'::text AS v, NULL::tid AS ctid WHERE own.f() = 1
"""


@pytest.fixture
def world(build):
    made = build(DDL, ["app.t"])
    made.master.execute("INSERT INTO app.t VALUES (1, 'a')")
    return made


def ran(world):
    file = "current_setting('data_directory') || '/ran_' || current_database()"
    return world.master.execute(f"SELECT (pg_stat_file({file}, true)).size IS NOT NULL").fetchone() == (True,)


def test_a_view_in_place_of_a_table_that_a_dump_holds_is_not_read(world):
    database = world.context.source("flights")
    with database.master.dump_snapshot([[NAME]], partial(Position, 0, 0)) as snapshot:
        world.master.execute(INSTEAD)
        with pytest.raises(SluiceError, match=r"SLC-039: looking for rows: access to .* \"t\" is restricted"):
            snapshot.filled()
    database.close()
    assert not ran(world)


def test_a_session_that_reads_tables_alone_refuses_the_view_before_anything_of_it_runs(world):
    world.master.execute(INSTEAD)
    with connect(world.infos["master"], "dump", autocommit=True) as session:
        read_tables_alone(session)
        rows = relations.rows_of(session, NAME)
        with pytest.raises(Exception, match="restricted"):
            session.execute(sql.SQL("SELECT id, v FROM {}").format(rows))
    assert not ran(world)
