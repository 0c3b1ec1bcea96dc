"""Tables of a MariaDB master come in blocks while their stream goes on, whatever their keys are sorted by (R10)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from random import Random

import pymysql
import pytest
from support.binlog import BinlogMaster
from support.updating import blocks_here, load_here
from support.world import SOURCE

from sluice.errors import SluiceError, TransientError
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.dump import dump
from sluice.model.names import TableName
from sluice.state.replication import Status
from sluice.vendors.mariadb.capture.binlog.server import end_of_log
from sluice.vendors.mariadb.read import snapshot
from sluice.vendors.mariadb.read.key_order import KeyOrder
from sluice.vendors.mariadb.session import connect
from sluice.vendors.protocol.read import KeyRange
from sluice.vendors.registry import master as master_of

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE keyed (id int PRIMARY KEY, n int, note varchar(700));
CREATE TABLE worded (
    kind char(4) CHARACTER SET latin1, code varchar(20) COLLATE utf8mb4_general_ci, day date, n int,
    PRIMARY KEY (kind, code, day));
CREATE TABLE timed (at timestamp(3), raw binary(4), amount decimal(9,2), n int, PRIMARY KEY (amount, at, raw));
CREATE TABLE ided (id uuid PRIMARY KEY, n int);
CREATE TABLE heap (a int, b text);
INSERT INTO keyed SELECT seq, 0, REPEAT('x', 600) FROM seq_1_to_900;
INSERT INTO worded SELECT ELT(1 + seq % 4, 'a', 'B', 'ä ', 'É\\''), CONCAT(ELT(1 + seq % 3, 'k', 'K', 'ß'), seq),
    DATE'2024-01-01' + INTERVAL seq % 9 DAY, 0 FROM seq_1_to_200;
INSERT INTO timed SELECT '2024-03-31 01:59:59.5' + INTERVAL seq % 50 MINUTE, UNHEX(LPAD(HEX(seq), 2, '0')), -seq / 8, 0
    FROM seq_1_to_150;
INSERT INTO ided SELECT UUID(), 0 FROM seq_1_to_150;
INSERT INTO heap SELECT seq % 7, 'b' FROM seq_1_to_50
"""
TABLES = ["keyed", "worded", "timed", "ided", "heap"]


@pytest.fixture
def begun(binlog):
    """A world whose update in blocks has begun; none of them is in."""
    world, master = binlog(DDL, TABLES, slaves=("zurich",), update=False, source={"blocks": {"rows": 120}})

    def configured(settings):
        settings["bulk_tasks"] = 8
        settings["sources"][SOURCE]["tables"][f"{master.name}.heap"] = {"load_in_blocks": False}

    world.configure(configured)
    return world, master


def changes(random: Random) -> list[str]:
    """One transaction: rows come and go at both sides of whichever block, and move over it."""
    some, other = random.randrange(900), random.randrange(900)
    made = [
        f"DELETE FROM keyed WHERE id BETWEEN {some} AND {some + 3}",
        f"INSERT IGNORE INTO keyed VALUES ({other}, 1, 'again')",
        f"UPDATE IGNORE keyed SET id = {other} WHERE id = {some}",
        f"UPDATE IGNORE worded SET code = UPPER(CONCAT(code, '-')) WHERE day = '2024-01-0{1 + some % 9}' LIMIT 2",
        f"UPDATE IGNORE worded SET kind = 'Ä' WHERE code LIKE 'k%{some % 10}' LIMIT 3",
        f"DELETE FROM worded WHERE code LIKE '%{other % 100}'",
        f"INSERT IGNORE INTO worded VALUES ('b', 'ÿ{some}', '2024-05-05', {other})",
        f"UPDATE IGNORE timed SET amount = amount + 7.25 WHERE raw = X'{some % 256:02X}000000'",
        f"UPDATE IGNORE timed SET at = at + INTERVAL 1 HOUR WHERE amount < -{other % 30} LIMIT 3",
        "INSERT INTO ided VALUES (UUID(), 1)",
        f"DELETE FROM ided WHERE id > LPAD(HEX({other * 70_000}), 8, '0') LIMIT 2",
    ]
    return ["START TRANSACTION", *random.sample(made, 3), "ROLLBACK" if random.random() < 0.1 else "COMMIT"]


