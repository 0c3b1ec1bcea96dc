"""Rows that come in chunks are read soon after, so that who reads them later writes nothing."""

from __future__ import annotations

import pytest
from support.sizes import BLOCK_BYTES
from support.updating import load_here

from sluice.initial_update.chunks import plan
from sluice.vendors.postgresql.load import hint_bits
from sluice.vendors.postgresql.load.receiver import PostgresReceiver

pytestmark = [pytest.mark.postgres]

ROWS = "INSERT INTO t SELECT g, repeat('x', 700) FROM generate_series(1, 6000) AS g"
PLAIN = "CREATE TABLE t (id int PRIMARY KEY, note text)"
IN_PARTS = f"""
{PLAIN} PARTITION BY RANGE (id);
CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (2000);
CREATE TABLE "High" PARTITION OF t FOR VALUES FROM (2000) TO (10000);
"""
PAGES = "SELECT coalesce(sum(pg_relation_size(oid)), 0) / 8192 FROM pg_class WHERE relname IN ('t', 'low', 'High')"
LOGGED = "EXPLAIN (ANALYZE, WAL, FORMAT json) SELECT count(*) FROM t WHERE ctid > '(0,0)'"
MANY = 450


def logged(session):
    """How many records are logged since somebody reads the table."""
    session.execute("CHECKPOINT")
    ((((plan,)),),) = session.execute(LOGGED.encode()).fetchall()
    return plan["Plan"]["WAL Records"]


@pytest.mark.full(but=["partitioned"])
@pytest.mark.parametrize("there", [PLAIN, IN_PARTS], ids=["plain", "partitioned"])
def test_what_came_is_read_before_a_checkpoint_makes_that_dear(updating, monkeypatch, there):
    monkeypatch.setattr(plan, "CHUNK_BYTES", 64 * BLOCK_BYTES)
    monkeypatch.setattr(hint_bits, "LARGE_BYTES", 128 * BLOCK_BYTES)
    world = updating(f"{PLAIN}; {ROWS}", ["public.t"])
    zurich = world.reader("zurich")
    zurich.execute(there)
    zurich.execute(ROWS)
    assert logged(zurich) >= MANY, "whoever reads first logs nothing here"
    found = []
    end = PostgresReceiver.end

    def looked(receiver, chunk, rows):
        end(receiver, chunk, rows)
        ((pages,),) = zurich.execute(PAGES).fetchall()
        if pages > MANY and not found:
            found.append(logged(zurich))

    monkeypatch.setattr(PostgresReceiver, "end", looked)
    world.update("zurich", load=load_here)
    # But for pages that had room before their chunk came.
    assert found[0] < MANY / 20
