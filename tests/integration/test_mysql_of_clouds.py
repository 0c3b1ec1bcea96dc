"""MySQL 8.0 and 8.4 as clouds have them, played in front of a newer server: what differs is asked for (R7)."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import replace

import pytest
from support.binlog import left_out
from support.older_mysql import OF_8_0_26, OF_8_0_40, OF_8_4, older

from sluice.connections import SEALED_ENV, seal
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.vendors.mariadb.capture.binlog.server import end_of_log
from sluice.vendors.mariadb.catalog.master_tables import expect_capturable
from sluice.vendors.mariadb.session import connect, connect_to_master

pytestmark = [pytest.mark.full, pytest.mark.postgres]
MYSQL = pytest.mark.parametrize("master_server", ["mysql_server"], ids=["mysql"], indirect=True)


@contextmanager
def played(world, monkeypatch, name, version):
    """The world with a server of a version behind one of its connections."""
    with older(world.infos[name], version) as info:
        monkeypatch.setenv(SEALED_ENV, seal({**world.infos, name: info}))
        yield info


@MYSQL
@pytest.mark.parametrize("version", [OF_8_0_26, OF_8_0_40, OF_8_4], ids=lambda one: one.version)
def test_a_master_is_captured_whatever_it_calls_the_end_of_its_log(binlog, master_server, monkeypatch, version):
    ddl = """CREATE TABLE p (id int PRIMARY KEY, v varchar(9));
CREATE TABLE c (id int PRIMARY KEY, p int, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE);
INSERT INTO p VALUES (1, 'é')"""
    world, master = binlog(ddl, ["p"], slaves=("zurich",), update=False)
    with played(world, monkeypatch, "master", version) as info:
        with closing(connect_to_master(info, "test")) as session:
            assert session.server.is_captured
            assert not session.server.logs_actions
            end_of_log(session)
            assert len(session.server.log_status) == (2 if version is OF_8_4 else 1)
        world.update()
        master.execute("UPDATE p SET v = 'ü'", "ALTER TABLE p ADD n int", "INSERT INTO p VALUES (2, 'x', 7)")
        assert world.verify(initial=True) == {"zurich": 0}
        with (
            closing(connect(info, "test")) as session,
            pytest.raises(SluiceError, match=r"SLC-477.*foreign key .*CASC"),
        ):
            expect_capturable(session, TableName(master.name, "c"))
    assert world.reader("zurich").execute("SELECT * FROM public.p ORDER BY id").fetchall() == [
        (1, "ü", None),
        (2, "x", 7),
    ]


@MYSQL
def test_a_server_that_is_too_old_or_another_one_is_refused(master_server):
    info = master_server.create_account(owner=True)
    with older(info, replace(OF_8_0_26, lacks=(*OF_8_0_26.lacks, "log_replica_updates"))) as old:
        with closing(connect(old, "test")) as session:
            assert not session.server.is_captured
        with pytest.raises(SluiceError, match=r"SLC-430: .*MySQL of an old version"):
            connect_to_master(old, "test")
    for version in ("8.0.30-Vitess", "5.7.44-log"):
        with older(info, replace(OF_8_0_40, version=version)) as other, pytest.raises(SluiceError, match="SLC-430"):
            connect(other, "test")


@MYSQL
def test_keys_that_nobody_sees_and_tags_of_transactions_are_read(binlog, master_server):
    hiding = "SET GLOBAL show_gipk_in_create_table_and_information_schema = {}"
    master_server.execute(hiding.format("OFF"))
    try:
        ddl = "SET sql_generate_invisible_primary_key = 1;\nCREATE TABLE t (n int);\nINSERT INTO t VALUES (5), (6)"
        world, master = binlog(ddl, ["t"], slaves=("zurich",))
        tagged = "SET gtid_next = 'AUTOMATIC:shop'"
        master.execute(
            tagged, "UPDATE t SET n = 7 WHERE n = 5", "DELETE FROM t WHERE n = 6", "INSERT INTO t VALUES (9)"
        )
        assert world.verify() == {"zurich": 0}
        assert not left_out(world)
        assert world.reader("zurich").execute("SELECT n, my_row_id FROM public.t ORDER BY n").fetchall() == [
            (7, 1),
            (9, 3),
        ]
    finally:
        master_server.execute(hiding.format("ON"))
