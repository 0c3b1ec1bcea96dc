"""A backlog: published in slices that cost what they hold, in the order of one unbounded sweep of it (R1)."""

from __future__ import annotations

from itertools import groupby

import psycopg
import pyarrow as pa
import pytest
from psycopg import sql
from support.world import SOURCE

from sluice.changelog import points
from sluice.crash import CrashPoint
from sluice.publish import publisher as publishing
from sluice.publish import run as drain_job
from sluice.publish.publisher import PointRequest
from sluice.vendors.postgresql.capture.queue import sweep as sweep_ports
from sluice.vendors.postgresql.capture.queue.backlog import EVERYTHING
from sluice.vendors.postgresql.session import composed

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def world(build):
    return build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"])


def insert(session, first, count, each=1):
    """So many rows in transactions of `each`."""
    for start in range(first, first + count, each):
        rows = "INSERT INTO t SELECT g, md5(g::text) FROM generate_series(%s::int, %s) AS g"
        session.execute(rows, [start, min(start + each, first + count) - 1])


def transactions(world):
    """Per transaction of the log, in its order, the ids its new images bear."""
    whole = groupby(world.log(), key=lambda row: row["ordinal"])
    return [[int(row["new"][0]) for row in rows] for _, rows in whole]


def read_of_items(world, publisher):
    """How many rows of ITEMS a publisher's sessions have read so far."""
    publisher._database.capture._session.open().execute("SELECT pg_stat_force_next_flush()")
    query = "SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'repl_queue'"
    world.master.execute("SELECT pg_stat_clear_snapshot()")
    ((rows,),) = world.master.execute(query).fetchall()
    return rows


@pytest.mark.full
def test_a_sweep_of_a_backlog_reads_what_it_takes_however_much_is_queued_behind(world):
    world.master.execute("ALTER TABLE repl_queue SET (autovacuum_enabled = off)")
    insert(world.master, 1, 30_000, each=100)
    publisher = world.publisher()
    publisher.publish(2000)
    before = read_of_items(world, publisher)
    taken = sum(publisher.publish(2000).changes for _ in range(4))
    read = read_of_items(world, publisher) - before
    assert 7_800 <= taken <= 8_200
    assert 3 * taken <= read <= 7 * taken


@pytest.mark.full
def test_an_idle_publisher_reads_nothing_of_what_was_purged(world):
    world.master.execute("ALTER TABLE repl_queue SET (autovacuum_enabled = off)")
    insert(world.master, 1, 2000, each=1000)
    publisher = world.publisher()
    publisher.publish(None)
    before = read_of_items(world, publisher)
    assert not publisher._database.capture.queued()
    assert read_of_items(world, publisher) == before


@pytest.mark.full
def test_an_idle_publisher_asks_its_source_one_thing_a_turn(world, monkeypatch):
    looks, others = [], []
    execute = psycopg.Connection.execute

    class Enough(Exception):
        """The publisher has taken its turns."""

    def heard(session, query, *more, **named):
        if session.info.dbname == world.infos["master"].database:
            said = str(query.as_string()) if isinstance(query, sql.Composable) else str(query)
            (looks if said.startswith("-- Whether anything is queued") else others).append(said)
            if len(looks) > 6:
                raise Enough
        return execute(session, query, *more, **named)

    def run(run_for_s):
        world.configure(lambda settings: settings["sources"][SOURCE]["schedule"].update(run_for_s=run_for_s))
        looks.clear()
        others.clear()
        drain_job.publish(world.context, SOURCE)

    monkeypatch.setattr(psycopg.Connection, "execute", heard)
    monkeypatch.setattr(drain_job, "_HEAL_S", 600)
    run(0)
    assert len(looks) == 1
    before = len(others)
    with pytest.raises(Enough):
        run(600)
    # Those of the beginning, and one of a turn.
    assert 0 < len(others) <= before


def test_what_commits_meanwhile_comes_after_the_whole_backlog_whatever_its_keys(world):
    late = world.session()
    late.execute("BEGIN")
    insert(late, 1, 1)
    insert(world.master, 2, 20, each=2)
    publisher = world.publisher()
    first = publisher.publish(6)
    assert (first.more, 0 < first.changes <= 6) == (True, True)
    late.execute("COMMIT")
    insert(world.master, 22, 1)
    while publisher.publish(6).more:
        pass
    assert transactions(world) == [*([first, first + 1] for first in range(2, 22, 2)), [1], [22]]
    world.catch_up()
    assert world.differences() == {}


