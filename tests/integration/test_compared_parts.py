"""A comparison that broke off goes on: its next try compares the parts alone that no earlier one has compared (R10)."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from dataclasses import replace

import pytest
from support.updating import SOURCE, UpdatingWorld, compare_here

from sluice.changelog.manifest import Manifest
from sluice.connections import SEALED_ENV, seal
from sluice.errors import RowsDiffer, TransientError
from sluice.monitor import comparison_status
from sluice.monitor.status import as_json, as_table, statuses
from sluice.state.replication import Status
from sluice.store import comparison_progress, comparisons, updates
from sluice.vendors.postgresql.read import cut_tables
from sluice.verify import progress
from sluice.verify.checkpoints import Parts
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE a (id int PRIMARY KEY, note text);
CREATE TABLE b (id text PRIMARY KEY, note text);
CREATE TABLE heap (n int);
INSERT INTO a SELECT g, repeat('x', 100) FROM generate_series(1, 400) AS g;
INSERT INTO b SELECT 'k' || g, repeat('x', 100) FROM generate_series(1, 300) AS g;
INSERT INTO heap SELECT generate_series(1, 50);
"""
ROWS = 750
# How many parts are compared before a try ends.
BEFORE = 3


class Killed(BaseException):
    """Ends a try as a signal would: nothing of ours handles it."""


