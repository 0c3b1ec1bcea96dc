"""A repair from a master whose rows are found by the texts of their keys: those that both sides spell alike (R10)."""

from __future__ import annotations

import pytest
from support.updating import compare_here
from support.world import SOURCE

from sluice.errors import SluiceError
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


def test_a_key_is_found_if_both_sides_spell_it_alike_and_no_row_is_deleted_if_not(binlog):
    world, master = binlog(DDL, ["spelled", *TYPES], slaves=("geneva",))
    slave = world.reader("geneva")
    slave.execute("ALTER TABLE priced ALTER amount TYPE numeric(12,4)")

    def mend():
        with world.running():
            return repair(world.context, RepairRequest(SOURCE, "geneva"), compare_here, patience_s=60)

    slave.execute("UPDATE spelled SET n = 0 WHERE i < 6; DELETE FROM spelled WHERE i > 18")
    slave.execute("UPDATE spelled SET v = 'another' WHERE i = 10")
    found = mend()
    assert (found["deleted"], found["written"]) == (1, 8)
    for table, its in TYPES.items():
        slave.execute(f"UPDATE {table} SET n = 0".encode())
        left = slave.execute(f"TABLE {table}".encode()).fetchall()
        with pytest.raises(SluiceError) as told:
            mend()
        assert f"SLC-467: rows of {master.name}.{table}" in str(told.value)
        assert f"{its} on the slave" in str(told.value)
        assert slave.execute(f"TABLE {table}".encode()).fetchall() == left
        slave.execute(f"UPDATE {table} SET n = 1".encode())
