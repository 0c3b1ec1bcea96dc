"""Rows of two databases that are masters of each other are repaired to the side that a rule says (R10, both ways)."""

from __future__ import annotations

import itertools
from copy import deepcopy

import pytest
from support.updating import background, compare_here

from sluice.errors import SluiceError
from sluice.model.names import Pair, TableName
from sluice.repair.chosen_rows import numbers
from sluice.repair.run import RepairRequest, repair
from sluice.store import trail
from sluice.vendors.postgresql.load.versioned_keys import PostgresVersionedRepair

pytestmark = [pytest.mark.postgres]

BOTH = {("east", "west"): {"block_loop": True}, ("west", "east"): {"block_loop": True}}
DDL = """
CREATE TABLE t (id int PRIMARY KEY, v text, at timestamptz, n int);
CREATE TABLE other (id int PRIMARY KEY, v text);
"""
TABLES = ["public.t", "public.other"]
ROWS = """
INSERT INTO t SELECT g, E'v\\t' || g, '2024-01-01'::timestamptz + g * interval '1 h', g
FROM generate_series(1, 900) AS g
"""
T = TableName("public", "t")
PAIR, BACK = Pair("east", "west"), Pair("west", "east")


def harm(world, name, *statements):
    """What nobody captures."""
    session = world.at(name, "harm")
    with session.transaction():
        for statement in statements:
            session.execute(statement)
        session.execute("SET LOCAL sluice.purge = on")
        session.execute("DELETE FROM repl_queue WHERE trans_key = pg_current_xact_id()")


@pytest.fixture
def world(several):
    made = several(DDL, BOTH, TABLES)
    made.at("east").execute(ROWS)
    made.until_quiet()
    return made


def mend(world, pair=PAIR, *jobs, **more):
    """A repair, beside which both directions run."""
    run = [lambda name=name: world.publish(name) for name in ("east", "west")]
    run += [lambda one=one: world.drain(one.source, one.slave) for one in (PAIR, BACK)]
    with background(*run, *jobs, pause_s=0.02):
        return repair(world.context, RepairRequest(*vars(pair).values(), (T,), **more), compare_here, patience_s=60)


HARM = (
    "DELETE FROM t WHERE id % 100 = 1",
    "UPDATE t SET v = 'the west', n = -1, at = at + interval '1 d' WHERE id % 100 = 2",
    "UPDATE t SET v = NULL, at = at - interval '1 d' WHERE id % 100 = 3",
    "INSERT INTO t SELECT g, 'west alone' FROM generate_series(2001, 2009) AS g",
)


@pytest.mark.parametrize(("rule", "pair"), [("slave", PAIR), ("slave", BACK)])
def test_one_side_wins_while_both_are_written_to_and_nothing_newer_is_undone(world, rule, pair):
    harm(world, "west", *HARM)
    turns, sessions = itertools.count(), [world.at(name, "writer") for name in ("east", "west")]

    def write():
        """Odd rows are the east's, even ones the west's; the rows that differ are among them."""
        turn = next(turns)
        for name, session in zip(("east", "west"), sessions, strict=True):
            row = turn * 2 % 40 + (name == "east")
            session.execute("UPDATE t SET n = %s, v = %s WHERE id = %s", [turn, f"{name} {turn}", row])
            session.execute("INSERT INTO t VALUES (%s, %s) ON CONFLICT DO NOTHING", [3000 + row, name])
            session.execute("DELETE FROM t WHERE id = %s", [3000 + (row + 20) % 40])

    found = mend(world, pair, write, rule=rule)
    world.until_quiet()
    assert world.rows("east") == world.rows("west")
    assert next(turns) > 3
    wests = (rule == "slave") == (pair is PAIR)
    assert world.at("east").execute("SELECT count(*) FROM t WHERE id > 2000 AND id < 3000").fetchone() == (9 * wests,)
    assert (found["to_slave"] == 0, found["to_source"] == 0) == (rule == "slave", rule == "source")
    assert found["to_slave"] + found["to_source"] >= 30
    assert (world.queued("east"), world.queued("west")) == ([], [])
    for one in (PAIR, BACK):
        entries = {entry.event: entry.detail for entry in trail.last(world.context.store, one, 10)}
        assert f"of {pair}, rule {rule}:" in entries["repair"]
        assert "kept changing" in entries["repaired"]


