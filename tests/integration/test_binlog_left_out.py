"""Tables of a MariaDB master of which the log does not tell all, are left out alone, and others never (R7, R9)."""

from __future__ import annotations

from contextlib import closing

import pytest
from support.binlog import left_out
from test_binlog import DDL, TABLES

from sluice.model.names import TableName
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

# What gh-ost and pt-online-schema-change do to a table, and what else of many tables the log does not tell.
GH_OST = (
    "CREATE TABLE _g_gho LIKE g",
    "ALTER TABLE _g_gho ADD e int NOT NULL DEFAULT 5, DROP v",
    "INSERT IGNORE INTO _g_gho (id, a) SELECT id, a FROM g LOCK IN SHARE MODE",
    "INSERT INTO g (id, a) VALUES (7, 7)",
    "REPLACE INTO _g_gho (id, a) VALUES (7, 7)",
    "RENAME TABLE g TO _g_del, _g_gho TO g",
    "DROP TABLE _g_del",
)
PT_OSC = (
    "CREATE TABLE _p_new LIKE p",
    "ALTER TABLE _p_new ADD e int",
    "CREATE TRIGGER ins AFTER INSERT ON p FOR EACH ROW REPLACE INTO _p_new (id, a, v) VALUES (NEW.id, NEW.a, NEW.v)",
    "INSERT LOW_PRIORITY IGNORE INTO _p_new (id, a, v) SELECT id, a, v FROM p",
    "INSERT INTO p VALUES (7, 7, 'x')",
    "RENAME TABLE p TO _p_old, _p_new TO p",
    "DROP TABLE IF EXISTS _p_old",
)
SWAPPED = ("RENAME TABLE a TO tmp, b TO a, tmp TO b",)
XA = (
    *("XA START 'one'", "UPDATE x SET a = 5", "XA END 'one'", "XA PREPARE 'one'", "XA COMMIT 'one'"),
    *("XA START 'two'", "UPDATE kept SET a = 6", "XA END 'two'", "XA PREPARE 'two'", "XA ROLLBACK 'two'"),
    *("XA START 'three'", "UPDATE y SET a = 5", "XA END 'three'", "XA COMMIT 'three' ONE PHASE"),
)


def test_tables_that_are_left_out_are_filled_alone_and_followed_again(binlog):
    tables = ["g", "p", "a", "b", "x", "y", "kept"]
    made = [f"CREATE TABLE {one} (id int PRIMARY KEY, a int, v varchar(9))" for one in tables]
    made += [f"INSERT INTO {one} VALUES (1, 1, '{one}'), (2, 2, NULL)" for one in tables]
    world, master = binlog(";\n".join(made), tables, slaves=("zurich",))
    master.execute(*GH_OST, *PT_OSC, *SWAPPED, *XA, "UPDATE kept SET a = 7")
    world.catch_up()
    assert left_out(world).keys() == {"g", "p", "a", "b", "x"}
    assert world.reader("zurich").execute("SELECT a FROM public.kept").fetchall() == [(7,), (7,)]
    # They have other columns, and are made anew.
    world.session("zurich").execute("DROP TABLE g, p")
    world.inhibit("zurich", tables=[TableName(master.name, one) for one in left_out(world)])
    with world.running():
        world.dump("zurich")
        world.release("zurich")
    master.execute(
        *(f"INSERT INTO {one} (id, a) VALUES (9, 9)" for one in tables),
        *(f"ALTER TABLE {one} ADD more int DEFAULT 3" for one in tables),
        *(f"UPDATE {one} SET more = 4 WHERE id = 9" for one in tables),
    )
    assert world.verify(initial=True) == {"zurich": 0}
    assert not left_out(world)
    assert {world.status("zurich")} == {Status.NORMAL}


@pytest.mark.parametrize("live", [False, pytest.param(True, marks=pytest.mark.full)])
def test_tables_that_are_made_otherwise_are_left_out_at_their_first_row_beside_a_wildcard(binlog, live):
    made = [f"CREATE TABLE {one} (id int PRIMARY KEY, a int, v varchar(9))" for one in ("g", "p", "kept")]
    world, master = binlog(";\n".join([*made, "INSERT INTO g VALUES (1, 1, 'x')"]), ["*"], slaves=("zurich",))
    more = (
        "CREATE TABLE numbered (id serial, a int)",
        "INSERT INTO numbered (a) VALUES (1), (2)",
        "CREATE TABLE computed (id int PRIMARY KEY, g int AS (id + 1))",
        "INSERT INTO computed (id) VALUES (1)",
        "INSERT INTO kept VALUES (1, 1, 'x')",
    )
    for one in (*GH_OST, *PT_OSC, *more):
        master.execute(one)
        if live:
            world.catch_up()
    assert world.verify() == {"zurich": 0}
    assert (
        {"g", "p", "numbered", "computed"}
        <= left_out(world).keys()
        <= {*("g", "p", "numbered", "computed", "_g_gho", "_g_del", "_p_new", "_p_old")}
    )
    # What their reasons name is one remedy, for all of them.
    world.session("zurich").execute("DROP TABLE g, p")
    world.inhibit("zurich", tables=[TableName(master.name, one) for one in ("g", "p", "numbered", "computed")])
    with world.running():
        world.dump("zurich")
        world.release("zurich")
    master.execute(
        "INSERT INTO g (id, e) VALUES (9, 9)", "UPDATE numbered SET a = 3", "INSERT INTO kept (id) VALUES (9)"
    )
    assert world.verify(initial=True) == {"zurich": 0}
    assert world.status("zurich") == Status.NORMAL


