"""A MariaDB master, captured by its binary log: published, drained, loaded and compared (R1 to R5, R10)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from random import Random

import pymysql
import pytest
from support.binlog import MASTERS, BinlogMaster, left_out
from support.world import SOURCE

from sluice.capture.grants import grants
from sluice.capture.reconcile import bootstrap
from sluice.capture.uninstall import cleanup
from sluice.commands.remove_replication import Extent, remove_replication
from sluice.crash import ENV as CRASH_ENV
from sluice.crash import CrashPoint
from sluice.errors import SluiceError
from sluice.initial_update.chunks import plan
from sluice.model.names import TableName
from sluice.state.replication import Status
from sluice.vendors.mariadb.capture.binlog.state import parts_of
from sluice.vendors.mariadb.server import MARIADB
from sluice.vendors.registry import master as master_of

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE keyed (id int PRIMARY KEY, note varchar(50), amount decimal(9,2), at timestamp(3) NULL);
CREATE TABLE pairs (a int, b varchar(20), n int NOT NULL, PRIMARY KEY (a, b));
CREATE TABLE heap (a int, b text);
INSERT INTO keyed SELECT seq, CONCAT('note ', seq), seq / 8, '2024-01-01 12:00:00.5' FROM seq_1_to_300;
INSERT INTO pairs SELECT seq % 7, seq, seq FROM seq_1_to_100;
INSERT INTO heap SELECT seq % 7, CONCAT('b', seq % 3) FROM seq_1_to_100"""
TABLES = ["keyed", "pairs", "heap"]
PART = ["BEGIN", "SAVEPOINT S", "INSERT slow SET a = 1", "INSERT heap SET a = 1", "ROLLBACK TO s", "COMMIT"]
# The job of the DAG without Spark, which takes long to start.
PUBLISH = """
from sluice.context import Context
from sluice.publish.run import publish
publish(Context.from_environment(), "flights", once=True)
"""


def changes(random: Random) -> list[str]:
    """One transaction: rows come, go, change their keys, and are rolled back to a savepoint."""
    key, other = random.randrange(400), random.randrange(400)
    some = [
        f"INSERT IGNORE INTO keyed VALUES ({key}, 'new', {other}, NULL)",
        f"DELETE FROM keyed WHERE id = {other}",
        f"UPDATE keyed SET amount = amount + 1, note = NULL WHERE id BETWEEN {key} AND {key + 5}",
        f"UPDATE IGNORE keyed SET id = {other} WHERE id = {key}",
        f"UPDATE pairs SET n = n + 1 WHERE a = {key % 7}",
        f"UPDATE IGNORE pairs SET b = 'x{other % 30}' WHERE a = {key % 7} AND n % 5 = 0",
        f"REPLACE INTO pairs VALUES ({key % 7}, '{other % 100}', 0)",
        f"INSERT INTO heap VALUES ({key % 7}, 'b{other % 3}')",
        f"DELETE FROM heap WHERE a = {other % 7} LIMIT 1",
        f"UPDATE heap SET b = 'c' WHERE a = {key % 7} LIMIT 3",
    ]
    made = random.sample(some, random.randint(1, 4))
    if random.random() < 0.2:
        made += ["SAVEPOINT s", "DELETE FROM keyed", "ROLLBACK TO SAVEPOINT s"]
    return ["START TRANSACTION", *made, "ROLLBACK" if random.random() < 0.1 else "COMMIT"]