def test_without_a_rule_the_source_wins_and_a_dry_run_says_which_way_each_row_would_go(world):
    harm(world, "west", *HARM, "UPDATE other SET v = 'x'")
    found = mend(world, rule="slave", dry_run=True)
    assert (found["to_source"], len(found["statements"])) == (36, 36)
    assert """east: DELETE FROM "public"."t" WHERE "id" = '1';""" in found["statements"]
    assert """east: INSERT INTO "public"."t" SELECT :row; -- "id" = '2001'""" in found["statements"]
    assert """east: UPDATE "public"."t" SET "v" = :"v", "at" = :"at" WHERE "id" = '3';""" in found["statements"]
    chosen = mend(world, rule="slave", dry_run=True, report=found["report"], rows=numbers("1-2, 9"))
    assert (len(chosen["statements"]), "33 rows were not chosen" in chosen["note"]) == (3, True)
    assert set(chosen["statements"]) < set(found["statements"])
    world.at("west").execute("UPDATE t SET v = 'on its way' WHERE id = 2")
    found = mend(world, kinds=("changed", "missing"))
    assert (found["to_slave"], found["to_source"], found["left"]) == (26, 0, 0)
    world.until_quiet()
    assert world.at("east").execute("SELECT v FROM t WHERE id = 2").fetchone() == ("on its way",)
    assert world.at("west").execute("SELECT v FROM t WHERE id = 2").fetchone() == ("on its way",)
    assert "rule source" in found["note"]


def test_a_row_that_somebody_changes_before_it_is_written_is_left_until_both_sides_know_it(world, monkeypatch):
    """Row 2 is changed between the points, and again behind them; rows 1 and 102 when they are about to be written."""
    harm(world, "west", *HARM)
    east, west = world.at("east"), world.at("west")
    seen, once = [], set()

    def before(name, change):
        step = getattr(PostgresVersionedRepair, name)

        def changed(repair, *given):
            if name not in once:
                once.add(name)
                change()
            found = step(repair, *given)
            if name == "end_unchanged" and not seen:
                seen.extend(west.execute("SELECT id, v FROM t WHERE id IN (1, 2, 102) ORDER BY id").fetchall())
            return found

        monkeypatch.setattr(PostgresVersionedRepair, name, changed)

    before("arrive", lambda: west.execute("UPDATE t SET v = 'west' WHERE id = 2"))
    before("rows", lambda: east.execute("UPDATE t SET v = 'east' WHERE id = 2"))
    newer = "INSERT INTO t VALUES (1, 'newer'); UPDATE t SET v = 'newer' WHERE id = 102"
    before("end_unchanged", lambda: west.execute(newer))
    found = mend(world, rule="source")
    assert seen == [(1, "newer"), (2, "west"), (102, "newer")]
    world.until_quiet()
    assert world.rows("east") == world.rows("west")
    ends = east.execute("SELECT v FROM t WHERE id IN (1, 2, 102) ORDER BY id").fetchall()
    assert ends == [("newer",), ("east",), ("newer",)]
    assert found["changing"] == 0


REFUSED = (
    (
        lambda plain: plain["slaves"]["west"].update(tables={"public.t": {"compute": {"v": "upper(v)"}}}),
        None,
        r"SLC-626: .*one of the two changes rows",
    ),
    (lambda plain: plain["slaves"]["east"].update(schemas={"public": "p"}), None, r"SLC-626: .*becomes p\.t"),
    (lambda plain: plain["sources"]["west"]["tables"].pop("public.t"), "slave", r"SLC-626: .*watches public\.t"),
    (lambda plain: plain["replications"].pop(), "slave", r"SLC-625: .*no replication goes from the database of"),
)


def test_what_does_not_go_both_ways_is_refused(world):
    harm(world, "west", "DELETE FROM t WHERE id = 7")
    original = deepcopy(world.settings)
    for change, rule, told in REFUSED:
        world.settings = deepcopy(original)
        world.configure(change)
        with pytest.raises(SluiceError, match=told):
            mend(world, rule=rule)
        assert world.at("west").execute("SELECT count(*) FROM t").fetchone() == (899,)