def test_what_a_tenant_does_in_a_database_of_its_own_concerns_no_watched_table(binlog, maria_server):
    world, master = binlog(DDL, TABLES, slaves=("zurich",))
    other = maria_server.create_account()
    mine = master.name.upper()
    for charset, statements in (
        ("utf8mb4", [f"CREATE TABLE x (a int /* {mine} /* */)", f"CREATE VIEW w AS SELECT 1 AS a /* {mine} /* */"]),
        ("utf8mb4", [f"CREATE PROCEDURE p() SELECT 1 /* {mine} /* x */", f"ALTER TABLE x ADD b int /* {mine} /* */"]),
        ("gbk", [f"CREATE TABLE g (a int COMMENT '{master.name} \u4e2d') COMMENT '{master.name} \u4e2d'"]),
        ("gbk", [f"CREATE PROCEDURE q() SELECT '{mine}.keyed \u4e2d'", "DROP PROCEDURE q"]),
        ("gbk", [f"ALTER TABLE g COMMENT '{master.name} \u4e2d'"]),
        ("utf8mb4", [f"ALTER TABLE /*!50101 x /* {mine} database */ */ ADD c int /*!99999 /* {mine} */ , */"]),
        ("utf8mb4", [f"SET STATEMENT sql_mode = 'ANSI_QUOTES' FOR ALTER TABLE x COMMENT '\"{mine}\" schema'"]),
        ("utf8mb4", [f"ALTER TABLE x ADD d int DEFAULT (5--3), ADD e int DEFAULT \\N COMMENT '{mine}.keyed'"]),
        ("utf8mb4", ["CREATE TABLE `select` (id int PRIMARY KEY)", "CREATE TABLE r (a int REFERENCES .select (id))"]),
        ("gbk", [f"CREATE TABLE \u4e2d (a int COMMENT '{mine} schema')", f"DROP TABLE \u4e2d /* {mine} database */"]),
        ("sjis", [f"ALTER TABLE x COMMENT '\u8868 {mine}.keyed database'"]),
        ("latin1", [f"ALTER TABLE x ADD f\xe9 int COMMENT '{mine}.keyed database'"]),
    ):
        with closing(maria_server.session()) as session, session.cursor() as cursor:
            session.set_character_set(charset)
            for one in (f"USE {other.database}", *statements):
                cursor.execute(one)
    master.execute("INSERT INTO heap VALUES (5, 'x')")
    assert world.verify() == {"zurich": 0}
    assert not left_out(world)
    # The first is read with certainty, the second is not.
    for charset, statement in (
        ("latin1", f"TRUNCATE TABLE {master.name}.pairs -- \xd7"),
        ("gbk", f"ALTER TABLE {master.name}.keyed ADD `\u4e2d` int"),
    ):
        with closing(maria_server.session()) as session, session.cursor() as cursor:
            session.set_character_set(charset)
            cursor.execute(f"USE {other.database}")
            cursor.execute(statement)
    assert world.verify() == {"zurich": 0}
    assert left_out(world).keys() == {"keyed"}


def test_what_was_prepared_under_another_sql_mode_takes_no_rows_of_others(binlog, maria_server):
    world, master = binlog(DDL, TABLES, slaves=("zurich",))
    other, kept = maria_server.create_account(), world.rows("zurich", "public.pairs")
    hidden = r"SET STATEMENT max_statement_time = 0 + '\' FOR TRUNCATE TABLE {} -- ' FOR {}"
    with closing(maria_server.session()) as session, session.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {other.database}.z (a int)")
        cursor.execute(f"USE {other.database}")
        for read, shown in (("z", f"DROP TABLE {master.name}.pairs"), (f"{master.name}.heap", "TRUNCATE TABLE z")):
            cursor.execute("SET sql_mode = 'NO_BACKSLASH_ESCAPES'")
            cursor.execute("SET @said = %s", [hidden.format(read, shown)])
            cursor.execute("PREPARE s FROM @said")
            cursor.execute("SET sql_mode = 'STRICT_TRANS_TABLES'")
            cursor.execute("EXECUTE s")
    master.execute("INSERT INTO keyed VALUES (5000, 'x', 1, NULL)")
    assert world.verify() == {"zurich": 0}
    # The server emptied heap; pairs was meant by a text alone.
    assert left_out(world).keys() == {"heap", "pairs"}
    assert kept
    assert world.rows("zurich", "public.pairs") == kept