@contextmanager
def writers(master: BinlogMaster, count: int = 3) -> Iterator[None]:
    """Sessions that write all the time; they lose deadlocks and go on."""
    over = threading.Event()

    def write(seed: int) -> None:
        random = Random(seed)
        while not over.is_set():
            try:
                master.execute(*changes(random))
            except pymysql.err.OperationalError as error:
                if error.args[0] not in (1205, 1213):
                    raise

    threads = [threading.Thread(target=write, args=(seed,), daemon=True) for seed in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(60)


@pytest.mark.full
@MASTERS
def test_slaves_equal_the_master_after_an_update_under_writers_and_after_changes(binlog, master_server, monkeypatch):
    # Each table whose key is a number comes in several parts.
    monkeypatch.setattr(plan, "CHUNK_BYTES", 4_096)
    world, master = binlog(DDL, TABLES, into="mariadb" if master_server.kind is MARIADB else "postgresql", update=False)
    with writers(master):
        world.inhibit()
        with world.running():
            world.dump()
            world.release()
        assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
        assert world.verify() == {"zurich": 0, "geneva": 0}
    master.execute("TRUNCATE pairs", "INSERT INTO pairs VALUES (1, 'alone', 1)")
    assert world.verify() == {"zurich": 0, "geneva": 0}
    world.catch_up()
    assert {world.status(slave) for slave in world.slaves} == {Status.NORMAL}


@pytest.mark.full
def test_a_publisher_killed_at_any_point_publishes_nothing_twice(binlog):
    ddl = f"{DDL};\nCREATE TABLE altered (id int AUTO_INCREMENT PRIMARY KEY)"
    world, master = binlog(ddl, [*TABLES, "altered"], slaves=("zurich",))
    world.configure(lambda settings: settings["sources"]["flights"].update(segments={"max_changes": 40}))
    random = Random(3)
    for point in (CrashPoint.SWEPT, CrashPoint.WRITTEN, CrashPoint.LISTED, CrashPoint.PURGED):
        master.execute(
            "INSERT INTO altered () VALUES ()",
            f"ALTER TABLE altered ADD c_{point} int NOT NULL DEFAULT 7",
            "INSERT INTO altered () VALUES ()",
        )
        for _ in range(60):
            master.execute(*changes(random))
        env = {**os.environ, **world.environment(), CRASH_ENV: point}
        killed = subprocess.run([sys.executable, "-c", PUBLISH], env=env, capture_output=True, text=True)
        assert killed.returncode == -9, killed.stderr
        world.let_leases_expire()
    world.catch_up()
    log = world.log()
    assert len({one["repl_key"] for one in log}) == len(log)
    order = [int(one["trans_key"]) for one in log]
    assert order == sorted(order)
    assert [one["action"] for one in log].count("A") == 4
    assert world.verify() == {"zurich": 0}


def test_a_wildcard_takes_tables_to_come_and_no_sequences_or_histories(binlog):
    ddl = "CREATE TABLE t (id int PRIMARY KEY);\nCREATE TABLE repl_orders (id int PRIMARY KEY)"
    world, master = binlog(ddl, ["*", "repl_orders"], slaves=("zurich",), update=False)
    master.execute(
        # It is named, and begins like our tables; by a wildcard no such one is taken.
        "INSERT INTO repl_orders VALUES (2)",
        "CREATE TABLE repl_more (id int PRIMARY KEY)",
        "INSERT INTO repl_more VALUES (1)",
        "CREATE SEQUENCE s",
        "SELECT NEXTVAL(s)",
        "CREATE TABLE h (id int PRIMARY KEY) WITH SYSTEM VERSIONING",
        "INSERT INTO h VALUES (1)",
        "UPDATE h SET id = 2",
        "CREATE TABLE more (id int PRIMARY KEY)",
        "INSERT INTO more VALUES (3)",
        "INSERT INTO t VALUES (4)",
    )
    world.publish()
    assert [one["new"] for one in world.log() if one["action"] == "I"] == [["2"], ["3"], ["4"]]


def test_definitions_that_take_rows_empty_the_slave_and_others_stop_the_publisher(binlog):
    world, master = binlog(DDL, TABLES, slaves=("zurich",))
    master.execute(
        "DROP TABLE heap",
        "CREATE TABLE heap (a int, b text)",
        "INSERT INTO heap VALUES (1, 'new')",
        "ALTER TABLE keyed ADD COLUMN more int, ADD INDEX (note)",
        "INSERT INTO keyed VALUES (1000, 'x', 1, NULL, 5)",
        "TRUNCATE TABLE `pairs`",
    )
    world.reader("zurich").execute("ALTER TABLE public.keyed ADD more int")
    assert world.verify() == {"zurich": 0}
    # The log has this, and not that the table is the session's own.
    master.execute("CREATE TEMPORARY TABLE keyed (id int)", "RENAME TABLE keyed TO away")
    world.publish()
    assert re.search("SLC-446: rows of .*keyed .*renamed, and is there", left_out(world)["keyed"])
    assert world.rows("zurich", "public.keyed")
    master.execute("CREATE TABLE other LIKE heap", "RENAME TABLE heap TO old, other TO heap")
    world.publish()
    assert left_out(world).keys() == {"keyed", "heap"}


def test_definitions_are_read_in_the_form_and_the_character_set_that_they_were_sent_in(binlog, maria_server, caplog):
    ddl = f"{DDL};\nCREATE TABLE été (id int);\nINSERT INTO été VALUES (1);\nCREATE TABLE slow (a int) ENGINE MyISAM"
    world, master = binlog(ddl, [*TABLES, "été"], slaves=("zurich",))
    master.execute("SET STATEMENT max_statement_time = 5 FOR TRUNCATE keyed", "TRUNCATE --\x01\n heap", *PART)
    other = maria_server.create_account()
    own = ["BEGIN", "INSERT quick SET a = 0", "SAVEPOINT `中`", "INSERT slow SET a = 1", "ROLLBACK TO `中`", "COMMIT"]
    for info, charset, statements in (
        (master.info, "latin1", ["TRUNCATE été", "BEGIN", "DELETE FROM pairs", "SAVEPOINT é", "COMMIT"]),
        # A tenant's, who has a character set that is not read, and no watched tables.
        (other, "gbk", ["CREATE TABLE `中` (id int)", "TRUNCATE `中`"]),
        (other, "utf8mb4", ["SET NAMES swe7", "CREATE TABLE slow (a int) ENGINE MyISAM", "INSERT slow SET a = 1"]),
        (other, "gbk", ["CREATE TABLE quick (a int)", *own]),
    ):
        with closing(maria_server.session()) as session, session.cursor() as cursor:
            session.set_character_set(charset)
            for one in (f"USE {info.database}", *statements):
                cursor.execute(one)
    assert world.verify() == {"zurich": 0}
    assert not any(world.rows("zurich", f"public.{one}") for one in (*TABLES, "été"))
    master.execute(
        "CREATE TABLE parent (id int PRIMARY KEY)",
        "CREATE TABLE shelf (a int, b text) PARTITION BY LIST (a) (PARTITION p VALUES IN (0, 1), PARTITION q DEFAULT)",
    )
    caplog.set_level("INFO")
    refused = [
        ("ALTER TABLE shelf EXCHANGE PARTITION p WITH TABLE heap", "heap .*EXCHANGE PARTITION"),
        ("ALTER TABLE shelf CONVERT TABLE heap TO PARTITION r VALUES IN (9)", "heap .*CONVERT TABLE"),
        ("ALTER TABLE keyed MODIFY amount decimal(9,1)", "keyed .*amount from"),
        ("ALTER TABLE keyed MODIFY note char(60)", "keyed .*changed values of note"),
        ("ALTER TABLE keyed DROP note, ADD note varchar(50)", "keyed .*DROP note"),
        ("CREATE TABLE heap LIKE slow", "heap .*engine is MyISAM"),
        ("ALTER TABLE keyed ADD FOREIGN KEY (id) REFERENCES parent (id) ON DELETE CASCADE", "keyed .*a foreign key"),
    ]
    for text, match in refused:
        caplog.clear()
        master.execute(text)
        world.publish()
        assert re.search(f"SLC-446: (rows|an ALTER) of .*{match}", caplog.text), caplog.text
        if "MyISAM" in match:
            master.execute("DROP TABLE heap")
    # Changes that the log does not tell are not taken for none when the table is filled.
    with pytest.raises(SluiceError, match=r"SLC-477.*keyed.*foreign key"):
        world.inhibit("zurich", tables=[TableName(master.name, "keyed")])


def test_a_table_that_is_watched_while_the_log_is_read_is_emptied_by_a_truncate_before_its_first_row(binlog):
    world, master = binlog(DDL, ["keyed"], slaves=("zurich",))
    master.execute("ALTER TABLE keyed ADD COLUMN more int")
    with closing(world.context.source(SOURCE)) as source:
        state = parts_of(source.capture._resources)["state"]
        epoch = int(master.server.execute(f"SELECT epoch FROM {state}")[0][0])
        with source.capture.sweep(epoch, None) as sweep:
            assert [batch["action"].to_pylist() for batch in sweep.batches()] == [["A"]]
            world.configure(lambda to: to["sources"][SOURCE]["tables"].update({f"{master.name}.heap": {}}))
            bootstrap(world.context, SOURCE)
    master.execute("TRUNCATE heap")
    world.publish()
    master.execute("TRUNCATE heap")
    world.publish()
    emptied = [one["repl_key"] for one in world.log() if one["action"] == "T"]
    assert len(emptied) == len(set(emptied)) == 2


REFUSED = {
    "engine": ("CREATE TABLE t (id int PRIMARY KEY) ENGINE = MyISAM", "SLC-477.*engine is MyISAM"),
    "history": ("CREATE TABLE t (id int PRIMARY KEY) WITH SYSTEM VERSIONING", "SLC-477.*it is a SYSTEM VERSIONED"),
    "cascade": (
        "CREATE TABLE p (id int PRIMARY KEY);\n"
        "CREATE TABLE t (id int PRIMARY KEY, p int, CONSTRAINT fk FOREIGN KEY (p) REFERENCES p (id) ON UPDATE CASCADE)",
        "SLC-477.*foreign key fk .with p: ON DELETE RESTRICT, ON UPDATE CASCADE",
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_tables_whose_changes_are_not_in_the_log_are_refused_by_name(binlog, why):
    ddl, match = REFUSED[why]
    with pytest.raises(SluiceError, match=match):
        binlog(ddl, ["t"], slaves=("zurich",), update=False)


def test_a_source_is_left_without_our_table_and_counts_its_sessions(binlog, maria_server):
    world, _ = binlog("CREATE TABLE t (id int PRIMARY KEY)", ["t"], slaves=("zurich",), update=False)
    # An account without more rights sees no session but its own, and itself it does not count.
    assert master_of("mariadb").active(world.infos["master"]) == 0
    (removed,) = cleanup(world.context, SOURCE)
    assert removed.startswith("TABLE ")
    assert maria_server.execute("SHOW TABLES FROM " + removed.split()[1].split(".")[0]) == [("t",)]
    # The database that is named after the prefix stays: a thing of somebody else's in it may be hidden from us.
    world.configure(lambda settings: settings["sources"][SOURCE].pop("schema"))
    maria_server.run(grants(world.context, SOURCE))
    bootstrap(world.context, SOURCE)
    maria_server.execute("CREATE EVENT repl.own ON SCHEDULE EVERY 1 DAY DO SELECT 1")
    assert cleanup(world.context, SOURCE)[0].endswith("type DROP DATABASE `repl` if nobody keeps anything in it")
    assert maria_server.execute("SELECT event_name FROM information_schema.events") == [("own",)]
    maria_server.execute("DROP DATABASE repl")


def test_no_table_is_dropped_on_the_server_of_a_source_and_no_loop_is_blocked_there(binlog):
    world, _ = binlog("CREATE TABLE t (id int PRIMARY KEY)", ["t"], into="mariadb", slaves=("zurich",))
    with pytest.raises(SluiceError, match=r"SLC-387.*its server, is that of source flights"):
        remove_replication(world.context, world.pair("zurich"), Extent.TABLES)
    world.configure(lambda settings: settings["replications"][0].update(block_loop=True))
    with pytest.raises(SluiceError, match=r"SLC-438: .*block_loop"):
        bootstrap(world.context, SOURCE)


def test_a_log_that_was_purged_or_reset_leads_to_an_initial_update(binlog, maria_server):
    world, master = binlog(DDL, TABLES, slaves=("zurich",))
    master.execute("DELETE FROM keyed WHERE id < 10")
    maria_server.execute("FLUSH BINARY LOGS")
    # The server keeps a file until what it tells is in the tables for sure, and while somebody reads it.
    while len(maria_server.execute("SHOW BINARY LOGS")) > 1:
        maria_server.execute("FLUSH BINARY LOGS")
        ((file, *_),) = maria_server.execute("SHOW MASTER STATUS")
        maria_server.execute(f"PURGE BINARY LOGS TO '{file}'")
    with pytest.raises(SluiceError, match=r"(?s)SLC-404: .* does not have .* any more.*initial_update"):
        world.publish()
    assert world.status("zurich") is Status.INCONSISTENT
    bootstrap(world.context, SOURCE, rebase=True)
    world.update()
    master.execute("DELETE FROM keyed WHERE id < 20")
    assert world.verify(initial=True) == {"zurich": 0}
    maria_server.execute("RESET MASTER")
    master.execute("DELETE FROM keyed WHERE id < 30")
    with pytest.raises(SluiceError, match=r"(?s)SLC-404: .* is another one than .*initial_update"):
        world.publish()
    assert world.status("zurich") is Status.INCONSISTENT
    bootstrap(world.context, SOURCE, rebase=True)
    world.update()
    assert world.verify(initial=True) == {"zurich": 0}


@pytest.mark.full
def test_what_is_not_told_of_rows_leaves_out_the_tables_of_a_transaction_or_of_a_statement_all(binlog):
    sets = ("utf8mb4", "ucs2", "utf32", "ascii")
    odd = [f"CREATE TABLE odd_{one} (id int PRIMARY KEY, v varchar(9) CHARACTER SET {one})" for one in sets]
    names = [f"odd_{one}" for one in sets]
    world, master = binlog(";\n".join([DDL, *odd]), [*TABLES, *names], slaves=("zurich",))
    # The server takes them as texts, which they are not.
    values = ("_utf8mb4 x'EDA080'", "_ucs2 x'D800'", "_utf32 x'0000D800'", "x'80'")
    for name, value in zip(names, values, strict=True):
        master.execute(
            f"INSERT INTO {name} VALUES (1, 'a')", f"UPDATE {name} SET v = {value}", "DELETE FROM keyed LIMIT 1"
        )
    assert world.verify() == {"zurich": 0}
    assert left_out(world).keys() == {*names}
    assert re.search("SLC-446: rows of .*odd_ascii.* a row cannot be read", left_out(world)["odd_ascii"])
    # It goes back to its own savepoint, and not to that of the trigger.
    master.execute(
        "CREATE TABLE slow (a int) ENGINE MyISAM",
        "CREATE TRIGGER saving AFTER INSERT ON heap FOR EACH ROW SAVEPOINT a",
        *["BEGIN", "DELETE FROM pairs", "SAVEPOINT a", "INSERT heap SET a = 1", "INSERT slow SET a = 1"],
        *["ROLLBACK TO a", "COMMIT"],
        "DELETE FROM keyed LIMIT 1",
    )
    assert world.verify() == {"zurich": 0}
    assert left_out(world).keys() == {*names, "pairs", "heap"}
    master.execute(
        *["CREATE TABLE long_one (id int PRIMARY KEY)", "BEGIN", "CREATE TEMPORARY TABLE own (a int)"],
        *["DELETE FROM heap", "INSERT INTO pairs SELECT seq, '', 1 FROM seq_1_to_15000", "INSERT slow SET a = 1"],
        *["ROLLBACK", "DELETE FROM keyed LIMIT 1"],
    )
    assert world.verify() == {"zurich": 0}
    # A statement does not name what a trigger or a view changes by it.
    master.execute(
        "CREATE TRIGGER taking AFTER INSERT ON slow FOR EACH ROW DELETE FROM keyed WHERE id = NEW.a",
        *["SET binlog_format = STATEMENT", "INSERT INTO slow VALUES (200)"],
    )
    world.catch_up()
    assert "in place of rows may have changed them: INSERT INTO slow" in left_out(world)["keyed"]
    assert left_out(world).keys() == {*names, *TABLES}
    assert world.status("zurich") is Status.NORMAL
