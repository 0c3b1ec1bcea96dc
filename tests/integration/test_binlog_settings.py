"""A MariaDB master whose log does not tell all that is needed, or whose account may not read it (SLC-400)."""

from __future__ import annotations

from contextlib import closing, nullcontext

import pytest
from support.binlog import MASTERS, left_out
from support.mariadb import MariaServer
from support.places import server_directory
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.model.watched import Watch
from sluice.monitor.check import findings
from sluice.vendors.mariadb.catalog.master_tables import expect_capturable
from sluice.vendors.mariadb.session import connect

pytestmark = [pytest.mark.postgres]

FULL = [(f"binlog_row_{one}", "FULL", "MINIMAL") for one in ("image", "metadata")]


@pytest.mark.full(but=["mariadb"])
@MASTERS
def test_the_filters_of_a_log_are_where_they_are_looked_for(master_server):
    with closing(master_server.session()) as session, session.cursor() as cursor:
        cursor.execute(master_server.kind.log_status[0])
        assert [one[0].lower() for one in cursor.description[2:4]] == ["binlog_do_db", "binlog_ignore_db"]


def expect_uncaptured_tables_told(world, master):
    """What is configured since the last bootstrap is not well until a bootstrap knows of it, or it is taken out."""
    master.execute(
        "CREATE TABLE since (id int PRIMARY KEY)",
        "CREATE TABLE more (id int PRIMARY KEY)",
        "CREATE VIEW seen AS SELECT 1 AS id",
    )
    told = {
        "later": "does not exist: it will be captured",
        "more": "is not captured: the last bootstrap did not know of it",
        "seen": "is not a plain table, and is not captured",
        "since": "is not captured: the last bootstrap did not know of it",
    }
    names = {f"{master.name}.{name}": {} for name in ("later", "more*", "seen", "since")}
    world.configure(lambda settings: settings["sources"][SOURCE]["tables"].update(names))
    pairs = zip(told.items(), world.standing().unwatched, strict=True)
    assert all(note.startswith(f"{master.name}.{name} {why}") for (name, why), note in pairs)
    world.configure(lambda settings: settings["sources"][SOURCE]["tables"].pop(f"{master.name}.seen"))
    assert world.standing().lacking
    (found,) = [one for one in findings(world.context) if one.subject == f"source {SOURCE}"]
    assert (found.good, told["since"] in found.text) == (False, True)
    bootstrap(world.context, SOURCE)
    assert (len(world.standing().unwatched), world.standing().lacking) == (1, ())


def test_settings_and_rights_that_are_missing_are_named_with_what_to_type(binlog, maria_server):
    world, master = binlog("CREATE TABLE t (id int PRIMARY KEY)", ["t"], slaves=("zurich",), update=False)
    (text,) = [one.text for one in findings(world.context) if one.subject == "source flights"]
    assert text == "answers; DbResources installed; DDL is seen as it happens"
    expect_uncaptured_tables_told(world, master)
    for name, right, wrong in [("binlog_format", "ROW", "MIXED"), ("sync_binlog", "1", "0"), *FULL]:
        maria_server.execute(f"SET GLOBAL {name} = {wrong}")
        try:
            with (
                closing(world.context.source("flights")) as source,
                pytest.raises(SluiceError, match=f"(?s)SLC-400.*{name} is {wrong}.*SET GLOBAL {name} = "),
            ):
                source.capture.capabilities()
        finally:
            maria_server.execute(f"SET GLOBAL {name} = {right}")
    # It was another server's replica, and may be so again.
    maria_server.execute("SET GLOBAL gtid_slave_pos = '0-9-1'")
    try:
        told = r"(?s)SLC-400.*log_slave_updates is 0.*\[mysqld\] log_slave_updates = ON"
        with closing(world.context.source("flights")) as source:
            for asks in (source.capture.capabilities, source.capture.queued):
                with pytest.raises(SluiceError, match=told):
                    asks()
        with pytest.raises(SluiceError, match=told):
            world.publish()
    finally:
        maria_server.execute("SET GLOBAL gtid_slave_pos = ''")
    account = world.infos["master"].login
    # Without it the server shows no action of a foreign key.
    master.execute("CREATE TABLE c (id int PRIMARY KEY REFERENCES t (id) ON DELETE CASCADE)")
    maria_server.execute(f"REVOKE ALL PRIVILEGES ON `{master.name}`.* FROM {account}@'127.0.0.1'")
    maria_server.execute(f"GRANT SELECT ON {master.name}.* TO {account}@'127.0.0.1'")
    with (
        closing(world.context.source("flights")) as source,
        pytest.raises(SluiceError, match=r"(?s)SLC-033.*GRANT REFERENCES ON"),
    ):
        source.master.dumpable({TableName(master.name, "c"): Watch("IDU")})
    for right_name in ("REPLICATION SLAVE", "REPLICATION CLIENT"):
        maria_server.execute(f"REVOKE {right_name} ON *.* FROM {account}@'127.0.0.1'")
        with (
            closing(world.context.source("flights")) as source,
            pytest.raises(SluiceError, match=f"(?s)SLC-400.*GRANT {right_name} ON"),
        ):
            source.capture.capabilities()
        maria_server.execute(f"GRANT {right_name} ON *.* TO {account}@'127.0.0.1'")
    world.configure(lambda settings: settings["sources"]["flights"].update(capture="triggers"))
    with pytest.raises(SluiceError, match=r"SLC-438.*triggers do not see what foreign keys change"):
        world.context.source("flights")


