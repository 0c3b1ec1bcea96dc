"""What is MySQL's own of a master: rows in other forms, rights, keys that nobody sees (R2, R7, R9)."""

from __future__ import annotations

import re
from contextlib import closing, nullcontext
from dataclasses import replace
from threading import Timer

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import SluiceError, TransientError
from sluice.model.names import TableName
from sluice.vendors.mariadb.capture.binlog import events, reader
from sluice.vendors.mariadb.capture.binlog.server import end_of_log
from sluice.vendors.mariadb.read import rows, session_snapshot
from sluice.vendors.mariadb.session import connect
from sluice.vendors.protocol.read import KeyRange
from sluice.vendors.registry import master as master_of

pytestmark = [
    pytest.mark.full,
    pytest.mark.postgres,
    pytest.mark.parametrize("master_server", ["mysql_server"], ids=["mysql"], indirect=True),
]

DDL = """
CREATE TABLE docs (id int PRIMARY KEY, j json);
CREATE TABLE plain (v varchar(9) INVISIBLE, n int, KEY ((upper(v))));
CREATE TABLE shapes (v vector(3));
INSERT INTO docs VALUES (1, '{"a": 1, "b": 2}');
INSERT INTO plain (v, n) VALUES ('é', 1), ('é', 1)
"""
PAIR = "START TRANSACTION; UPDATE docs SET j = JSON_SET(j, '$.a', FLOOR(RAND() * 1000000)); COMMIT"
# What a session does, and why publishing stops in front of it, or leaves out its table.
REFUSED = {
    "SET binlog_row_value_options = 'PARTIAL_JSON'; " + PAIR: "SLC-405.*parts of documents",
    "SET binlog_transaction_compression = ON; " + PAIR: "SLC-405.*compressed events",
    "SET binlog_row_image = MINIMAL; " + PAIR: "SLC-446.*docs .*all of their columns",
    "XA START 'x'; DELETE FROM docs; XA END 'x'; XA PREPARE 'x'; XA COMMIT 'x'": "SLC-446.*docs .*a transaction of XA",
    "DELETE FROM plain; ALTER TABLE plain MODIFY v json": "SLC-446.*plain .*written anew as documents",
}


def test_what_is_not_told_as_rows_is_refused_and_rows_come_whatever_their_keys_are(binlog, master_server, caplog):
    caplog.set_level("INFO")
    world, master = binlog(DDL, ["docs", "plain"], slaves=("zurich",), update=False)
    for text, match in REFUSED.items():
        master.execute(*text.split("; "))
        caplog.clear()
        with pytest.raises(SluiceError, match=match) if "405" in match else nullcontext():
            world.publish()
        assert "405" in match or re.search(match, caplog.text), caplog.text
        if "MODIFY" in text:
            master.execute("ALTER TABLE plain MODIFY v varchar(9)")
        bootstrap(world.context, SOURCE, rebase=True)
    master_server.execute("FLUSH BINARY LOGS")
    master.execute(
        "SET sql_generate_invisible_primary_key = 1",
        "CREATE TABLE keyless (n int)",
        "INSERT INTO keyless VALUES (5), (5)",
        "INSERT INTO docs VALUES (7, '[]')",
        "INSERT INTO plain (v, n) VALUES ('é', 1)",
    )
    world.configure(lambda to: to["sources"][SOURCE]["tables"].update({f"{master.name}.keyless": {}}))
    bootstrap(world.context, SOURCE)
    world.update()
    # Such a comment is a part of a statement on MariaDB alone.
    master.execute("DELETE FROM keyless LIMIT 1", "UPDATE docs SET j = '{}'", "TRUNCATE /*M! docs */ plain")
    assert world.verify(initial=True) == {"zurich": 0}
    assert [world.rows("zurich", f"public.{table}").total() for table in ("docs", "plain")] == [1, 0]
    assert world.reader("zurich").execute("SELECT n, my_row_id FROM public.keyless").fetchall() == [(5, 2)]
    with closing(world.context.source(SOURCE)) as source, pytest.raises(SluiceError, match=r"SLC-477.*v .vector"):
        source.master.columns([TableName(master.name, "shapes")])


