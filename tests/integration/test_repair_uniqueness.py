"""Rows that differ hold each other's unique values, and a repair makes them the master's all the same (R10)."""

from __future__ import annotations

import pytest
from support.exactly import differences
from support.several import harm
from support.updating import background, compare_here
from support.world import SOURCE

from sluice.errors import KeyConflict
from sluice.model.names import Pair, TableName
from sluice.repair.rule_choice import choose
from sluice.repair.run import RepairRequest, repair

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE two (id int PRIMARY KEY, u int NOT NULL UNIQUE, w int UNIQUE NULLS NOT DISTINCT, v text);
CREATE TABLE excluded (id numeric PRIMARY KEY, u int, EXCLUDE USING btree (u WITH =));
CREATE TABLE child (id int PRIMARY KEY, two int REFERENCES two);
CREATE TABLE own (id int PRIMARY KEY, u int UNIQUE REFERENCES own);
INSERT INTO own SELECT g, nullif(g - 1, 0) FROM generate_series(1, 20) AS g;
INSERT INTO two SELECT g, g, nullif(g, 5), 'v' FROM generate_series(1, 1200) AS g;
INSERT INTO excluded SELECT g, g FROM generate_series(1, 20) AS g;
INSERT INTO child SELECT g, g FROM generate_series(1, 1200) AS g;
"""
TWO = TableName("public", "two")
# The values of a batch's rows are those of other batches.
SWAPPED = (
    "UPDATE two SET u = -u, w = coalesce(-w, 0)",
    "UPDATE two SET u = 1201 - id, w = CASE WHEN id <> 7 THEN id % 1200 + 1 END",
)
MORE = """
DELETE FROM child WHERE two IN (5, 6);
DELETE FROM two WHERE id IN (5, 6);
INSERT INTO two VALUES (5000, 1195, -1, 'extra');
UPDATE own SET u = NULL;
DELETE FROM own WHERE id IN (3, 4, 5);
UPDATE own SET u = 21 - id WHERE id < 15;
UPDATE excluded SET u = NULL;
UPDATE excluded SET id = id + 0.00, u = 21 - id;
"""


def test_values_that_rows_took_from_each_other_come_back_and_a_row_in_the_way_is_named(updating):
    world = updating(
        DDL, ["public.two", "public.excluded", "public.child", "public.own"], renamed={}, slaves=["zurich"]
    )
    world.update()
    world.end_update()
    slave = world.reader("zurich")
    slave.execute("; ".join((*SWAPPED, MORE)))

    def fix(*tables, **more):
        with world.running():
            return repair(world.context, RepairRequest(SOURCE, "zurich", tables, **more), compare_here, patience_s=60)

    before = slave.execute("SELECT * FROM two ORDER BY id").fetchall()
    with pytest.raises(KeyConflict, match=r"SLC-603: rows of public\.two on slave zurich .*two_u_key") as refused:
        fix(TWO, kinds=("missing",))
    assert "--table public.two" in refused.value.hint
    assert "initial_update" in refused.value.hint
    assert slave.execute("SELECT * FROM two ORDER BY id").fetchall() == before
    found = fix()
    assert "compared again: equal" in found["note"]
    assert differences(world) == {}


@pytest.mark.full
def test_a_side_that_wins_takes_its_values_back_from_rows_of_the_other(several):
    both = {pair: {"block_loop": True} for pair in (("east", "west"), ("west", "east"))}
    world = several(DDL, both, ["public.two"])
    world.until_quiet()
    harm(world, "west", *SWAPPED)
    run = [lambda name=name: world.publish(name) for name in ("east", "west")]
    run += [lambda one=one: world.drain(*one) for one in both]
    with background(*run, pause_s=0.02):
        request = RepairRequest(*vars(Pair("east", "west")).values(), (TWO,), rule=choose("slave", None))
        found = repair(world.context, request, compare_here, patience_s=60)
    world.until_quiet()
    assert found["to_source"] >= 1199
    assert world.at("east").execute("SELECT * FROM two ORDER BY id").fetchall() == (
        world.at("west").execute("SELECT * FROM two ORDER BY id").fetchall()
    )