def test_columns_that_are_not_read_are_refused_by_name_before_anything_is_loaded(maria_server):
    info = maria_server.create_account(owner=True)
    tables = {
        "CREATE TABLE {}.packed (id int PRIMARY KEY, v text COMPRESSED)": r"packed cannot be read: v is COMPRESSED",
        "CREATE TABLE {}.old (id int PRIMARY KEY, at datetime(3))": r"old cannot be read: at has times in the form",
        "CREATE TABLE {}.named (id int PRIMARY KEY, v enum('COMPRESSED*/'))": None,
    }
    maria_server.execute("SET GLOBAL mysql56_temporal_format = OFF")
    try:
        for statement in tables:
            maria_server.execute(statement.format(info.database))
    finally:
        maria_server.execute("SET GLOBAL mysql56_temporal_format = ON")
    with closing(connect(info, "test")) as session:
        for statement, told in tables.items():
            name = TableName(info.database, statement.partition(".")[2].partition(" ")[0])
            with pytest.raises(SluiceError, match=rf"SLC-477: .*{told}") if told else nullcontext():
                expect_capturable(session, name)


def test_unique_keys_over_long_values_bring_no_columns_of_the_servers(binlog):
    ddl = "CREATE TABLE t (id int PRIMARY KEY, v text UNIQUE, w varchar(900) UNIQUE, DB_ROW_HASH_1 int);"
    ddl += "\nCREATE TABLE u (v varchar(900) NOT NULL UNIQUE, n int)"
    world, master = binlog(ddl, ["t", "u"], slaves=("zurich",))
    master.execute("INSERT INTO t VALUES (1, 'a', 'b', 7)", "INSERT INTO u VALUES ('x', 1), ('y', 2)")
    master.execute("UPDATE t SET v = NULL", "UPDATE u SET n = 3 WHERE v = 'x'", "DELETE FROM u WHERE v = 'y'")
    world.catch_up()
    master.execute("ALTER TABLE t ADD n int", "INSERT INTO t VALUES (2, 'c', NULL, 8, 9)")
    world.catch_up()
    assert world.verify() == {"zurich": 0}
    assert sorted(world.reader("zurich").execute('SELECT id, v, w, "DB_ROW_HASH_1", n FROM t').fetchall()) == [
        (1, None, "b", 7, None),
        (2, "c", None, 8, 9),
    ]


@pytest.mark.full
def test_a_log_that_is_encrypted_is_read_on(binlog, master_server):
    world, master = binlog("CREATE TABLE t (id int PRIMARY KEY)", ["t"], slaves=("zurich",))
    master.execute("INSERT INTO t VALUES (1)")
    world.catch_up()
    assert world.verify() == {"zurich": 0}


@pytest.fixture
def master_server(request, tmp_path_factory):
    """A server of its own that encrypts its log, for the test that is about one; else the one of all tests."""
    if "encrypted" not in request.function.__name__:
        yield request.getfixturevalue(getattr(request, "param", "maria_server"))
        return
    request.getfixturevalue("maria_server")
    keys = tmp_path_factory.mktemp("keys") / "keys"
    with server_directory(tmp_path_factory.mktemp("encrypting")) as directory:
        keys.write_text(f"1;{'5e' * 32}\n")
        made = MariaServer(directory)
        plugin = ("--plugin-load-add=file_key_management", f"--file-key-management-filename={keys}")
        made.start(*plugin, "--encrypt-binlog")
        yield made
        made.stop()


def test_a_table_that_is_lost_stays_so_whatever_becomes_of_its_transaction(binlog, maria_server):
    tables = ["o", "p", "q"]
    ddl = [f"CREATE TABLE {one} (id int PRIMARY KEY, a int);\nINSERT INTO {one} VALUES (1, 1)" for one in tables]
    world, master = binlog(";\n".join(ddl), tables, slaves=("zurich",))
    undone = "CREATE TEMPORARY TABLE aside (a int); DROP TEMPORARY TABLE aside; ROLLBACK"
    with closing(maria_server.session()) as session, closing(maria_server.session()) as another:
        for statement in (
            f"SET binlog_row_image = MINIMAL; BEGIN; UPDATE o SET a = 5; {undone}; SET binlog_row_image = FULL; "
            "UPDATE o SET a = 6; DROP TABLE q; CREATE TABLE `n\u00e9` (id int PRIMARY KEY, a int); "
            "INSERT INTO `n\u00e9` VALUES (7, 7); RENAME TABLE `n\u00e9` TO q; INSERT INTO q VALUES (8, 8)"
        ).split("; "):
            run(session, f"USE {master.name}", statement)
        run(another, f"USE {master.name}", "SET binlog_row_image = MINIMAL", "XA START 'x'", "UPDATE p SET a = 5")
        run(another, "XA END 'x'", "XA PREPARE 'x'")
        world.catch_up()
        assert left_out(world).keys() == {"o", "p", "q"}
        world.inhibit("zurich", tables=[TableName(master.name, one) for one in tables])
        with world.running():
            world.dump("zurich")
            world.release("zurich")
        assert world.verify(initial=True) == {"zurich": 0}
        assert not left_out(world)
        run(another, "XA COMMIT 'x'")
    world.catch_up()
    assert left_out(world).keys() == {"p"}, "what was prepared was in no dump"


def run(session, *statements):
    with session.cursor() as cursor:
        for one in statements:
            cursor.execute(one)
