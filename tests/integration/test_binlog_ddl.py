"""DDL of a MariaDB or MySQL master on slaves: in its place, once, with the rows of before and after (R3, R7)."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from random import Random

import pytest
from support.binlog import left_out
from support.world import SOURCE
from test_binlog import DDL

from sluice.capture.reconcile import bootstrap
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
    world, master = binlog("CREATE TABLE t (id int PRIMARY KEY, a varchar(9), u uuid)", ["t"], slaves=("zurich",))
    # By default an ALTER of the log says the columns; without it the definition of today does.
    world.configure(lambda settings: settings["sources"][SOURCE].update(detect_ddl=False))
    bootstrap(world.context, SOURCE)
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
    world.publish()
    assert "altered again" in left_out(world)["t"]


# What owners do to a table with rows.
ALTERED = "CREATE TABLE {} (id int AUTO_INCREMENT PRIMARY KEY, a int, v varchar(20), n decimal(6,2), d date)"
FOLLOWED = (
    "ADD e int",
    "ADD COLUMN {}.e int",
    "ADD e int NOT NULL",
    "ADD e int DEFAULT 1.6",
    "ADD e int DEFAULT '7' COMMENT 'é' FIRST",
    "ADD e bigint unsigned NOT NULL DEFAULT 18446744073709551615",
    "ADD e tinyint(1) NOT NULL DEFAULT TRUE",
    "ADD e bit(3) NOT NULL",
    "ADD e bit(3) DEFAULT b'101'",
    "ADD e int DEFAULT b'101'",
    "ADD e bool DEFAULT FALSE",
    "ADD e float NOT NULL DEFAULT 0.1",
    "ADD e double DEFAULT -0.125",
    "ADD e double NOT NULL DEFAULT '1e3'",
    "ADD e float(7,3) DEFAULT 1.5",
    "ADD e decimal(10,4) NOT NULL DEFAULT 1.6",
    "ADD e decimal(10,1) DEFAULT 1.25",
    "ADD e year",
    "ADD e year NOT NULL DEFAULT 2024",
    "ADD e year NOT NULL",
    "ADD e time",
    "ADD e time NOT NULL",
    "ADD e time(3) DEFAULT '10:11:12.5'",
    "ADD e datetime",
    "ADD e datetime NOT NULL DEFAULT '2024-01-01'",
    "ADD e datetime(3) DEFAULT '2024-01-01 10:11:12.5'",
    "ADD e date NOT NULL DEFAULT '2024-02-29'",
    "ADD e timestamp NULL",
    "ADD e varchar(30) NOT NULL DEFAULT 'it''s' AFTER a",
    "ADD e varchar(30) CHARACTER SET latin1 COLLATE latin1_bin NOT NULL",
    "ADD e text",
    "ADD e text NOT NULL",
    "ADD e longblob",
    "ADD e binary(4)",
    "ADD e json",
    "ADD e enum('x','y') NOT NULL DEFAULT 'y'",
    "ADD e set('x','y')",
    "ADD e set('x','y') NOT NULL DEFAULT 'x,y'",
    "ADD e uuid",
    "ADD e inet6",
    "ADD e int UNIQUE",
    "ADD e int REFERENCES other (id)",
    "ADD (e int, f varchar(9) DEFAULT 'f')",
    "ADD e int, ADD INDEX (e), DROP d",
    "DROP COLUMN {}.d",
    "DROP v, ALGORITHM = INPLACE, LOCK = NONE",
    "RENAME COLUMN a TO b",
    "CHANGE a b bigint NOT NULL",
    "MODIFY COLUMN a bigint",
    "MODIFY v varchar(200) NOT NULL DEFAULT ''",
    "MODIFY n decimal(12,4)",
    "ALTER a SET DEFAULT 5",
    "ALTER COLUMN a DROP DEFAULT",
    "ADD INDEX i (a, v(5)), ADD UNIQUE KEY u (id, a)",
    "ADD FULLTEXT (v)",
    "ADD CONSTRAINT c CHECK (a < 100)",
    "DROP PRIMARY KEY, ADD PRIMARY KEY (id, a)",
    "ORDER BY a, v DESC",
    "COMMENT = 'a {} of them', AUTO_INCREMENT = 100",
    "ENGINE = InnoDB",
    "FORCE",
    "CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    "DEFAULT CHARACTER SET latin1",
    "MODIFY id bigint NOT NULL AUTO_INCREMENT",
    "COMMENT 'x' /*!50101 , /* more */ ADD e int */",
    "ROW_FORMAT = DYNAMIC",
    "PARTITION BY HASH (id) PARTITIONS 3",
)
# Nobody knows from the log which values rows have behind these.
UNCERTAIN = (
    "ADD e int AS (a + 1) VIRTUAL",
    "ADD e datetime NOT NULL",
    "ADD e datetime DEFAULT now()",
    "MODIFY v enum('a','b')",
    "MODIFY n decimal(5,1)",
    "DROP a, ADD a int",
    "ENGINE = MyISAM",
)


@pytest.mark.slow
@pytest.mark.full(but=["12"])
@pytest.mark.parametrize("at_once", [1, 12])
def test_ordinary_alters_are_followed_and_others_leave_out_their_table_alone(binlog, at_once):
    """So many columns are added to one table, one behind the other; other commands have a table each."""
    world, master = binlog("CREATE TABLE other (id int PRIMARY KEY)", ["*"], slaves=("zurich",))
    columns = [one for one in FOLLOWED if one.startswith("ADD e ") and "(e)" not in one]
    tables = [columns[first : first + at_once] for first in range(0, len(columns), at_once)]
    tables += [[one] for one in FOLLOWED if one not in columns]
    uncertain = {f"t{len(tables) + number}" for number in range(len(UNCERTAIN))}
    sent = []
    for number, alters in enumerate([*tables, *([one] for one in UNCERTAIN)]):
        name = f"t{number}"
        sent += [
            ALTERED.format(name),
            f"INSERT INTO {name} VALUES (1, 1, 'b', 1.5, '2024-01-01'), (2, 2, 'a', 0, '2024-01-02')",
            f"UPDATE {name} SET id = 0 WHERE id = 1",
        ]
        for place, one in enumerate(alters):
            written = one.replace("{}", name)
            if one in columns:
                written = written.replace("ADD e", f"ADD e{place}", 1)
            # The first row shows what a new column has where no row of the log says so.
            sent += [f"ALTER TABLE {name} {written}", f"UPDATE {name} SET id = {3 + place} WHERE id = {2 + place}"]
    master.execute(*sent, "INSERT INTO other VALUES (1)")
    world.catch_up()
    assert world.verify() == {"zurich": 0}
    assert left_out(world).keys() == uncertain
    assert world.rows("zurich", "public.other")


REFUSED = (
    ("ALTER TABLE keyed ADD at2 datetime DEFAULT now()", "SLC-446.*keyed .*value of at2 .* is not certain"),
    ("ALTER TABLE keyed MODIFY note enum('a')", "SLC-446.*keyed .*may not have all members of note"),
    ("ALTER TABLE keyed ADD b varchar(9) CHARACTER SET 'binary'", "SLC-446"),
    ("ALTER TABLE keyed ADD two int DEFAULT 1, ALTER two SET DEFAULT 2", "SLC-446.*keyed .*two parts of it"),
    ("ALTER TABLE computed MODIFY n decimal(9,3)", "SLC-446.*computed .*computed g anew"),
)
CHOSEN = "CREATE TABLE chosen (id int PRIMARY KEY, e enum('a','b','it''s'))"
COMPUTED = "CREATE TABLE computed (id int PRIMARY KEY, n decimal(6,2), g varchar(20) AS (CONCAT(n)) STORED)"


def test_an_alter_that_is_not_certain_says_why_and_tables_come_late_as_they_are(binlog, caplog):
    """A table that is taken up late is described as it is by then, behind definitions that the log has yet."""
    caplog.set_level("INFO")
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
    world.publish()
    assert re.search(r"v bytea.*v character varying.5.. with the key .. was derived", left_out(world)["raw"])
    for statement, match in REFUSED:
        master.execute("DELETE FROM keyed WHERE note = 'x' OR note IS NOT NULL", statement)
        world.publish()
        assert re.search(match, caplog.text), match
