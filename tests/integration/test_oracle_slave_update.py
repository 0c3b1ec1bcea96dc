"""The life of a slave on Oracle: filled, compared (R10), followed, repaired, removed."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from support.oracle_depots import DEPOTS, SLAVE
from support.updating import compare_here
from support.world import SOURCE

from sluice.commands.remove_replication import Extent, remove_replication
from sluice.errors import RowsDiffer
from sluice.repair.run import RepairRequest, repair
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

DDL = """CREATE TABLE t (id int PRIMARY KEY, name varchar(9), amount numeric(9,2){more});
INSERT INTO t (id, name) SELECT g, 'n' || g FROM generate_series(1, 300) AS g;
INSERT INTO t (id, name) VALUES (301, E'a\\tb\\\\')"""


@pytest.fixture
def afterwards():
    """What is left to do once the sessions of the worlds have ended."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture(params=DEPOTS)
def depot(request, afterwards, updating, tmp_path, monkeypatch):
    return DEPOTS[request.param](updating, afterwards, DDL, monkeypatch, tmp_path / "depot")


@pytest.mark.full
def test_a_slave_on_oracle_is_filled_a_row_that_differs_is_found_and_repaired_and_all_of_it_is_removed(depot):
    world = depot.world
    world.update()
    assert world.verify(initial=True) == {SLAVE: 0}
    assert world.status(SLAVE) is Status.NORMAL
    assert depot.execute('SELECT count(*) FROM "t"') == [(301,)]
    depot.execute('DELETE FROM "t" WHERE "id" = 7')
    depot.execute("""UPDATE "t" SET "name" = 'x' WHERE "id" = 8""")
    with pytest.raises(RowsDiffer, match=r"1 missing, 0 extra, 1 changed"):
        world.verify()
    depot.execute("""INSERT INTO "t" ("id", "name") VALUES (900, 'extra')""")
    world.master.execute(
        "DELETE FROM t WHERE id = 9; UPDATE t SET name = 'y' WHERE id = 10; INSERT INTO t VALUES (302)"
    )
    with world.running():
        found = repair(world.context, RepairRequest(SOURCE, SLAVE), compare_here, patience_s=60)
    assert (found["deleted"], found["written"]) == (1, 2)
    those = 'SELECT "name" FROM "t" WHERE "id" IN (7, 8, 9, 10, 302, 900) ORDER BY "id"'
    assert depot.execute(those) == [("n7",), ("n8",), ("y",), (None,)]
    gone = remove_replication(world.context, world.pair(SLAVE), Extent.TABLES)
    ours = [f"table {depot.schema}.SLUICE_{one}" for one in ("POSITION", "LOADED", "INTENT")]
    assert gone == [f"table {depot.schema}.t", *ours]
    assert depot.tables() == []


@pytest.mark.full
def test_an_update_of_a_slave_on_oracle_with_other_rows_ends_inconsistent(depot):
    world = depot.world
    world.update()
    depot.execute('DELETE FROM "t" WHERE "id" = 7')
    with pytest.raises(RowsDiffer, match=r"1 missing"):
        world.verify(initial=True)
    assert world.status(SLAVE) is Status.INCONSISTENT
