"""DDL of a MariaDB or MySQL master on slaves: in its place, once, with the rows of before and after (R3, R7)."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from random import Random

import pytest
from support.world import SOURCE
from test_binlog import DDL

from sluice.capture.reconcile import bootstrap
from sluice.errors import SluiceError
from sluice.vendors.mariadb.server import MARIADB

pytestmark = [pytest.mark.postgres]

ZEROS = "SET STATEMENT sql_mode = 'STRICT_TRANS_TABLES,NO_AUTO_VALUE_ON_ZERO' FOR"
UUID = "123e4567-e89b-12d3-a456-426614174000"
COMMANDS = (
    "CREATE TABLE made (id int AUTO_INCREMENT PRIMARY KEY, v varchar(9), j json, at datetime DEFAULT now())",
    "INSERT INTO made (v, j) VALUES ('a', '{}'), ('b', NULL)",
    "ALTER TABLE keyed ADD c int NOT NULL DEFAULT 7, ADD d varchar(9) DEFAULT 'it''s' AFTER id, ADD u uuid",
    "ALTER TABLE made ADD (x decimal(5,2) NOT NULL, y enum('p','q') NOT NULL), DROP j, RENAME COLUMN v TO w",
    "INSERT INTO made (w, x, y) VALUES ('c', 1.5, 'q')",
    "ALTER TABLE made MODIFY y enum('p','q','r') NOT NULL, ADD s set('u','v')",
    "ALTER TABLE made MODIFY s set('u','v','1','2','3','4','5','6','7','8') AFTER id",
    "UPDATE made SET y = 'r', s = 'v,8' WHERE id = 2",
    f"UPDATE keyed SET u = '{UUID}' WHERE id = 2",
    "ALTER TABLE heap ADD n bigint, DROP b, ADD INDEX (n), COMMENT 'x'",
    "INSERT INTO heap VALUES (1, 2)",
    # A row that has 0 in it keeps it so.
    f"{ZEROS} INSERT INTO made (id, w, x, y) VALUES (0, 'zero', 1, 'p')",
    f"{ZEROS} ALTER TABLE made MODIFY w text NOT NULL, CHANGE id `Key` bigint AUTO_INCREMENT FIRST,"
    " MODIFY x decimal(9,3)",
    # It is in the log where it begins, and again where it ends.
    "SET STATEMENT binlog_alter_two_phase = ON FOR ALTER TABLE heap ADD two int NOT NULL DEFAULT 2",
    "INSERT INTO heap VALUES (1, 2, 3)",
    "TRUNCATE TABLE pairs",
    "INSERT INTO pairs VALUES (1, 'alone', 1)",
    "CREATE TABLE only (id int NOT NULL UNIQUE, v int)",
    "INSERT INTO only VALUES (1, 1), (2, 2)",
    "UPDATE only SET v = 3 WHERE id = 1",
    "CREATE TABLE gone (id int)",
    "INSERT INTO gone VALUES (1)",
    "DROP TABLE gone",
    "CREATE TABLE gone (other text) DEFAULT CHARSET latin1",
    "INSERT INTO gone VALUES ('x')",
    "CREATE TABLE heaped AS SELECT a, n FROM heap",
    "ALTER TABLE made DROP PRIMARY KEY, MODIFY `Key` bigint NOT NULL, ADD PRIMARY KEY (`Key`, x)",
    "CREATE OR REPLACE TABLE heaped (z int, PRIMARY KEY (z))",
    "INSERT INTO heaped VALUES (5)",
    "UPDATE made SET x = 2 WHERE `Key` = 2",
)


def as_mysql_has_it(command):
    """It has no settings for one statement, no OR REPLACE, and no UUID."""
    command = command.replace("u uuid", "u binary(16)").replace(UUID, "16 bytes of them")
    alone = re.match(r"SET STATEMENT (.*?) FOR (.*)", command)
    made = [alone[1], alone[2]] if alone else ["", command]
    modes = [f"SET {made[0]}"] if "sql_mode" in made[0] else []
    replaced = re.fullmatch(r"CREATE OR REPLACE TABLE (\w+) (.*)", made[1])
    made[1:] = [f"DROP TABLE {replaced[1]}", f"CREATE TABLE {replaced[1]} {replaced[2]}"] if replaced else made[1:]
    return [*modes, *made[1:]]


@contextmanager
def writing(master):
    """A session that writes into an altered table all the time."""
    over = threading.Event()

    def write():
        random = Random(5)
        while not over.is_set():
            key = random.randrange(400)
            master.execute(
                f"INSERT IGNORE INTO keyed (id, note) VALUES ({key}, 'new')",
                f"UPDATE keyed SET amount = id WHERE id BETWEEN {key} AND {key + 3}",
                f"DELETE FROM keyed WHERE id = {random.randrange(400)}",
            )

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(60)


@pytest.mark.full(but=["maria_server-postgresql"])
@pytest.mark.parametrize(
    ("master_server", "into"),
    [
        ("maria_server", "postgresql"),
        ("maria_server", "mariadb"),
        ("mysql_server", "postgresql"),
    ],
    indirect=["master_server"],
)
def test_commands_are_carried_out_between_the_rows_of_before_and_after(binlog, into):
    world, master = binlog(DDL, ["*"], into=into, slaves=("zurich",))
    with writing(master):
        for one in COMMANDS:
            master.execute(*(one,) if master.server.kind is MARIADB else as_mysql_has_it(one))
    assert world.verify() == {"zurich": 0}
    assert "XN" in "".join(one["action"] for one in world.log() if one["action"] in "NAX")


def test_a_table_that_is_altered_between_rows_is_read_by_its_columns_of_then(binlog):
    world, master = binlog(
        "CREATE TABLE t (id int PRIMARY KEY, a varchar(9), u uuid)", ["t"], slaves=("zurich",), detect_ddl=False
    )
    master.execute(
        f"INSERT INTO t VALUES (1, 'one', '{UUID}')",
        "ALTER TABLE t ADD COLUMN b int FIRST, ADD COLUMN raw binary(16)",
        f"INSERT INTO t VALUES (7, 2, 'two', '{UUID}', x'01')",
        "ALTER TABLE t RENAME COLUMN a TO renamed, DROP COLUMN b",
        f"UPDATE t SET renamed = 'three', u = '{UUID}' WHERE id = 2",
    )
    reader = world.reader("zurich")
    reader.execute("ALTER TABLE public.t ADD b int, ADD raw bytea, ADD renamed varchar(9)")
    # Two definitions after the rows: it is not certain any more what the binary columns in between were.
    with pytest.raises(SluiceError, match=r"SLC-446.*altered again"):
        world.publish()


REFUSED = (
    ("ALTER TABLE keyed ADD at2 datetime DEFAULT now()", "SLC-605.*keyed .*value of at2 .* is not certain"),
    ("ALTER TABLE keyed MODIFY note enum('a')", "SLC-605.*keyed .*may not have all members of note"),
    ("ALTER TABLE keyed ADD b varchar(9) CHARACTER SET 'binary'", "SLC-605"),
    ("ALTER TABLE keyed ADD two int DEFAULT 1, ALTER two SET DEFAULT 2", "SLC-605.*keyed .*two parts of it"),
    ("ALTER TABLE computed MODIFY n decimal(9,3)", "SLC-446.*computed .*computed g anew"),
)
CHOSEN = "CREATE TABLE chosen (id int PRIMARY KEY, e enum('a','b','it''s'))"
COMPUTED = "CREATE TABLE computed (id int PRIMARY KEY, n decimal(6,2), g varchar(20) AS (CONCAT(n)) STORED)"


def test_an_alter_that_is_not_certain_stops_the_publisher_and_tables_come_late_as_they_are(binlog):
    """A table that is taken up late is described as it is by then, behind definitions that the log has yet."""
    ddl = f"{DDL};\nCREATE TABLE raw (id int) DEFAULT CHARSET binary;\n{COMPUTED};\n{CHOSEN}"
    world, master = binlog(ddl, ["keyed", "raw", "computed", "chosen"], slaves=("zurich",))
    master.execute(
        "INSERT INTO heap VALUES (8, 'early')",
        "ALTER TABLE heap DROP b, ADD c int NOT NULL DEFAULT 3",
        "INSERT INTO heap VALUES (9, 4)",
    )
    world.configure(lambda to: to["sources"][SOURCE]["tables"].update({f"{master.name}.heap": {}}))
    bootstrap(world.context, SOURCE)
    master.execute("ALTER TABLE heap ADD d int", "INSERT INTO heap VALUES (1, 2, 3)")
    world.publish()
    assert [one["action"] for one in world.log()] == ["I", "I", "A", "I"]
    # A new column is of another type than its statement says: the next row shows it.
    master.execute("ALTER TABLE raw ADD v varchar(5)", "ALTER TABLE chosen MODIFY e enum('a','b','it''s','c')")
    world.publish()
    master.execute("INSERT INTO raw VALUES (1, 'x')")
    with pytest.raises(SluiceError, match=r"SLC-446.*v bytea.*v character varying.5.. with the key .. was derived"):
        world.publish()
    for statement, match in REFUSED:
        bootstrap(world.context, SOURCE, rebase=True)
        master.execute("DELETE FROM keyed WHERE note = 'x' OR note IS NOT NULL", statement)
        with pytest.raises(SluiceError, match=match):
            world.publish()
