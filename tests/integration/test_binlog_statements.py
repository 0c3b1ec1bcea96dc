"""Statements for every node that are issued on a MariaDB master: once, in their place in its log, without rows."""

from __future__ import annotations

import threading
from contextlib import closing, contextmanager, suppress
from random import Random

import pymysql
import pytest
from support.issuing import everywhere, standings
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import RolledBack, SluiceError
from sluice.model.statement import TransactionOutcome, TransactionRef
from sluice.statements.issue import issue, resolve
from sluice.store import statement_results
from sluice.vendors.mariadb.statements import master as issuing

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, x int, n decimal(9,2) zerofill, v varchar(9), w text CHARACTER SET latin1, d date,
    at timestamp(3) NULL, e enum('p','q'), c char(3), s smallint unsigned NOT NULL DEFAULT 0, f float,
    KEY (x)) COLLATE utf8mb4_general_ci;
INSERT INTO t SELECT seq, NULLIF(seq % 4, 3), seq / 4, ELT(1 + seq % 4, 'a', 'A', 'a ', 'é'),
    ELT(1 + seq % 2, 'é', 'E'), '2024-02-29', '2024-03-01 00:00:00.25', 'p', 'x', 5, 0.1 FROM seq_1_to_40;
CREATE TABLE acted (id int PRIMARY KEY, v varchar(9));
CREATE TRIGGER shouting BEFORE UPDATE ON acted FOR EACH ROW SET NEW.v = UPPER(NEW.v);
CREATE TABLE moved (id int PRIMARY KEY, at timestamp NOT NULL DEFAULT now() ON UPDATE now());
CREATE TABLE counted (id int AUTO_INCREMENT PRIMARY KEY);
CREATE TABLE unwatched (id int)
"""
TABLES = ["t", "acted", "moved", "counted"]
ISSUED = (
    "UPDATE t SET x = x + 1, s = s - 1 WHERE v = 'a' OR w <> 'é'",
    "UPDATE {}.t SET n = n * 2 - 0.25, d = '2024-01-01' WHERE v IN ('A', 'é') AND NOT at > '2024-03-01 00:00:00.25'",
    "INSERT INTO t (id, x, n, v, w, d, at, e, c, s, f) VALUES (99, NULL, 0.5, 'a ', 'ß', '2024-01-01', NULL, NULL, "
    "NULL, 0, NULL), (100, 1, 12345, '', '\\''', NULL, '2024-01-01 00:00:00.125', NULL, NULL, 1, NULL)",
    "SELECT id, x, n, v, w, d, at, e, c, s FROM t WHERE id IN (3, 99, 100)",
    "SELECT count(*), sum(n), min(n), max(d) FROM t WHERE v <> 'a' AND x IS NOT NULL",
    "UPDATE t SET x = 1 WHERE id = 100 OR x = 1.25 OR 1.75 IN (x, s)",
    "UPDATE t SET d = '2024-02-01' WHERE s * 60000 * 60000 > 5 AND id - 0.5 > 3",
    "INSERT counted (id) VALUES (7)",
    "DELETE FROM t WHERE x = 2 AND v = 'é'",
)
REFUSED = {
    "UPDATE acted SET v = 'a'": "SLC-578.*the trigger shouting",
    "UPDATE moved SET id = 1": "SLC-577",
    "DELETE FROM moved": r"SLC-578.*the column at, on update",
    "INSERT INTO counted (id) VALUES (0)": "SLC-577.*numbered anew",
    "UPDATE t SET x = 1 WHERE e = 'p'": "SLC-577",
    "UPDATE t SET c = 'a '": "SLC-577",
    "UPDATE t SET s = -1 - s": "SLC-105",
    "DELETE FROM unwatched": "SLC-577.*not all changes",
    "ALTER TABLE t ADD y int": "SLC-577",
}


@contextmanager
def writers(master):
    """Sessions that write to the rows of statements all the time."""
    over = threading.Event()

    def write(seed):
        random = Random(seed)
        while not over.wait(0.01):
            key = random.randrange(1, 60)
            # One loses a deadlock, and goes on.
            with suppress(pymysql.err.OperationalError):
                master.execute(
                    "START TRANSACTION",
                    f"INSERT IGNORE INTO t (id, x, v) VALUES ({key}, {key % 3}, 'a')",
                    f"UPDATE t SET x = (x + 1) % 5 WHERE id = {key}",
                    f"DELETE FROM t WHERE id = {random.randrange(1, 60)} AND id % 3 = 0",
                    "COMMIT",
                )

    threads = [threading.Thread(target=write, args=[seed], daemon=True) for seed in range(2)]
    for one in threads:
        one.start()
    try:
        yield
    finally:
        over.set()
        for one in threads:
            one.join(60)


def let_write(master):
    account = f"'{master.info.login}'@'127.0.0.1'"
    master.server.execute(f"GRANT INSERT, UPDATE, DELETE, TRIGGER ON {master.name}.* TO {account}")


@pytest.mark.full
@pytest.mark.parametrize("into", ["postgresql", "mariadb"])
def test_a_statement_is_one_change_in_its_place_and_does_the_same_everywhere(binlog, into):
    world, master = binlog(DDL, TABLES, into=into, slaves=("zurich",))
    let_write(master)
    if into == "postgresql":
        # Nothing of the kind acted on the master.
        world.session("zurich").execute(
            "CREATE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.x = 77; RETURN NEW; END';"
            "CREATE TRIGGER own BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION own()"
        )

    def execute(text):
        for _ in range(20):
            # It may lose a deadlock with the writers.
            with suppress(RolledBack):
                return issue(world.context, SOURCE, text.replace("{}", master.name), schema=master.name)
        raise AssertionError(text)

    done = [execute(text) for text in ISSUED]
    with writers(master):
        done += [execute(f"UPDATE t SET n = n + 1, s = 7 WHERE x = {number % 3}") for number in range(6)]
        done += [execute(f"SELECT count(*), sum(id) FROM t WHERE x = {number}") for number in range(3)]
    assert world.verify() == {"zurich": 0}
    for one in done:
        assert standings(world, one) == everywhere(world), one.sql
    sent = [one for one in world.log() if one["action"] == "S"]
    assert len(sent) == len(done)
    assert all(statement_results.find_issued(world.context.store, SOURCE, one.id).trans_key.isdigit() for one in done)
    if into == "postgresql":
        for text, match in REFUSED.items():
            with pytest.raises(SluiceError, match=match):
                issue(world.context, SOURCE, text, schema=master.name)
        assert world.verify() == {"zurich": 0}


@pytest.mark.full
def test_what_was_lost_in_its_commit_is_found_out_and_what_nobody_issued_is_refused(binlog, monkeypatch):
    world, master = binlog(DDL, TABLES, slaves=("zurich",))
    with pytest.raises(SluiceError, match=r"SLC-578.*repl_statement, which.*accounts with TRIGGER"):
        issue(world.context, SOURCE, "UPDATE t SET x = 1", schema=master.name)
    let_write(master)
    # Rows that a trigger of the record changes would be taken for those of the statement, which slaves compute anew.
    master.execute("CREATE TRIGGER sly AFTER UPDATE ON repl_statement FOR EACH ROW DELETE FROM t WHERE id = 9")
    with pytest.raises(SluiceError, match=r"SLC-578.*the trigger sly of .*repl_statement"):
        issue(world.context, SOURCE, "UPDATE t SET x = 5", schema=master.name)
    master.execute("DROP TRIGGER sly")
    connecting = issuing.connect_to_master

    def connected(info, name):
        """A session that is lost in the commit of its statement: before it, or behind it."""
        session = connecting(info, name)
        commit = session.commit

        def lost():
            if before:
                master.server.execute(f"KILL {session.thread_id()}")
            commit()
            raise pymysql.err.OperationalError(2013, "lost")

        session.commit = commit if name == "fate" else lost
        return session

    monkeypatch.setattr(issuing, "connect_to_master", connected)
    before = True
    with pytest.raises(RolledBack, match="SLC-108"):
        issue(world.context, SOURCE, "UPDATE t SET x = 0 WHERE id = 1", schema=master.name)
    before = False
    done = issue(world.context, SOURCE, "UPDATE t SET x = x + 10", schema=master.name)
    monkeypatch.setattr(issuing, "connect_to_master", connecting)
    capture = world.context.source(SOURCE).capture
    assert capture.fate(TransactionRef(done.id)) is TransactionOutcome.COMMITTED
    assert capture.fate(TransactionRef(done.id + 1)) is TransactionOutcome.ROLLED_BACK
    assert capture.fate(TransactionRef(done.id, None, "another")) is TransactionOutcome.UNKNOWN
    ((text,),) = master.execute(f"SELECT content FROM {master.name}.repl_statement WHERE id = {done.id}")
    monkeypatch.setattr(issuing, "_PATIENCE_S", 1)
    with closing(master.server.session()) as session, session.cursor() as cursor:
        for one in (f"USE {master.name}", "BEGIN", "SELECT * FROM repl_statement FOR UPDATE"):
            cursor.execute(one)
        assert capture.fate(TransactionRef(done.id)) is TransactionOutcome.RUNNING
        for one in ("ROLLBACK", "BEGIN", "UPDATE t SET v = 'z' WHERE id = 3"):
            cursor.execute(one)
        with pytest.raises(SluiceError, match="SLC-107"):
            issue(world.context, SOURCE, "UPDATE t SET x = 3", schema=master.name)
        cursor.execute("COMMIT")
    resolve(world.context, SOURCE)
    assert world.verify() == {"zurich": 0}
    assert standings(world, done) == everywhere(world)
    # A record alone, or with the text of an earlier one, hides no rows.
    for content, match in (("", "SLC-405.*has no text"), (text, "SLC-068.*nobody issued it")):
        bootstrap(world.context, SOURCE, rebase=True)
        records = f"INSERT INTO repl_statement VALUES ({done.id}, '')", "DELETE FROM t WHERE id = 5"
        with closing(master.server.session()) as session, session.cursor() as cursor:
            cursor.execute(f"USE {master.name}")
            for one in ("DELETE FROM repl_statement", "BEGIN", *records):
                cursor.execute(one)
            if content:
                cursor.execute("UPDATE repl_statement SET content = %s", [content])
            cursor.execute("COMMIT")
        with pytest.raises(SluiceError, match=match):
            world.publish()
