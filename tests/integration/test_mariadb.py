"""A slave on MariaDB is filled, follows its master, and is compared with it (R3 to R7, R10)."""

from __future__ import annotations

import itertools
import re
import signal
import time
from contextlib import closing
from dataclasses import replace

import pymysql
import pytest
from pymysql.cursors import SSCursor
from support import traffic
from support.lake import CHANGES
from support.mariadb import ONE_SERVER, SERVERS
from support.updating import background, compare_here
from support.world import SOURCE

from sluice.commands.remove_replication import Extent, remove_replication
from sluice.crash import CrashPoint
from sluice.errors import FencedError, NotByKeys, RowsDiffer, SluiceError, TransientError
from sluice.model.names import Resources
from sluice.model.row_numbers import RowNumbers
from sluice.repair.run import RepairRequest, repair
from sluice.state.replication import Status
from sluice.vendors import net_repair
from sluice.vendors.mariadb import fence
from sluice.vendors.mariadb.errors import translated
from sluice.vendors.mariadb.grants import for_source
from sluice.vendors.mariadb.server import MARIADB
from sluice.vendors.mariadb.session import connect, execute, expect_pinned, hold_lock, our_tables, transaction
from sluice.vendors.mariadb.write import repair as repairing

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE keyed (id int PRIMARY KEY, note text, amount numeric(9,2), day date, at timestamptz, raw bytea,
    free numeric);
CREATE TABLE heap (a int, b text);
INSERT INTO keyed SELECT g, 'note ' || g, g / 8.0, '2024-01-01', '2024-01-01 12:00:00.5+02', '\\x00ff', g
    FROM generate_series(1, 300) AS g;