def test_a_snapshot_waits_for_who_writes_its_table_and_the_log_is_read_until_its_end_is_sent(
    binlog, master_server, monkeypatch
):
    world, master = binlog(DDL, ["docs", "plain"], slaves=("zurich",), update=False)
    info = world.infos["master"]
    monkeypatch.setattr(session_snapshot, "_HELD_S", 1)
    monkeypatch.setattr(rows, "PATIENCE_S", 0.1)
    with closing(connect(info, "test")) as session:
        end = end_of_log(session)
    behind = replace(end, offset=end.offset + 1)
    with monkeypatch.context() as impatient:
        impatient.setattr(reader, "_PATIENCE_S", 0)
        with pytest.raises(TransientError, match=r"SLC-450: .*has sent nothing"):
            list(reader.read(info, end, behind))
    Timer(0.3, master.execute, ["DELETE FROM docs WHERE id = 2", "UPDATE docs SET j = '[]'"]).start()
    assert [one.event.kind for one in reader.read(info, end, behind)][-1] == events.XID
    with closing(master_server.session()) as writer, master_of("mariadb").read(info, str(end)) as reading:
        with writer.cursor() as cursor:
            for one in (f"USE {master.name}", "BEGIN", "UPDATE plain SET n = 9"):
                cursor.execute(one)
            assert list(reading.table(TableName(master.name, "docs"), ["id"])) == [b"1\n"]
            with pytest.raises(TransientError, match=r"SLC-095.*plain for"):
                reading.table(TableName(master.name, "plain"), ["n"])
            cursor.execute("COMMIT")
        assert list(reading.table(TableName(master.name, "plain"), ["n", "v"])) == [b"1\t\xc3\xa9\n" * 2]
        rows_of_plain = reading.table(TableName(master.name, "plain"), ["n"])
        master.execute("ALTER TABLE plain ENGINE = InnoDB, ALGORITHM = COPY")
        with pytest.raises(TransientError, match=r"SLC-095.*definition has changed"):
            list(rows_of_plain)
        # As for a block: the table is kept as it is until its rows are read.
        within = KeyRange(0, TableName(master.name, "docs"), "`id` number")
        assert master_of("mariadb").foresee(info, [within])[0].rows == 1
        assert reading.shape(within).key_names == ("id",)
        some, last = reading.block(within, ["id"], 5)
        assert (list(some), last) == ([b"1\n"], None)
        assert reading.shape(KeyRange(1, TableName(master.name, "nothing"), "`id` number")) is None
        master_server.execute(f"REVOKE LOCK TABLES ON `{master.name}`.* FROM {info.login}@'127.0.0.1'")
        with pytest.raises(SluiceError, match=rf"(?s)SLC-033.*GRANT LOCK TABLES ON .* TO '{info.login}'@'"):
            reading.table(TableName(master.name, "docs"), ["id"])


def test_what_foreign_keys_change_is_in_the_log_and_in_an_update_under_it(binlog):
    ddl = """CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (id int PRIMARY KEY, p int, FOREIGN KEY (p) REFERENCES p (id) ON DELETE SET NULL ON UPDATE CASCADE);
INSERT INTO p VALUES (1), (2), (3);
INSERT INTO c VALUES (10, 1), (20, 2), (30, 3)"""
    world, master = binlog(ddl, ["*"], slaves=("zurich",), update=False)
    world.inhibit()
    # Behind the place that the update is of, as in ADR 12: the session's snapshot has it, and it is undone.
    master.execute("DELETE FROM p WHERE id = 2", "UPDATE p SET id = 2 WHERE id = 1")
    with world.running():
        world.dump()
        world.release()
    assert world.verify(initial=True) == {"zurich": 0}
    master.execute(
        "CREATE TABLE g (id int PRIMARY KEY, c int, FOREIGN KEY (c) REFERENCES c (id) ON DELETE CASCADE)",
        "INSERT INTO g VALUES (100, 10), (300, 30)",
        "SET foreign_key_checks = 0",
        "UPDATE p SET id = 4 WHERE id = 3",
        "SET foreign_key_checks = 1",
        "DELETE FROM c WHERE id = 10",
        "DELETE FROM p WHERE id = 2",
    )
    assert world.verify() == {"zurich": 0}
    reader = world.reader("zurich")
    assert reader.execute("SELECT * FROM public.g").fetchall() == [(300, 30)]
    assert reader.execute("SELECT * FROM public.c ORDER BY id").fetchall() == [(20, None), (30, 3)]
