"""Rows that come in chunks are read soon after, so that who reads them later writes nothing."""

from __future__ import annotations

import pytest
from support.updating import load_here

from sluice.initial_update import plan
from sluice.vendors.postgresql import settling
from sluice.vendors.postgresql.copying import PostgresReceiver

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, note text);
INSERT INTO t SELECT g, repeat('x', 700) FROM generate_series(1, 6000) AS g;
"""
LOGGED = "EXPLAIN (ANALYZE, WAL, FORMAT json) SELECT count(*) FROM t WHERE ctid < '({},0)'"
PAGES = 500


def logged(session, pages):
    """How many records are logged since somebody reads so many pages."""
    session.execute("CHECKPOINT")
    ((((plan,)),),) = session.execute(LOGGED.format(pages).encode()).fetchall()
    return plan["Plan"]["WAL Records"]


def test_what_came_is_read_before_a_checkpoint_makes_that_dear(updating, monkeypatch):
    monkeypatch.setattr(plan, "CHUNK_BYTES", 64 * plan.BLOCK_BYTES)
    monkeypatch.setattr(settling, "LARGE_BYTES", 128 * plan.BLOCK_BYTES)
    world = updating(DDL, ["public.t"])
    zurich = world.reader("zurich")
    zurich.execute("CREATE TABLE t (id int PRIMARY KEY, note text)")
    zurich.execute("INSERT INTO t SELECT g, repeat('x', 700) FROM generate_series(1, 6000) AS g")
    assert logged(zurich, PAGES) >= PAGES - 1, "whoever reads first logs nothing here"
    found = []
    end = PostgresReceiver.end

    def looked(receiver, chunk, rows):
        end(receiver, chunk, rows)
        ((pages,),) = zurich.execute("SELECT pg_relation_size('t') / 8192").fetchall()
        if pages > PAGES and not found:
            found.append((int(pages), logged(zurich, pages)))

    monkeypatch.setattr(PostgresReceiver, "end", looked)
    world.update("zurich", load=load_here)
    ((pages, late),) = found
    assert late <= 1, pages
