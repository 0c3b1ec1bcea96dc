"""The life of a slave on Oracle: filled, compared, followed, repaired (R10), removed. SQLite stands for the server."""

from __future__ import annotations

import sqlite3

import pytest
from support.oracle_as_sqlite import SqliteServer
from support.updating import compare_here
from support.world import SOURCE

from sluice.commands.remove_replication import Extent, remove_replication
from sluice.connections import ConnectionInfo
from sluice.errors import RowsDiffer
from sluice.repair.run import RepairRequest, repair
from sluice.state.replication import Status
from sluice.vendors.oracle import removal, slave
from sluice.vendors.oracle.load import receiver, tables
from sluice.vendors.oracle.read import compare
from sluice.vendors.oracle.write import repair as repairing

pytestmark = [pytest.mark.postgres]

DDL = """CREATE TABLE t (id int PRIMARY KEY, name varchar(9), amount numeric(9,2));
INSERT INTO t SELECT g, 'n' || g, NULL FROM generate_series(1, 300) AS g;
INSERT INTO t VALUES (301, E'a\\tb\\\\', NULL)"""
COLUMNS = [
    ("id", "NUMBER", None, 22, 10, 0, 0, None, "N", "NO", "NO"),
    ("name", "VARCHAR2", None, 36, None, None, 9, "C", "Y", "NO", "NO"),
    ("amount", "NUMBER", None, 22, 9, 2, 0, None, "Y", "NO", "NO"),
]


@pytest.fixture
def depot(updating, tmp_path, monkeypatch):
    """A world with one slave, which is on Oracle, and the file of its schema."""
    file = tmp_path / "depot"
    server = SqliteServer(file, "DEPOT", {"t": (COLUMNS, "id")})
    for module in (slave, tables, receiver, compare, repairing, removal):
        monkeypatch.setattr(module, "connect", server.connect)
    world = updating(DDL, ["public.t"], renamed={}, slaves=["zurich"])
    world.infos["unused"] = world.infos["zurich"]
    world.infos["zurich"] = ConnectionInfo("oracle", "depot", None, "X", "DEPOT", "secret")
    there = {"vendor": "oracle", "schema": "DEPOT", "schemas": {"public": "DEPOT"}}
    world.configure(lambda settings: settings["slaves"]["zurich"].update(there))
    return world, sqlite3.connect(file)


def test_a_slave_on_oracle_is_filled_a_row_that_differs_is_found_and_repaired_and_all_of_it_is_removed(depot):
    world, there = depot
    world.update()
    assert world.verify(initial=True) == {"zurich": 0}
    assert world.status("zurich") is Status.NORMAL
    assert there.execute("SELECT count(*) FROM t").fetchone() == (301,)
    there.execute("DELETE FROM t WHERE id = 7")
    there.execute("UPDATE t SET name = 'x' WHERE id = 8")
    there.commit()
    with pytest.raises(RowsDiffer, match=r"1 missing, 0 extra, 1 changed"):
        world.verify()
    there.execute("INSERT INTO t VALUES (900, 'extra', NULL)")
    there.commit()
    world.master.execute("DELETE FROM t WHERE id = 9; UPDATE t SET name = 'y' WHERE id = 10")
    with world.running():
        found = repair(world.context, RepairRequest(SOURCE, "zurich"), compare_here, patience_s=60)
    assert (found["deleted"], found["written"]) == (1, 2)
    assert there.execute("SELECT name FROM t WHERE id IN (7, 8, 9, 10, 900) ORDER BY id").fetchall() == [
        ("n7",),
        ("n8",),
        ("y",),
    ]
    gone = remove_replication(world.context, world.pair("zurich"), Extent.TABLES)
    assert gone == ["table DEPOT.t", "table DEPOT.SLUICE_POSITION", "table DEPOT.SLUICE_LOADED"]
    assert there.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == []


def test_an_update_of_a_slave_on_oracle_with_other_rows_ends_inconsistent(depot):
    world, there = depot
    world.update()
    there.execute("DELETE FROM t WHERE id = 7")
    there.commit()
    with pytest.raises(RowsDiffer, match=r"1 missing"):
        world.verify(initial=True)
    assert world.status("zurich") is Status.INCONSISTENT
