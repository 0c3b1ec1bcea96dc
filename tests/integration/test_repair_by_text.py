"""A repair from a master whose rows are found by the texts of their keys: those that both sides spell alike (R10)."""

from __future__ import annotations

import re

import pytest
from support.binlog import BinlogMaster
from support.updating import compare_here
from support.world import SOURCE

from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.repair.run import RepairRequest, repair

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE spelled (
    i int unsigned, b bigint unsigned, d decimal(12,4), v varchar(20), c char(9), day date, at datetime(3),
    t timestamp(2), bin varbinary(8), u uuid, bits bit(4), n int,
    PRIMARY KEY (i, b, d, v, c, day, at, t, bin, u, bits));
INSERT INTO spelled SELECT seq, 18446744073709551000 + seq, seq / 8, CONCAT('é\\t\\\\', seq), CONCAT(seq, ' '),
    '2024-02-29', '2024-01-01 12:00:00.5', '2024-01-01 12:00:00.25', UNHEX('00ff5c09'),
    '123e4567-e89b-12d3-a456-426655440000', b'0101', 1
    FROM seq_1_to_20;
CREATE TABLE priced (amount decimal(10,2) PRIMARY KEY, n int);
INSERT INTO priced VALUES (1.5, 1), (2, 1);
CREATE TABLE measured (f double PRIMARY KEY, n int);
INSERT INTO measured VALUES (0.1, 1)
"""
TYPES = {"priced": "numeric(12,4)", "measured": "double precision"}
# No key on MariaDB has bytes. It refuses the table whose key has other digits there.
WIDER = {"postgresql": "ALTER amount TYPE numeric(12,4)", "mariadb": "MODIFY amount decimal(12,4)"}
# No text of PostgreSQL's has it, neither in a table nor in what a comparison keeps there.
NUL = "CONCAT('a', CHAR(0))"
WITH_NUL = f"""
INSERT INTO spelled (i, b, d, v, c, day, at, t, bin, u, bits, n)
    SELECT 30, b, d, {NUL}, c, day, at, t, bin, u, bits, n FROM spelled WHERE i = 1
"""
REFUSED = {"priced": "SLC-073: the slave's .*priced does not take .*exactly: amount is a decimal"}


@pytest.mark.full(but=["postgresql"])
@pytest.mark.parametrize("into", WIDER)
def test_a_key_is_found_if_both_sides_spell_it_alike_and_no_row_is_deleted_if_not(binlog, into):
    ddl = DDL if into == "postgresql" else DDL.replace("t, bin, u", "t, u") + f";{WITH_NUL}"
    world, master = binlog(ddl, ["spelled", *TYPES], slaves=("geneva",), into=into)

    def on_slave(*statements):
        if into == "postgresql":
            return [world.reader("geneva").execute(one) for one in statements][-1]
        return BinlogMaster(master.server, world.infos["geneva"]).execute(*statements)

    def fix(*tables):
        asked = RepairRequest(SOURCE, "geneva", tuple(TableName(master.name, one) for one in tables))
        with world.running():
            return repair(world.context, asked, compare_here, patience_s=60)

    on_slave("UPDATE spelled SET n = 0 WHERE i < 6 OR i = 30", "DELETE FROM spelled WHERE i IN (19, 20)")
    on_slave("UPDATE spelled SET v = 'another' WHERE i = 10")
    if into == "mariadb":
        on_slave(f"UPDATE spelled SET v = {NUL} WHERE i = 11")
    found = fix()
    assert (found["deleted"], found["written"]) == ((1, 8) if into == "postgresql" else (2, 10))
    on_slave(f"ALTER TABLE priced {WIDER[into]}")
    for table, its in TYPES.items():
        on_slave(f"UPDATE {table} SET n = 0")
        left = [*on_slave(f"SELECT * FROM {table}")]
        with pytest.raises(SluiceError) as told:
            fix(table)
        refused = REFUSED.get(table) if into == "mariadb" else None
        wanted = refused or rf"SLC-467: rows of {master.name}\.{table} .*{re.escape(its)} on the slave"
        assert re.search(wanted, str(told.value))
        assert [*on_slave(f"SELECT * FROM {table}")] == left
        on_slave(f"UPDATE {table} SET n = 1")
        if refused:
            on_slave(f"ALTER TABLE {table} MODIFY amount decimal(10,2)")