def test_a_transaction_over_many_slices_arrives_whole_at_the_place_of_its_last_key(world):
    large = world.session()
    large.execute("BEGIN")
    for start in range(0, 40, 10):
        insert(large, 100 + start, 10)
        insert(world.master, start + 1, 3)
    insert(large, 140, 1)
    large.execute("COMMIT")
    insert(world.master, 90, 1)
    publisher = world.publisher()
    sizes = []
    while world.queued():
        sizes.append(publisher.publish(5).changes)
    alone = [[start + row] for start in range(0, 40, 10) for row in (1, 2, 3)]
    assert transactions(world) == [*alone, list(range(100, 141)), [90]]
    assert all(sizes)


def test_a_backlog_is_forgotten_when_everything_is_taken_at_once(world):
    insert(world.master, 1, 30)
    publisher = world.publisher()
    publisher.publish(10)
    assert publisher.publish(None).more is False
    insert(world.master, 31, 5)
    assert (publisher.publish(10).changes, world.queued()) == (5, set())
    assert transactions(world) == [[number] for number in range(1, 36)]


def test_a_point_is_reached_in_slices_and_holds_what_its_snapshot_shows(world):
    """Also while a backlog is under way."""
    late = world.session()
    late.execute("BEGIN")
    insert(late, 500, 1)
    insert(world.master, 1, 200, each=4)
    publisher, store, sizes = world.publisher(), world.context.store, []
    publisher.publish(40)
    insert(world.master, 201, 8, each=4)
    number = points.ask(store, SOURCE, ["zurich"])
    with publisher._database.master.exported_snapshot() as exported:
        late.execute("COMMIT")
        insert(world.master, 501, 80, each=4)
        while points.read_answer(store, number) is None:
            sizes.append(publisher.publish(40, PointRequest(number, *exported)).changes)
    point = points.read_answer(store, number)
    assert point.position == world.context.manifest(SOURCE).end()
    assert sorted(number for whole in transactions(world) for number in whole) == list(range(1, 209))
    assert (len(sizes) >= 4, all(0 < size <= 44 for size in sizes)) == (True, True)
    points.close(store, number)
    world.catch_up()
    assert world.differences() == {}


def test_a_publisher_that_is_asked_for_a_point_keeps_to_its_bound(build, monkeypatch):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"], source={"segments": {"max_changes": 40}})
    insert(world.master, 1, 200, each=4)
    monkeypatch.setattr(points, "SECONDS", 4)
    number = points.ask(world.context.store, SOURCE, ["zurich"])
    world.publish()
    sizes = [segment.changes for segment in world.context.manifest(SOURCE).kept_segments()]
    assert (sum(sizes), max(sizes) <= 44) == (200, True)
    answers = world.reader("control").execute("SELECT ordinal FROM point WHERE id = %s", [number])
    assert answers.fetchone() == (50,)


def test_a_long_queue_is_looked_over_once_however_many_steps_it_takes(build, monkeypatch):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"], source={"segments": {"max_changes": 40}})
    looks, begun, steps = [], sweep_ports.begun, []
    monkeypatch.setattr(sweep_ports, "begun", lambda *how: looks.append(how) or begun(*how))
    # A step is one sweep.
    monkeypatch.setattr(drain_job, "STEP_S", 0.0)
    late = world.session()
    late.execute("BEGIN")
    insert(late, 500, 1)
    insert(world.master, 1, 200, each=4)
    # Its keys lie in all slices.
    insert(late, 501, 2)
    late.execute("COMMIT")
    done = drain_job.run_step
    monkeypatch.setattr(drain_job, "run_step", lambda *how: steps.append(how[1]) or done(*how))
    assert world.publish()["changes"] == 203
    assert (len(looks), len(steps) >= 5) == (1, True)
    assert transactions(world)[-1] == [500, 501, 502]
    world.catch_up()
    assert world.differences() == {}


def test_a_large_transaction_passes_in_blocks_of_bounded_size(world, monkeypatch):
    monkeypatch.setattr(sweep_ports, "BLOCK_BYTES", 64 * 1024)
    insert(world.master, 1, 20_000, each=20_000)
    publisher = world.publisher()
    held, rows = [], 0
    before = pa.total_allocated_bytes()
    with publisher._database.capture.sweep(publisher._lease.epoch, 100) as sweep:
        for batch in sweep.batches():
            rows += len(batch)
            held.append(pa.total_allocated_bytes() - before)
    assert rows == 20_000
    assert len(held) > 10
    assert max(held) < 20 * 64 * 1024
    publisher.publish(100)
    assert [len(one) for one in transactions(world)] == [20_000]


