"""Rows of two databases that are masters of each other are repaired to the side that a rule says (R10, both ways)."""

from __future__ import annotations

import itertools
from contextlib import closing
from copy import deepcopy

import pytest
from support.losing import LosingSteps
from support.several import harm
from support.updating import background, compare_here

from sluice.config.configuration import Config
from sluice.connections import SEALED_ENV, seal
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.model.names import Pair, TableName
from sluice.repair.chosen_rows import numbers
from sluice.repair.rule_choice import choose
from sluice.repair.run import RepairRequest, repair
from sluice.state.replication import ReplicationEvent
from sluice.store import audit_trail, comparisons, replications
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
HERE = "test_repair_both_ways:the_row_that_is_there"
PAIR, BACK = Pair("east", "west"), Pair("west", "east")


@pytest.fixture
def world(several):
    made = several(DDL, BOTH, TABLES)
    made.at("east").execute(ROWS)
    made.until_quiet()
    return made


def fix(world, pair=PAIR, *jobs, rule=None, column=None, context=None, steps=None, **more):
    """A repair, beside which both directions run."""
    more |= {"rule": choose(rule, column)}
    run = [lambda name=name: world.publish(name) for name in ("east", "west")]
    run += [lambda one=one: world.drain(one.source, one.slave) for one in (PAIR, BACK)]
    with background(*run, *jobs, pause_s=0.02):
        request = RepairRequest(*vars(pair).values(), (T,), **more)
        return repair(context or world.context, request, compare_here, 60, steps)


HARM = (
    "DELETE FROM t WHERE id % 100 = 1",
    "UPDATE t SET v = 'the west', n = -1, at = at + interval '1 d' WHERE id % 100 = 2",
    "UPDATE t SET v = NULL, at = at - interval '1 d' WHERE id % 100 = 3",
    "INSERT INTO t SELECT g, 'west alone' FROM generate_series(2001, 2009) AS g",
)


def test_one_side_wins_while_both_are_written_to_and_nothing_newer_is_undone(world):
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

    found = fix(world, PAIR, write, rule="slave")
    world.until_quiet()
    assert world.rows("east") == world.rows("west")
    assert next(turns) > 3
    assert world.at("east").execute("SELECT count(*) FROM t WHERE id > 2000 AND id < 3000").fetchone() == (9,)
    assert (found["to_slave"], found["to_source"] >= 30) == (0, True)
    assert (world.queued("east"), world.queued("west")) == ([], [])
    for one in (PAIR, BACK):
        entries = {entry.event: entry.detail for entry in audit_trail.last(world.context.store, one, 10)}
        assert f"of {PAIR}, rule slave:" in entries["repair"]
        assert "kept changing" in entries["repaired"]


@pytest.mark.full
def test_without_a_rule_the_source_wins_and_a_dry_run_says_which_way_each_row_would_go(world):
    harm(world, "west", *HARM, "UPDATE other SET v = 'x'")
    found = fix(world, rule="slave", dry_run=True)
    assert (found["to_source"], len(found["statements"])) == (36, 36)
    assert """east: DELETE FROM "public"."t" WHERE "id" = '1';""" in found["statements"]
    assert """east: INSERT INTO "public"."t" SELECT :row; -- "id" = '2001'""" in found["statements"]
    assert """east: UPDATE "public"."t" SET "v" = :"v", "at" = :"at" WHERE "id" = '3';""" in found["statements"]
    chosen = fix(world, rule="slave", dry_run=True, report=found["report"], rows=numbers("1-2, 9"))
    assert (len(chosen["statements"]), "33 rows were not chosen" in chosen["note"]) == (3, True)
    assert set(chosen["statements"]) < set(found["statements"])
    world.at("west").execute("UPDATE t SET v = 'on its way' WHERE id = 2")
    # What its first step wrote before it was lost is counted as written, and not as equal.
    found = fix(world, kinds=("changed", "missing"), steps=LosingSteps(world.context))
    assert [found[name] for name in ("to_slave", "to_source", "equal", "left")] == [26, 0, 1, 0]
    world.until_quiet()
    assert world.at("east").execute("SELECT v FROM t WHERE id = 2").fetchone() == ("on its way",)
    assert world.at("west").execute("SELECT v FROM t WHERE id = 2").fetchone() == ("on its way",)
    assert found["note"].startswith(f"{PAIR.slave}, rule source")


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
    found = fix(world, rule="source")
    assert seen == [(1, "newer"), (2, "west"), (102, "newer")]
    world.until_quiet()
    assert world.rows("east") == world.rows("west")
    ends = east.execute("SELECT v FROM t WHERE id IN (1, 2, 102) ORDER BY id").fetchall()
    assert ends == [("newer",), ("east",), ("newer",)]
    assert found["changing"] == 0


