"""A control store that was used for a year: looks read no more of it than of a day, and upkeep bounds it."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, event
from support.store_tables import metadata
from support.world import SOURCE

from sluice.changelog import points
from sluice.model.position import Position
from sluice.model.statement import WantedStatement
from sluice.monitor import status
from sluice.publish.publisher import Publisher
from sluice.store import audit_trail, comparisons, old_records, statement_results, updates

pytestmark = [pytest.mark.postgres]
SLAVES = ("zurich", "geneva")
# A year of minutes, of ten minutes, of hours and of days; and a day's segments, which are kept, in front of the first
# one of this world.
YEAR = """
    INSERT INTO audit (at, source, slave, actor, event, detail)
    SELECT now() - n * interval '5 minutes', 'flights', (ARRAY['zurich', 'geneva'])[n % 2 + 1], 'eva', 'standby', ''
    FROM generate_series(1, 105120) n;
    INSERT INTO history (source, slave, hourly, at, lag_s, holdback, ordinal)
    SELECT 'flights', slave, n > 24, now() - n * interval '1 hour', 1, 1, 1
    FROM generate_series(1, 8760) n, unnest(ARRAY['zurich', 'geneva']) slave;
    INSERT INTO activity (source, schema, "table", at, inserts, updates, deletes)
    SELECT 'flights', 'public', 't', now() - n * interval '10 minutes', 1, 1, 1 FROM generate_series(1, 52560) n;
    INSERT INTO point (source, deadline, snapshot_id, segment, ordinal)
    SELECT 'flights', now() - n * interval '10 minutes', 'x', 1, 1 FROM generate_series(1, 52560) n;
    INSERT INTO barrier (point, slave) SELECT id, slave FROM point, unnest(ARRAY['zurich', 'geneva']) slave;
    INSERT INTO comparison (point, source, slave, "table", compared, different, sample, at)
    SELECT n, 'flights', slave, 'public.' || name, 9, 0, '[]', now() - (8760 - n) * interval '1 hour'
    FROM generate_series(1, 8760) n, unnest(ARRAY['zurich', 'geneva']) slave, unnest(ARRAY['t', 'u', 'v']) name;
    INSERT INTO row_difference (comparison, number, kind, key, columns, ours, theirs)
    SELECT id, 1, '"changed"', '[]', '[]', '[]', '[]' FROM comparison;
    INSERT INTO statement (source, actor, at, sql, schema, trans_key)
    SELECT 'flights', 'eva', now() - n * interval '1 hour', 'SELECT 1', 'public', n::text
    FROM generate_series(1, 8760) n;
    INSERT INTO answer (statement, slave, status)
    SELECT id, slave, 'OK' FROM statement, unnest(ARRAY['', 'zurich', 'geneva']) slave;
    INSERT INTO initial_update (source, state, run, started_at, ended_at)
    SELECT 'flights', 'LOADED', 'r', now() - n * interval '1 hour', now() - n * interval '1 hour'
    FROM generate_series(1, 8760) n;
    INSERT INTO segment (source, number, name, sha256, bytes, first_ordinal, last_ordinal, changes, incarnation,
                         snapshot, epoch, published_at)
    SELECT 'flights', -n, 'segment ' || n, '', 1, -n, -n, 1, 'x', 'x', 1, now() - n * interval '0.8 seconds'
    FROM generate_series(1, 100000) n;
    ANALYZE