@contextmanager
def writers(master: BinlogMaster) -> Iterator[None]:
    """Sessions that write all the time; they lose deadlocks and go on."""
    over = threading.Event()
    failed: list[BaseException] = []

    def write(seed: int) -> None:
        random = Random(seed)
        while not over.wait(0.01) and not failed:
            try:
                master.execute(*changes(random))
            except pymysql.err.OperationalError as error:
                if error.args[0] not in (1205, 1213):
                    failed.append(error)
            except pymysql.Error as error:
                failed.append(error)

    threads = [threading.Thread(target=write, args=(seed,), daemon=True) for seed in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(60)
    assert not failed, failed


def test_a_slave_is_loaded_in_blocks_under_writers_and_tables_are_dropped_and_altered_meanwhile(begun, monkeypatch):
    world, master = begun
    monkeypatch.setattr(snapshot, "_BYTES_A_PART", 1)
    asked: list[tuple[int, int]] = []
    inside = KeyOrder.inside

    def counted(self, session, keys, within, last):
        found = inside(self, session, keys, within, last)
        asked.append((len(keys), len(found)))
        return found

    monkeypatch.setattr(KeyOrder, "inside", counted)
    with writers(master):
        world.inhibit()
        assert dump(world.context, SOURCE, world.slaves, load_here, mode="online")["failed"] == {}
        world.release()
        assert world.reader("zurich").execute("SELECT count(*) FROM keyed").fetchone() == (0,)
        with world.running():
            rows = load_online(world.context, SOURCE, world.slaves, blocks_here)["rows"]
        assert rows["zurich"] > 700
        assert world.verify(initial=True) == {"zurich": 0}
    ranges = world.reader("zurich").execute('SELECT "table", count(*) FROM sluice_ranges GROUP BY 1 ORDER BY 1')
    assert ranges.fetchall() == [("ided", 1), ("keyed", 8), ("timed", 1), ("worded", 1)]
    # Rows that went or came between a point and the session's snapshot were told apart by the server.
    assert sum(count for count, _ in asked) > sum(count for _, count in asked) > 0
    assert world.status("zurich") is Status.NORMAL
    # Whoever reads a block of a table that is altered, or gone, since the point is told so.
    source = master_of("mariadb")
    (keyed, ided), columns = (TableName(master.name, name) for name in ("keyed", "ided")), ["id", "n", "note"]
    with closing(world.context.source(SOURCE)) as opened, opened.master.exported_snapshot() as (point, _):
        within, others = KeyRange(0, keyed, "`id` number", reached=("300",)), KeyRange(1, ided, "`id` uuid")
    master.execute("DELETE FROM keyed WHERE id > 300", "DROP TABLE ided")
    alter = "SET lock_wait_timeout = 1", "ALTER TABLE keyed ADD later int"
    with source.read(master.info, point, ()) as reading:
        assert reading.shape(others) is None
        assert reading.shape(within).key_names == ("id",)
        with pytest.raises(pymysql.err.OperationalError, match="Lock wait timeout"):
            master.execute(*alter)
        rows, last = reading.block(within, columns, 10)
        # The end is one of the keys that are there by now, and the rows are those of the point.
        assert last is None
        assert b"".join(rows).count(b"\n") > 100
        master.execute(*alter)
        assert reading.shape(within)
        with pytest.raises(TransientError) as altered:
            reading.block(within, columns, 10)
        assert altered.value.code == 95
    with source.read(master.info, str(end_of_log(connect(master.info, "test"))), ()) as reading:
        assert reading.shape(within)
        with pytest.raises(SluiceError) as other:
            reading.block(replace(within, order="`id` text"), columns, 10)
        assert other.value.code == 79
        assert "another primary key" in other.value.fact