def test_a_way_back_by_other_connections_is_seen_and_a_job_that_was_not_given_them_changes_nothing(world, monkeypatch):
    """Each database has two connections, for instance of two roles."""
    settings, infos = deepcopy(world.settings), dict(world.infos)
    for name in ("east", "west"):
        settings["sources"][name]["connection"] = f"{name}_m"
        infos[f"{name}_m"] = infos[name]
    monkeypatch.setenv(SEALED_ENV, seal(infos))
    config = Config.model_validate(settings)
    world.at("west").execute("INSERT INTO t VALUES (2001, 'on its way')")
    for missing in ("west_m", "east"):
        given = Context(config, {name: info for name, info in infos.items() if name != missing})
        with closing(given.store), pytest.raises(SluiceError, match=f"SLC-014: .*{missing}"):
            fix(world, context=given)
    given = Context(config, infos)
    with closing(given.store):
        found = fix(world, context=given)
    assert found.get("deleted", found.get("to_slave")) == 0
    world.until_quiet()
    assert world.rows("east") == world.rows("west")
    assert world.at("west").execute("SELECT v FROM t WHERE id = 2001").fetchone() == ("on its way",)


def the_row_that_is_there(layout):
    """All that the east alone has are right; of the rows that the west alone has, 2001 to 2004."""

    def winner(kind, ours, theirs):
        if kind == "missing":
            return "source" if int(ours["id"]) < 2005 else "leave"
        if kind == "changed":
            return "leave"
        if theirs["v"] == "wrong":
            raise LookupError("no such row")
        return "slave"

    return winner


@pytest.mark.full
def test_the_newer_row_wins_and_code_decides_on_those_of_one_side_alone(world):
    """The west's rows 2, 102 ... are a day ahead, 3, 103 ... a day behind; 1, 101 ... are missing, 2001 ... extra."""
    world.configure(lambda plain: plain["slaves"]["east"].update(tables={"public.*": {"repair_rule": HERE}}))
    harm(world, "west", *HARM, "UPDATE t SET v = 'as old' WHERE id = 4", "UPDATE t SET at = NULL WHERE id = 5")
    east, west = world.at("east"), world.at("west")
    # This deletion is on its way, and is not undone by the east's row, which is newer than the west's was.
    west.execute("DELETE FROM t WHERE id = 3")
    found = fix(world, rule="newest", column="at")
    assert (found["to_slave"], found["to_source"], found["undecided"], found["equal"]) == (8, 9, 20, 1)
    assert "rule newest by at: 8 rows to the slave's side, 9 to the source's, 0 left by the rule, 20 u" in found["note"]
    world.until_quiet()
    seen = [one.execute("SELECT v FROM t WHERE id IN (2, 3, 103) ORDER BY id").fetchall() for one in (east, west)]
    assert seen == [[("the west",), ("v\t103",)]] * 2
    assert [
        len(set(world.rows(one)) - set(world.rows(other))) for one, other in (("east", "west"), ("west", "east"))
    ] == [11, 11]
    harm(world, "east", "UPDATE t SET v = 'wrong' WHERE id = 801")
    with pytest.raises(SluiceError, match=r"SLC-603: .*public\.t that is extra: LookupError: .*; first keys: 801"):
        fix(world, BACK, rule="plugin")
    harm(world, "east", "UPDATE t SET v = 'right' WHERE id = 801")
    found = fix(world, BACK, rule="plugin", report=comparisons.last(world.context.store, BACK))
    assert (found["to_slave"], found["to_source"], found["left"]) == (4, 9, 7)
    world.until_quiet()
    assert [
        len(set(world.rows(one)) - set(world.rows(other))) for one, other in (("east", "west"), ("west", "east"))
    ] == [2, 7]