@pytest.fixture(scope="module")
def world(server, tmp_path_factory):
    """A slave that is equal, two of whose tables are cut into ranges."""
    directory = tmp_path_factory.mktemp("parts") / "world"
    world = UpdatingWorld(server, directory, DDL, ["public.*"], {}, slaves=["zurich"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SEALED_ENV, seal(world.infos))
        patch.setattr(cut_tables, "_BLOCKS", 2)
        patch.setattr(cut_tables, "_PARTS", 12)
        world.update()
        assert world.verify(initial=True) == {"zurich": 0}
        # An empty log does not tell from which master it is.
        world.master.execute("UPDATE heap SET n = n")
        world.catch_up()
        yield world
    world.close()
    server.drop_databases(world.infos.values())


@pytest.fixture
def harm(world):
    """Changes rows of the slave until the test ends."""
    slave = world.reader("zurich")

    def change(table, value, where):
        slave.execute(f"UPDATE {table} SET note = '{value}' WHERE {where}".encode())

    yield change
    slave.execute("UPDATE a SET note = repeat('x', 100); UPDATE b SET note = repeat('x', 100)")
    world.session("control").execute("DELETE FROM compared_part")


def a_try(world, run, *, killed_after=None, meanwhile=None, **asked):
    """A try of a run: the parts that it compared, as (table, bounds), and its result, its error, or None."""
    parts = []

    def compare(jobs):
        for job in jobs:
            if len(parts) == killed_after:
                raise Killed
            if meanwhile and len(parts) == 1:
                meanwhile()
            within = job.within
            parts.append((job.view.master.name.table, within and within.low, within and within.high))
            yield from compare_here([job])

    found = None
    with world.running(), suppress(Killed):
        try:
            found = verify(world.context, VerifyRequest(SOURCE, ("zurich",), run=run, **asked), compare, 60)
        except (RowsDiffer, TransientError) as error:
            found = error
    return parts, found


def kept(world):
    """(parts, outcomes) that the store has."""
    return world.reader("control").execute("SELECT count(*), count(found) FROM compared_part").fetchone()


def newest(world):
    pair = world.pair("zurich")
    return comparisons.tables_of(world.context.store, comparisons.last(world.context.store, pair), pair)


@pytest.mark.full
def test_a_comparison_says_how_far_it_is_with_what_an_earlier_try_has_compared(world, harm, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS", 0)
    store, seen = world.context.store, []

    def look():
        told = comparison_progress.of_run(store, updates.own_run())
        assert told
        (row,) = statuses(world.context, world.pair("zurich"))
        assert row.comparing == told
        assert f"slave zurich of {SOURCE}: compared: {told.text}" in as_table([row])
        assert json.loads(as_json([row]))[0]["comparing"]["rows"] == told.rows
        seen.append(told)

    rows = sum(one.compared for one in newest(world))
    a_try(world, "told/1", killed_after=BEFORE, meanwhile=look)
    every, _ = a_try(world, "told/1", meanwhile=look)
    parts = BEFORE + len(every)
    assert [(one.parts, one.parts_done, one.rows_planned) for one in seen] == [
        (parts, 1, rows),
        (parts, BEFORE + 1, rows),
    ]
    assert 0 < seen[0].rows < seen[1].rows < rows
    assert world.standing("zurich").comparing is None


@pytest.mark.full
def test_a_run_goes_on_with_the_parts_that_are_left_and_says_where_each_was_compared(world, harm):
    every, whole = a_try(world, "whole")
    assert whole["note"].startswith(f"zurich: {ROWS} rows compared, 0 different; ")
    assert "earlier" not in whole["note"]
    assert kept(world) == (0, 0)
    last, (table, low, _) = every[-1][0], every[0]
    assert (table, low, len(every) > 6) == ("a", None, True)
    harm("a", "found at the first point", "id = 1")
    first, _ = a_try(world, "run/1", killed_after=BEFORE)
    assert (first, kept(world)) == (every[:BEFORE], (len(every), BEFORE))
    harm("a", repeated := "x" * 100, "id = 1")
    harm("a", "not looked at again", "id = 2")
    harm("b", "found at the second point", "id = 'k99'")
    world.master.execute("INSERT INTO a VALUES (0, 'of later'); DELETE FROM b WHERE id = 'k1'")
    rest, error = a_try(world, "run/1")
    assert rest == every[BEFORE:], "in the same bounds, although rows came and went"
    assert error.fact.startswith(
        "the slaves are not what the master is: public.a on zurich: 0 missing, 0 extra, 1 changed; "
        "public.b on zurich: 0 missing, 0 extra, 1 changed"
    )
    tables = newest(world)
    assert sum(one.compared for one in tables) == ROWS - 1, "the new row is in a part that was compared before"
    assert [[row.key for _, row in comparisons.rows_of(world.context.store, one.id)] for one in tables[:2]] == [
        [("1",)],
        [("k99",)],
    ]
    points = tables[0].points
    assert points[0].position < tables[1].points[-1].position
    assert (points[0].parts, bool(points[0].at), tables[0].position) == (BEFORE, True, points[0].position)
    assert (tables[1].points[-1].at, kept(world)) == ("", (0, 0))
    harm("a", repeated, "id = 2")
    harm("b", repeated, "id = 'k99'")
    again, found = a_try(world, "run/1")
    assert len(again) == len(every), "what has ended is no try to go on with"
    assert found["note"].startswith(f"zurich: {ROWS} rows compared, 0 different")
    world.master.execute("DELETE FROM a WHERE id = 0; INSERT INTO b VALUES ('k1', repeat('x', 100))")
    assert last == "heap"


def test_an_update_ends_by_no_part_that_an_earlier_try_has_compared(updating, monkeypatch):
    monkeypatch.setattr(cut_tables, "_BLOCKS", 2)
    monkeypatch.setattr(cut_tables, "_PARTS", 12)
    world = updating(DDL, ["public.*"], {}, slaves=("zurich",))
    world.update()
    first, _ = a_try(world, "run/0", killed_after=BEFORE, initial=True)
    again, _ = a_try(world, "run/0", initial=True)
    assert (again[:BEFORE], len(again) > BEFORE) == (first, True), "all has to be equal at one point"
    assert world.status("zurich") is Status.NORMAL


@pytest.mark.full
def test_the_note_says_which_parts_are_of_an_earlier_point(world, harm):
    a_try(world, "run/2", killed_after=2)
    world.master.execute("UPDATE heap SET n = n")
    _, found = a_try(world, "run/2")
    (at, here) = found["slaves"]["zurich"]["points"]
    assert (at["parts"], here["parts"] > 0) == (2, True)
    of = at["parts"] + here["parts"]
    said = f"; 2 of {of} parts as of position {at['position']}, where an earlier try had compared them"
    assert found["note"].endswith(said)
    shown = comparison_status.read_comparison(world.context, world.pair("zurich"), newest(world)[0].report)
    assert [(one.position, one.parts) for one in shown.points] == [(at["position"], 2), (here["position"], of - 2)]


# What happens between two tries, so that the second one begins anew: with the parts of all tables, or of one.
ANEW = {
    "an initial update": "UPDATE replication SET update_id = update_id + 1",
    "a week": "UPDATE compared_part SET at = at - interval '8 days'",
    "another comparison": "UPDATE compared_part SET shape = 'other'",
}


@pytest.mark.full(but=["an initial update"])
@pytest.mark.parametrize("statement", ANEW.values(), ids=ANEW)
def test_what_says_nothing_of_this_comparison_is_not_taken_over(world, harm, statement):
    a_try(world, "run/3", killed_after=2)
    world.master.execute("UPDATE heap SET n = n")
    world.session("control").execute(statement)
    _, found = a_try(world, "run/3")
    assert ("earlier" in found["note"], len(found["slaves"]["zurich"]["points"])) == (False, 1)
    assert found["note"].startswith(f"zurich: {ROWS} rows compared, ")


@pytest.mark.full
@pytest.mark.parametrize(
    ("change", "part"),
    [("DELETE FROM compared_part", 0), ("UPDATE compared_part SET plan = 'other'", 1)],
    ids=["a part", "another cut"],
)
def test_no_part_is_left_out_where_a_cut_is_there_in_part(world, harm, change, part):
    a_try(world, "run/4", killed_after=2)
    world.session("control").execute(f"{change} WHERE number = %s".encode(), [part])
    _, found = a_try(world, "run/4")
    assert found["note"].startswith(f"zurich: {ROWS} rows compared, ")


@pytest.mark.full
def test_a_run_of_another_master_or_table_and_a_sample_begin_anew(world, harm, monkeypatch):
    for asked in ({"percent": 50}, {"run": None}):
        a_try(world, **{"run": "run/5", "killed_after": 1, **asked})
        assert kept(world) == (0, 0)
    a_try(world, "run/5", killed_after=2)
    tail = Manifest.tail
    with monkeypatch.context() as patch:
        # The publisher runs in another thread.
        other = {"incarnation": "another"}
        here = threading.current_thread()
        patch.setattr(
            Manifest, "tail", lambda self: replace(tail(self), **other if threading.current_thread() is here else {})
        )
        world.master.execute("UPDATE heap SET n = n")
        assert "earlier" not in a_try(world, "run/5")[1]["note"]
    a_try(world, "run/6", killed_after=1)
    world.master.execute("ALTER TABLE a ADD more int")
    _, found = a_try(world, "run/6")
    assert ("earlier" in found["note"], found["note"].startswith(f"zurich: {ROWS} rows")) == (False, True)


@pytest.mark.full
def test_a_try_that_was_given_up_and_goes_on_disturbs_none(world, harm):
    second = []
    _, first = a_try(world, "run/7", meanwhile=lambda: second.append(a_try(world, "run/7")))
    ((_, other),) = second
    world.master.execute("UPDATE heap SET n = n")
    assert [one["note"].partition(",")[0] for one in (first, other)] == [f"zurich: {ROWS} rows compared"] * 2
    assert kept(world) == (0, 0)


@pytest.mark.full
def test_a_try_that_dies_when_all_is_recorded_leaves_the_parts_to_the_next_one(world, harm, monkeypatch):
    def killed(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Parts, "forget", killed)
        every, _ = a_try(world, "run/8")
    world.master.execute("UPDATE heap SET n = n")
    again, found = a_try(world, "run/8")
    assert (again, f"{len(every)} of {len(every)} parts" in found["note"], kept(world)) == ([], True, (0, 0))


@pytest.mark.full
def test_ranges_are_compared_anew_where_keys_are_sorted_otherwise_since(world, harm):
    a_try(world, "run/9", killed_after=1)
    other = """UPDATE compared_part SET body = jsonb_set(body, '{within,sorting}', '"other"')"""
    world.session("control").execute(other)
    assert a_try(world, "run/9")[1].message.startswith("SLC-095: a database sorts the keys of ")
    _, found = a_try(world, "run/9")
    assert ("earlier" in found["note"], found["note"].startswith(f"zurich: {ROWS} rows")) == (False, True)