"""


# So many rows a look may read of a table, with what it passes over.
FEW = 100


@pytest.fixture
def world(build):
    made = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], slaves=SLAVES)
    made.master.execute("INSERT INTO t VALUES (-1)")
    made.catch_up()
    made.session("control").execute(YEAR)
    return made


def rows(world):
    control = world.reader("control")
    return {name: control.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in metadata.tables}


@pytest.fixture
def read():
    """By table, the most rows that a scan of a query went through."""
    found = {}

    def look(_connection, cursor, text, values, *_) -> None:
        if not any(word in text for word in ("INSERT", "UPDATE", "DELETE", "SET LOCAL")):
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON, TIMING off) {text}", values)
            walk(cursor.fetchone()[0][0]["Plan"])

    def walk(plan) -> None:
        if name := plan.get("Relation Name"):
            passed = sum(plan.get(f"Rows Removed by {why}", 0) for why in ("Filter", "Index Recheck"))
            found[name] = max(found.get(name, 0), (plan["Actual Rows"] + passed) * plan["Actual Loops"])
        for each in plan.get("Plans", ()):
            walk(each)

    event.listen(Engine, "before_cursor_execute", look)
    yield found
    event.remove(Engine, "before_cursor_execute", look)


def test_what_is_looked_at_all_the_time_reads_no_more_of_a_year_than_of_a_day(world, read, monkeypatch):
    store = world.context.store
    # A run begins with these, and trims again after five minutes.
    monkeypatch.setattr(Publisher, "_listed_names", lambda _: set())
    monkeypatch.setattr("sluice.publish.run.trim", lambda *_, **__: None)
    # As each comparison does.
    points.close(store, points.ask(store, SOURCE, SLAVES))
    looks = {
        "the publisher": world.publish,
        "a drain": world.drain,
        "status": lambda: status.statuses(world.context),
        "what happened": lambda: audit_trail.last(store, world.pair("zurich"), 10),
    }
    seen = {}
    for name, look in looks.items():
        world.master.execute("INSERT INTO t SELECT count(*) FROM t")
        read.clear()
        look()
        seen[name] = dict(read)
    assert [(name, one) for name, found in seen.items() for one in found.items() if one[1] > FEW] == []
    assert seen["the publisher"].keys() >= {"segment", "answer", "point"}
    assert seen["a drain"].keys() >= {"segment", "barrier", "hold"}
    assert seen["status"].keys() >= {"replication", "comparison", "differing"}
    assert seen["what happened"].keys() == {"audit"}
    behind = Position(-90_000, -90_000)
    read.clear()
    manifest = world.context.manifest(SOURCE)
    assert [one.number for one in manifest.ahead("zurich", behind, most=3)] == [-89_999, -89_998, -89_997]
    assert manifest.has_ahead("zurich", behind)
    assert read["segment"] <= FEW


@pytest.mark.full
def test_upkeep_leaves_of_a_year_what_is_of_its_days_and_what_is_of_use(world):
    store, control = world.context.store, world.session("control")
    world.publish()
    points.close(store, points.ask(store, SOURCE, SLAVES))
    comparisons.trim(store, 14)
    old_records.trim(store, 30)
    old_records.trim_audit(store, 30)
    left = rows(world)
    day = 24
    assert left["history"] <= 2 * (30 * day + 26 * 60)
    assert left["activity"] <= 25 * 6 + 2
    assert (left["point"], left["barrier"]) <= (6, 12), "those of an hour"
    assert left["row_difference"] <= 6 * (14 * day + 1)
    assert left["comparison"] <= 6 * (30 * day + 1)
    assert (left["statement"], left["answer"]) <= (30 * day + 1, 3 * (30 * day + 1))
    assert left["initial_update"] <= 30 * day + 1
    assert left["audit"] <= 30 * day * 12 + 10
    control.execute("UPDATE comparison SET at = at - interval '1 year'")
    old_records.trim(store, 30)
    assert rows(world)["comparison"] == 6, "the last one of each table of a slave"


def test_old_records_stay_that_something_goes_by(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], slaves=SLAVES)
    store, control = world.context.store, world.session("control")
    # By number: what was compared, and whether rows differed.
    told = [({}, 0), ({"percent": 5}, 0), ({"within": [1]}, 2), ({"percent": 5}, 0), ({"within": [1]}, 0)]
    for number, (body, different) in enumerate(told, 1):
        found = {"compared": 9, "different": different, "sample": [], "body": {"own": 0, **body}}
        comparisons.record(store, number, world.pair("zurich"), "public.t", found)
    wanted = WantedStatement("SELECT 1")
    numbers = [statement_results.begin(store, SOURCE, ["zurich"], wanted) for _ in range(2)]
    control.execute("UPDATE answer SET status = 'OK' WHERE statement = %s", [numbers[0]])
    used, _ = [updates.new(store, SOURCE) for _ in range(2)]
    control.execute("UPDATE replication SET update_id = %s", [used])
    for table, column in [("comparison", "at"), ("statement", "at"), ("initial_update", "started_at")]:
        control.execute(f"UPDATE {table} SET {column} = now() - interval '2 years'")
    proven = comparisons.equal_tables(store, world.pair("zurich"))
    old_records.trim(store, 400)

    def kept(query):
        return [number for (number,) in control.execute(query)]

    assert kept("SELECT point FROM comparison ORDER BY 1") == [3, 4, 5]
    assert comparisons.equal_tables(store, world.pair("zurich")) == proven == {}
    assert kept("SELECT id FROM statement") == [numbers[1]]
    assert kept("SELECT id FROM initial_update") == [used]


def test_a_comparison_of_all_rows_takes_the_place_of_those_of_some(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    for number, body in enumerate([{"within": [1]}, {"within": [2]}, {}], 1):
        found = {"compared": 9, "different": 2, "sample": [], "body": {"ordinal": number, **body}}
        comparisons.record(world.context.store, number, world.pair("zurich"), "public.t", found)
    assert world.session("control").execute("SELECT scope, rows FROM differing").fetchall() == [("", 2)]


@pytest.mark.full
def test_lines_of_a_table_that_is_debugged_are_the_last_million_keys(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", {"public.t": {"debug": 1}})
    world.master.execute("INSERT INTO repl_debug_table VALUES (-1000000, 'old'), (-1, 'new')")
    world.publish()
    assert world.master.execute("SELECT line FROM repl_debug_table").fetchall() == [("old",), ("new",)]
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()
    assert world.master.execute("SELECT left(line, 6) FROM repl_debug_table").fetchall() == [("new",), ("INSERT",)]