# With its HINT. None names an initial update without what it does: it may be the slave's rows that are to win.
FILLS_EAST = r"makes the rows of east those of west: .* initial_update .*\"source\": \"west\", \"slaves\": \[\"east\"\]"
REFUSED = (
    (lambda plain: None, "plugin", r"SLC-627: .*public\.t: its entry in the slave's `tables` has no `repair_rule`"),
    (
        lambda plain: plain["slaves"]["west"].update(tables={"public.t": {"compute": {"v": "upper(v)"}}}),
        None,
        r"SLC-467: .*one of the two changes rows.*\n.*name other tables, or make both replications carry it alike$",
    ),
    (lambda plain: plain["slaves"]["east"].update(schemas={"public": "p"}), None, r"SLC-467: .*becomes p\.t"),
    (lambda plain: plain["sources"]["west"]["tables"].pop("public.t"), "slave", r"SLC-467: .*watches public\.t"),
    (
        lambda plain: plain["slaves"]["east"].update(tables={"public.t": {"exclude": True}}),
        "slave",
        rf"SLC-467: .*on slave east .*excludes it\n.*{FILLS_EAST}, .*public\.t",
    ),
    (lambda plain: plain["replications"].pop(), "slave", r"SLC-627: .*no replication goes from the database of"),
)


@pytest.mark.full
def test_what_does_not_go_both_ways_is_refused(world):
    harm(world, "west", "DELETE FROM t WHERE id = 7")
    original, report = deepcopy(world.settings), None
    for change, rule, told in REFUSED:
        world.settings = deepcopy(original)
        world.configure(change)
        with pytest.raises(SluiceError, match=told):
            fix(world, rule=rule, report=report)
        report = comparisons.last(world.context.store, PAIR)
        assert world.at("west").execute("SELECT count(*) FROM t").fetchone() == (899,)
    world.configure(lambda plain: plain.update(original))
    replications.record(world.context.store, BACK, ReplicationEvent.REQUEST)
    with pytest.raises(SluiceError, match=rf"SLC-020: slave east is .*\n.*{FILLS_EAST}"):
        fix(world, rule="slave", report=report)


def test_rows_of_a_third_master_are_on_a_way_that_a_repair_does_not_see(several):
    """The north's row has come to one side, and is on its way to the other: it is no row that the other has deleted."""
    world = several(DDL, {pair: {"block_loop": True} for pair in itertools.permutations(("east", "north", "west"), 2)})
    all_ways, report = deepcopy(world.settings["replications"]), None
    north, told = world.at("north"), r"SLC-467: .*public\.t of north\b.*\nHINT: nothing was changed in it"
    north.execute("INSERT INTO t VALUES (7, 'the north')")
    world.publish("north")
    world.drain("north", "west")
    for rule, others in (("source", ("west", "east")), ("slave", ("west",)), ("slave", ("east",))):
        ways = [one for one in all_ways if one["source"] != "north" or one["slave"] in others]
        world.configure(lambda plain, ways=ways: plain.update(replications=ways))
        with pytest.raises(SluiceError, match=told):
            fix(world, rule=rule, report=report)
        report = comparisons.last(world.context.store, PAIR)
    world.configure(lambda plain: plain.update(replications=all_ways))
    world.until_quiet()
    assert world.rows("east") == world.rows("west") == world.rows("north")
    # What a third one brings without `block_loop` is captured like rows of users, and travels on.
    world.pairs = [PAIR, BACK, Pair("north", "west")]
    ways = [one | {"block_loop": one["source"] != "north"} for one in all_ways]
    ways = [one for one in ways if Pair(one["source"], one["slave"]) in world.pairs]
    world.configure(lambda plain: plain.update(replications=ways))
    north.execute("INSERT INTO t VALUES (8, 'the north')")
    world.publish("north")
    world.drain("north", "west")
    harm(world, "east", "DELETE FROM t WHERE id = 7")
    found = fix(world, rule="slave")
    assert (found["to_slave"], found["to_source"]) == (0, 1)
    assert world.at("east").execute("SELECT id FROM t ORDER BY id").fetchall() == [(7,), (8,)]