def test_items_does_not_grow_under_steady_load(world, monkeypatch):
    monkeypatch.setattr(drain_job, "_RECLAIM", 1000)
    world.master.execute("ALTER TABLE repl_queue SET (autovacuum_enabled = off)")
    sizes = []
    for turn in range(8):
        insert(world.master, turn * 1000, 1000, each=100)
        assert world.publish()["changes"] == 1000
        sizes += world.master.execute("SELECT pg_relation_size('repl_queue')").fetchone()
    assert max(sizes[2:]) <= sizes[1]


def test_a_queue_that_got_long_gives_its_room_back(world, monkeypatch):
    monkeypatch.setattr(sweep_ports, "_LONG_BYTES", 1024 * 1024)
    monkeypatch.setattr(drain_job, "_RECLAIM", 1000)
    world.master.execute("ALTER TABLE repl_queue SET (autovacuum_enabled = off)")
    insert(world.master, 1, 20_000, each=1000)
    world.publish()
    assert world.master.execute("SELECT pg_relation_size('repl_queue')").fetchone() == (0,)


@pytest.mark.full
def test_rows_that_a_vacuum_found_room_for_among_others_are_in_their_slice(world):
    """Their keys are of another time than those around them."""
    world.master.execute("ALTER TABLE repl_queue SET (autovacuum_enabled = off)")
    aborted = world.session()
    for start in range(0, 4000, 200):
        insert(world.master, start, 200, each=200)
        aborted.execute("BEGIN")
        insert(aborted, 100_000, 200, each=200)
        aborted.execute("ROLLBACK")
    world.master.execute("VACUUM repl_queue")
    insert(world.master, 4000, 3000, each=10)
    earlier = "SELECT repl_key < lag(repl_key) OVER (ORDER BY ctid) - 1000 AS earlier FROM repl_queue"
    assert world.master.execute(f"SELECT count(*) FROM ({earlier}) AS row WHERE earlier").fetchone()[0] > 10
    publisher, sizes = world.publisher(), []
    while world.queued():
        sizes.append(publisher.publish(500).changes)
    assert max(sizes) < 700
    assert [one[0] for one in transactions(world)] == [*range(0, 4000, 200), *range(4000, 7000, 10)]


def test_a_backlog_is_looked_over_again_when_the_queue_is_in_another_file(world):
    insert(world.master, 1, 3000, each=3)
    publisher = world.publisher()
    publisher.publish(500)
    world.master.execute("VACUUM FULL repl_queue")
    # A rest that is looked for where it lay before may never come.
    for _ in range(30):
        publisher.publish(500)
    assert [one[0] for one in transactions(world)] == list(range(1, 3001, 3))


@pytest.mark.full
def test_a_slice_that_somebody_deleted_stops_nobody(world):
    insert(world.master, 1, 30)
    publisher = world.publisher()
    publisher.publish(10)
    world.master.execute("SET sluice.purge = on; DELETE FROM repl_queue WHERE content LIKE '(1_,%'")
    while world.queued():
        publisher.publish(10)
    assert [number for (number,) in transactions(world)][-3:] == [28, 29, 30]


def test_a_sweep_is_no_loop_over_a_loop_even_if_the_queue_was_empty_when_it_was_analyzed(world):
    world.master.execute("VACUUM ANALYZE repl_queue")
    insert(world.master, 1, 100)
    publisher = world.publisher()
    database = publisher._database
    with database.capture.sweep(publisher._lease.epoch, None):
        session = database.capture._session.open()
        copy = composed("capture/queue/sweep", taken=EVERYTHING.taken(database.capture.parts)).as_string(session)
        query = copy.partition("COPY (")[2].rpartition(") TO STDOUT")[0]
        plan = session.execute(f"EXPLAIN {query}".encode()).fetchall()
    assert "Join" in str(plan)
    assert "Nested Loop" not in str(plan)


def dies_when_listed(at):
    """The publisher ends between the listing and the purge."""
    if at is CrashPoint.LISTED:
        dead = "the publisher is dead"
        raise RuntimeError(dead)


@pytest.mark.full
def test_a_publisher_that_purges_again_goes_on_with_the_backlog(build, monkeypatch):
    """What it looked over before it knew names transactions that the purge takes away."""
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"])
    insert(world.master, 1, 25, each=25)
    insert(world.master, 26, 40)
    with monkeypatch.context() as patch:
        patch.setattr(publishing, "crash_if_asked", dies_when_listed)
        with pytest.raises(RuntimeError, match="dead"):
            world.publisher().publish(10)
    world.let_leases_expire()
    publisher = world.publisher()
    for _ in range(8):
        publisher.publish(10)
    assert world.queued() == set()
    world.drain()
    assert world.differences() == {}