INSERT INTO keyed VALUES (301, E'a\\tb\\\\c''\\n%s', 1, '9999-12-31', '0001-01-01 00:00:00+00', NULL, 'Infinity');
INSERT INTO keyed (id, note) VALUES (302, NULL), (303, '');
INSERT INTO heap SELECT g % 7, 'b' || g % 3 FROM generate_series(1, 100) AS g;
"""
TABLES = ["public.keyed", "public.heap"]
# Keys that a server which folds case, or looks at no blanks, would take for one another.
PRICED = """
CREATE TABLE priced (name varchar(9), price numeric(12,4), note text, PRIMARY KEY (name, price));
INSERT INTO priced SELECT (ARRAY['a', 'A', 'a ', 'é'])[1 + g % 4], g / 8.0, 'n' || g FROM generate_series(1, 1200) AS g
"""
HARM = """
DELETE FROM {}.priced WHERE MOD(price * 8, 3) = 1;
UPDATE {}.priced SET note = NULL WHERE MOD(price * 8, 3) = 2;
INSERT INTO {}.priced SELECT CONCAT(name, ' '), price, 'extra' FROM {}.priced WHERE price < 20;
UPDATE {}.priced SET name = 'E' WHERE name = 'é' AND price < 20;
INSERT INTO {}.priced VALUES (CONCAT('a', CHAR(0)), 1, 'extra: no text of the master has that')
"""
FITTING = CHANGES.replace("0044-03-15 BC", "0044-03-15").replace("-infinity", "1000-01-01")


@pytest.mark.full(but=["mariadb"])
@SERVERS
def test_rows_equal_the_master_after_an_update_and_after_changes_until_it_is_removed(maria, slave_server):
    world = maria(DDL, TABLES, update=False)
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    for mode, changes in (("batch", FITTING), ("one_to_one", "TRUNCATE keyed; INSERT INTO keyed VALUES (1, 'alone')")):
        world.configure(lambda settings, mode=mode: [one.update(mode=mode) for one in settings["replications"]])
        world.master.execute(changes)
        assert world.verify() == {"zurich": 0, "geneva": 0}
    assert {world.status(slave) for slave in world.slaves} == {Status.NORMAL}
    here, there = (world.infos[slave].database for slave in world.slaves)
    slave_server.execute(f"CREATE TABLE {here}.own (id int REFERENCES {here}.keyed (id))")
    with pytest.raises(SluiceError, match=r"SLC-387: .*keyed cannot be dropped: a foreign key of .*own refers"):
        remove_replication(world.context, world.pair("zurich"), Extent.TABLES)
    assert world.status("zurich") is Status.NORMAL
    slave_server.execute(f"DROP TABLE {here}.own")
    slave_server.execute(f"INSERT INTO {there}.sluice_position (source, slave) VALUES ('other', 'geneva')")
    assert f"table {here}.heap" in remove_replication(world.context, world.pair("zurich"), Extent.TABLES)
    assert remove_replication(world.context, world.pair("geneva")) == ["the position of flights->geneva"]
    assert slave_server.execute(f"SHOW TABLES FROM {here}") == []
    assert slave_server.execute(f"SELECT source FROM {there}.sluice_position") == [("other",)]
    assert world.status("zurich") is Status.UNCONFIGURED


@pytest.mark.full
@ONE_SERVER
def test_an_update_under_constant_writes_leaves_no_difference(maria):
    """Keys that move and swap, keys checked at commit, tables without a key."""
    world = maria(traffic.DDL, traffic.TABLES, update=False)
    with background(*traffic.jobs(world.session)):
        world.inhibit()
        with world.running():
            world.dump()
            world.release()
        assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    assert world.verify() == {"zurich": 0, "geneva": 0}


@ONE_SERVER
def test_a_drain_killed_at_any_point_delivers_nothing_twice(maria, slave_server):
    world = maria(DDL, TABLES, slaves=("zurich",))
    for point in (CrashPoint.MERGED, CrashPoint.DELIVERED):
        world.master.execute("INSERT INTO heap VALUES (1, 'x'), (1, 'x'); UPDATE keyed SET id = id + 1 WHERE id = 303")
        world.master.execute("DELETE FROM keyed WHERE id = 304; INSERT INTO keyed (id) VALUES (303)")
        world.publish()
        killed = world.job("drain", "--slave", "zurich", "--once", crash_at=point)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        world.let_leases_expire()
        world.drain("zurich")
    database = world.infos["zurich"].database
    assert slave_server.execute(f"SELECT COUNT(*) FROM {database}.heap WHERE b = 'x'") == [(4,)]
    assert world.verify() == {"zurich": 0}


@ONE_SERVER
def test_a_drain_that_was_taken_over_writes_nothing_and_one_that_hangs_is_ended(maria, slave_server):
    world = maria(DDL, TABLES, slaves=("zurich",))
    asleep = connect(world.infos["zurich"], "asleep")
    hold_lock(asleep, world.pair("zurich"))
    parts = our_tables(world.infos["zurich"].database)
    ((epoch,),) = slave_server.execute(f"SELECT epoch FROM {parts['position']}")
    asleep.begin()
    fence.lock_fence(asleep, parts, world.pair("zurich"), epoch)
    earlier = world.drainer("zurich")
    world.drainer("zurich")
    world.master.execute("INSERT INTO heap VALUES (1, 'x')")
    world.publish()
    with pytest.raises(FencedError, match="SLC-050"):
        earlier.deliver()
    with pytest.raises(pymysql.err.OperationalError):
        asleep.ping(reconnect=False)


# What others can make of our tables, and what undoes it.
FORGING = {
    "CREATE TRIGGER {0}.z BEFORE UPDATE ON {0}.sluice_position FOR EACH ROW SET NEW.ordinal = NEW.ordinal + 1": (
        "DROP TRIGGER {0}.z"
    ),
    "RENAME TABLE {0}.sluice_position TO {0}.own; CREATE VIEW {0}.sluice_position AS SELECT * FROM {0}.own": (
        "DROP VIEW {0}.sluice_position; RENAME TABLE {0}.own TO {0}.sluice_position"
    ),
}


@pytest.mark.full(but=["mariadb"])
@SERVERS
def test_no_position_is_believed_that_others_decide_about(maria, slave_server):
    world = maria("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], slaves=("zurich",))
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()

    def run(statements):
        for one in statements.format(world.infos["zurich"].database).split("; "):
            slave_server.execute(one)

    for forging, undoing in FORGING.items():
        begun = world.drainer("zurich")
        run(forging)
        for drain in (begun.deliver, lambda: world.drainer("zurich")):
            with pytest.raises(SluiceError, match=r"SLC-291: .*sluice_position (has the trigger z|is a view)"):
                drain()
        run(undoing)
    world.let_leases_expire()
    world.drain()
    assert world.verify() == {"zurich": 0}


@pytest.mark.full(but=["mariadb"])
@SERVERS
def test_what_is_not_as_it_should_be_is_found_with_its_key(maria, slave_server):
    world = maria(DDL, TABLES, slaves=("zurich",))
    database = world.infos["zurich"].database
    slave_server.execute(f"UPDATE {database}.keyed SET note = 'Note 5' WHERE id = 5")
    slave_server.execute(f"UPDATE {database}.keyed SET id = 5000 WHERE id = 6")
    slave_server.execute(f"TRUNCATE {database}.heap")
    world.drain()
    assert world.status("zurich") is Status.NORMAL, "an emptied table is seen by a comparison alone"
    # A session that took it from its server would see the first rows alone.
    slave_server.execute("SET GLOBAL sql_select_limit = 2")
    try:
        with pytest.raises(SluiceError, match=r"keyed on zurich: 1 missing, 1 extra, 1 changed") as differ:
            world.verify()
        assert re.search(r"heap on zurich: \d+ missing, 0 extra", differ.value.fact)
    finally:
        slave_server.execute("SET GLOBAL sql_select_limit = DEFAULT")


@pytest.mark.full
@SERVERS
def test_rows_are_repaired_under_constant_writes_to_them_though_sessions_are_ended(maria, slave_server, monkeypatch):
    world = maria(PRICED, ["public.priced"], slaves=("zurich",))
    database, turns, sessions = world.infos["zurich"].database, itertools.count(), []
    monkeypatch.setattr(repairing, "connect", lambda *at: sessions.append(connect(*at)) or sessions[-1])
    ends = [CrashPoint.COMMITTED, CrashPoint.MERGED, CrashPoint.STAGED]

    def end_session(at):
        if ends[-1:] == [at]:
            ends.pop()
            slave_server.execute(f"KILL CONNECTION {sessions[-1].thread_id()}")

    monkeypatch.setattr(net_repair, "crash_if_asked", end_session)
    session = world.session()

    def write():
        price = next(turns) * 7 % 400 / 8
        session.execute("UPDATE priced SET note = 'turn' WHERE price BETWEEN %s AND %s", [price, price + 2])
        session.execute("DELETE FROM priced WHERE price = %s", [price + 0.125])
        session.execute("INSERT INTO priced VALUES ('a ', %s), ('a', %s) ON CONFLICT DO NOTHING", [price, price + 0.25])

    def fix(**more):
        with world.running():
            return repair(world.context, RepairRequest(SOURCE, "zurich", **more), compare_here, patience_s=60)

    slave_server.run(HARM.replace("{}", database))
    with background(write, pause_s=0.002):
        found = fix()
    assert "compared again: equal" in found["note"]
    assert found["deleted"] > 100
    assert found["written"] > 480, "those which nobody else wrote to"
    assert not ends
    assert next(turns) > 20
    assert world.verify() == {"zurich": 0}
    slave_server.execute(f"UPDATE {database}.priced SET note = 'x' LIMIT 3")
    with pytest.raises(RowsDiffer) as differ:
        world.verify()
    for act, undo in (
        ("TRIGGER {}.own BEFORE UPDATE ON {}.priced FOR EACH ROW SET NEW.note = 'y'", "TRIGGER {}.own"),
        (
            f"TABLE {{}}.own (a varchar(9) COLLATE {slave_server.kind.collation}, b decimal(12,4), "
            "FOREIGN KEY (a, b) REFERENCES {}.priced (name, price) ON DELETE CASCADE)",
            "TABLE {}.own",
        ),
    ):
        slave_server.execute(f"CREATE {act}".replace("{}", database))
        with pytest.raises(SluiceError, match=r"SLC-073: .*does not take"):
            fix(report=differ.value.report)
        slave_server.execute(f"DROP {undo}".replace("{}", database))
    assert slave_server.execute(f"SELECT COUNT(*) FROM {database}.priced WHERE note = 'x'") == [(3,)]
    chosen = fix(report=differ.value.report, rows=RowNumbers.from_numbers([2]))
    assert chosen["note"].endswith(" 1 inserted or updated; compared again: 2 rows that were not chosen differ")
    with pytest.raises(NotByKeys, match=r"SLC-622: .* on slave zurich: public\.priced: "):
        world.verify(since="0/0")
    assert fix(report=differ.value.report)["written"] == 3


@pytest.mark.full(but=["mariadb"])
@SERVERS
def test_a_trigger_that_is_made_later_stops_the_slave_and_so_does_a_lack_of_the_right_to_see_it(maria, slave_server):
    world = maria("CREATE TABLE t (id int PRIMARY KEY, a int)", ["public.t"], slaves=("zurich",))
    account, database = world.infos["zurich"].login, world.infos["zurich"].database
    slave_server.execute(f"CREATE TRIGGER {database}.own BEFORE INSERT ON {database}.t FOR EACH ROW SET NEW.a = 0")
    world.master.execute("INSERT INTO t VALUES (1, 1)")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-073.*the trigger own"):
        world.drainer().deliver()
    slave_server.execute(f"DROP TRIGGER {database}.own")
    slave_server.execute(f"REVOKE TRIGGER ON {database}.* FROM {account}@'127.0.0.1'")
    with pytest.raises(SluiceError, match=rf"(?s)SLC-033.*GRANT TRIGGER ON `{database}`"):
        world.drainer().deliver()
    # A role that the account has shows them as well; the more general of two grants counts for nothing.
    whose = "FOR" if slave_server.kind is MARIADB else "TO"
    slave_server.run(
        f"GRANT TRIGGER ON `{database[0]}%`.* TO {account}@'127.0.0.1'; CREATE ROLE r_{account};"
        f"GRANT r_{account} TO {account}@'127.0.0.1'; SET DEFAULT ROLE r_{account} {whose} {account}@'127.0.0.1'"
    )
    with pytest.raises(SluiceError, match=r"SLC-033: .*has triggers"):
        world.drainer().deliver()
    slave_server.execute(f"GRANT TRIGGER ON {database}.* TO r_{account}")
    world.drainer().deliver()
    world.let_leases_expire()
    assert world.verify() == {"zurich": 0}


def test_grants_to_an_account_that_is_not_there_make_none(maria_server):
    info = maria_server.create_account()
    maria_server.execute("CREATE ROLE a_role")
    for login in (info.login.upper(), "a_role"):
        script = for_source(replace(info, login=login), Resources("s", "REPL_"), [info.database], activity=False)
        with pytest.raises(AssertionError, match="Can't find any matching row in the user table"):
            maria_server.run(script)
        assert not maria_server.execute("SELECT host FROM mysql.user WHERE user = %s AND is_role = 'N'", login)


@pytest.mark.full(but=["mariadb"])
@SERVERS
def test_a_table_that_one_refers_to_which_is_not_shown_stays_when_the_others_are_dropped(maria, slave_server):
    ddl = "CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY)"
    world = maria(ddl, ["public.a", "public.b"], slaves=("zurich",))
    here, tenant = world.infos["zurich"].database, slave_server.create_account().database
    slave_server.execute(f"CREATE TABLE {tenant}.child (id int REFERENCES {here}.a (id))")
    assert world.verify() == {"zurich": 0}
    with pytest.raises(SluiceError, match=rf"(?s)SLC-652: .*{here}\.a stays.*: DROP TABLE `{here}`\.`a`"):
        remove_replication(world.context, world.pair("zurich"), Extent.TABLES)
    assert slave_server.execute(f"SHOW TABLES FROM {here}") == [("a",)]
    assert world.status("zurich") is Status.UNCONFIGURED


# What a server may say to all its sessions: some of it ends them, some ends statements, or changes what they mean.
EVERYBODY = {
    "wait_timeout": 2,
    "interactive_timeout": 2,
    "net_write_timeout": 1,
    "net_read_timeout": 1,
    "completion_type": 2,
    "init_connect": "SET autocommit = 0, sql_big_selects = 0, max_join_size = 1",
}
ENDING = {MARIADB: {f"idle_{kind}transaction_timeout": 1 for kind in ("", "readonly_", "write_")}}


@pytest.mark.full(but=["mariadb"])
@SERVERS
def test_no_session_of_ours_has_what_its_server_says_to_everybody(slave_server):
    info, said = slave_server.create_account(owner=True), {**EVERYBODY, **ENDING.get(slave_server.kind, {})}
    for name, value in said.items():
        slave_server.execute(f"SET GLOBAL {name} = %s", value)
    try:
        with closing(connect(info, "test")) as session, closing(connect(info, "test")) as other:
            execute(session, f"CREATE TABLE {info.database}.t (id int PRIMARY KEY)")
            with transaction(session):
                execute(session, f"INSERT INTO {info.database}.t VALUES (1), (2)")
                time.sleep(2.5)
            read = f"SELECT a.id FROM {info.database}.t a, {info.database}.t b ORDER BY 1"
            assert execute(other, read) == execute(session, read) == [("1",), ("1",), ("2",), ("2",)]
            execute(session, f"DELETE FROM {info.database}.t")
            assert not execute(other, read)
            expect_pinned(session)
    finally:
        for name in said:
            slave_server.execute(f"SET GLOBAL {name} = DEFAULT")


@pytest.mark.full(but=["mariadb"])
@SERVERS
def test_a_session_that_is_ended_while_it_reads_is_tried_again(slave_server):
    info = slave_server.create_account(owner=True)
    slave_server.execute(f"CREATE TABLE {info.database}.t (id int PRIMARY KEY, v longtext)")
    values = ", ".join(f"({number}, REPEAT('x', 100000))" for number in range(300))
    slave_server.execute(f"INSERT INTO {info.database}.t VALUES {values}")
    session = connect(info, "test")

    def read():
        with translated("reading"), session.cursor(SSCursor) as cursor:
            cursor.execute(f"SELECT * FROM {info.database}.t")
            cursor.fetchone()
            slave_server.execute(f"KILL {session.thread_id()}")
            cursor.fetchall()

    with pytest.raises(TransientError, match="SLC-030: reading"):
        read()
    for use in (lambda: execute(session, "SELECT 1"), session.commit, session.begin):
        with pytest.raises(TransientError, match="SLC-030: going on"), translated("going on"):
            use()
