"""Jobs, sources and slaves that die: nothing is lost, and nothing arrives twice (R2, R3, R6)."""

from __future__ import annotations

import re
import signal
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from support.issuing import execute
from support.updating import load_here
from support.waiting import await_steps, until

from sluice.crash import CrashPoint
from sluice.errors import FencedError, TransientError
from sluice.model.position import Position
from sluice.publish import publisher as publishing
from sluice.store import replications, statement_results
from sluice.vendors.postgresql import slave as slaves
from sluice.vendors.postgresql.capture.queue.sweep import PostgresSweep
from sluice.vendors.postgresql.read import snapshot
from sluice.vendors.postgresql.statements import transaction_fate

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE heap (a int, b text)"
TABLES = ["public.t", "public.heap"]

# Which job passes each point.
PUBLISH, DRAIN = "publish", "drain"
KILLED = {
    CrashPoint.SWEPT: PUBLISH,
    CrashPoint.WRITTEN: PUBLISH,
    CrashPoint.LISTED: PUBLISH,
    CrashPoint.PURGED: PUBLISH,
    CrashPoint.GATED: DRAIN,
    CrashPoint.STAGED: DRAIN,
    CrashPoint.MERGED: DRAIN,
    CrashPoint.REPLAYED: DRAIN,
    CrashPoint.DELIVERED: DRAIN,
}


def change(world, n=1):
    """Three transactions; a row without a key would be there twice if one of them were delivered twice."""
    world.master.execute(f"INSERT INTO t VALUES ({n}, 'a'), (-{n}, 'b'); INSERT INTO heap VALUES (1, 'x'), (1, 'x')")
    world.master.execute(f"UPDATE t SET v = 'c' WHERE id = {n}; DELETE FROM t WHERE id = -{n}")
    world.master.execute("INSERT INTO heap VALUES (1, 'x')")


def hasty_session(world):
    """A client of the master that does not wait for the disk."""
    session = world.session()
    session.execute("SET synchronous_commit = off")
    return session


def test_jobs_are_killed_at_every_point():
    """Those of the initial update, of Iceberg, of DDL that commits by itself, and of changing over elsewhere."""
    elsewhere = set()
    places = ("integration/test_update_outcomes", "integration/test_iceberg", "integration/test_mariadb_ddl")
    for name in (*places, "faults/test_killed_changes_over"):
        text = (Path(__file__).parents[1] / f"{name}.py").read_text()
        named = re.findall(r"(?:parametrize\(\"point\"|KILLED = |kill_drain\(|killed_dump\(|killed\().*", text)
        elsewhere |= {CrashPoint[point] for line in named for point in re.findall(r"CrashPoint\.(\w+)", line)}
    assert set(KILLED) | elsewhere == set(CrashPoint)


# Where nothing lasts yet that the job did, it may as well not have begun.
LASTING = set(KILLED) - {CrashPoint.SWEPT, CrashPoint.GATED, CrashPoint.STAGED}
KILLS = {
    "publish-triggers": (PUBLISH, "triggers", LASTING),
    "publish-log": (PUBLISH, "log", {CrashPoint.LISTED}),
    "drain-triggers": (DRAIN, "triggers", LASTING),
    **{
        f"{job}-{way}-all": (job, way, set(KILLED))
        for job, way in ((PUBLISH, "triggers"), (PUBLISH, "log"), (DRAIN, "triggers"))
    },
}


@pytest.mark.full(but=["publish-triggers", "publish-log", "drain-triggers"])
@pytest.mark.parametrize(("job", "capture", "at"), KILLS.values(), ids=KILLS)
def test_a_job_killed_at_any_point_and_started_again_loses_nothing_and_delivers_nothing_twice(build, job, capture, at):
    world = build(DDL, TABLES, source={"capture": capture})
    arguments = ("--once",) if job == PUBLISH else ("--slave", "zurich", "--once")
    points = [point for point, its_job in KILLED.items() if its_job == job and point in at]
    for number, point in enumerate(points, 1):
        mode = "one_to_one" if point is CrashPoint.REPLAYED else "batch"
        world.configure(lambda plain, mode=mode: plain["replications"][0].update(mode=mode))
        change(world, number)
        if job == DRAIN:
            world.publish()
        killed = world.job(job, *arguments, crash_at=point)
        assert killed.returncode == -signal.SIGKILL, (point, killed.stderr)
        world.catch_up()
        assert world.differences() == {}, point
        assert replications.get(world.context.store, world.pair("zurich")).position == world.position()
        keys = [row["repl_key"] for row in world.log()]
        assert len(keys) == len(set(keys)) == 7 * number, point


def test_a_job_that_is_terminated_gives_its_lease_back(build):
    world = build(DDL, TABLES, source={"schedule": {"run_for_s": 600, "poll_s": 0.05}})
    process = world.start("publish")
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    until(lambda: not world.queued() or process.poll() is not None)
    assert process.poll() is None
    process.terminate()
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM, errors
    assert world.publish()["ordinal"] == 1


@pytest.mark.parametrize("durable", [True, False], ids=["made durable", "counterproof: not made durable"])
def test_what_the_log_holds_is_on_the_source_after_its_crash(build, fragile, monkeypatch, durable):
    """Commits made with synchronous_commit = off are seen by a sweep, and can be lost by the source all the same."""
    world = build(DDL, TABLES, elsewhere={"master": fragile})
    if not durable:
        monkeypatch.setattr(PostgresSweep, "make_durable", lambda sweep: None)

    def crash(at):
        if at is CrashPoint.LISTED:
            fragile.kill()

    monkeypatch.setattr(publishing, "crash_if_asked", crash)
    publisher = world.publisher()
    hasty = hasty_session(world)
    for number in range(5):
        hasty.execute("INSERT INTO t VALUES (%s, 'hasty')", [number])
    with pytest.raises(Exception, match="SLC-030"):
        publisher.publish(None)
    monkeypatch.setattr(publishing, "crash_if_asked", lambda at: None)
    published = {row["new"][0] for row in world.log()}
    kept = {str(number) for (number,) in world.session().execute("SELECT id FROM t")}
    assert published == {"0", "1", "2", "3", "4"}
    assert kept == (published if durable else set())
    if durable:
        world.let_leases_expire()
        world.publish()
        world.drain()
        assert len(world.log()) == 5
        assert world.rows("zurich", "public.t").total() == 5


def test_what_a_source_lost_between_the_sweep_and_its_flush_is_not_in_the_log(build, fragile, monkeypatch):
    """A source that crashes there is back before somebody asks it to flush, and has nothing of it to flush."""
    world = build(DDL, TABLES, elsewhere={"master": fragile})
    publisher = world.publisher()
    hasty_session(world).execute("INSERT INTO t SELECT g, 'hasty' FROM generate_series(0, 4) AS g")
    monkeypatch.setattr(publishing, "crash_if_asked", lambda at: fragile.kill() if at is CrashPoint.SWEPT else None)
    with pytest.raises(TransientError, match="SLC-030"):
        publisher.publish(None)
    monkeypatch.setattr(publishing, "crash_if_asked", lambda at: None)
    assert world.log() == []
    world.reconnect("master")
    assert world.rows("master", "public.t").total() == 0
    change(world)
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_what_a_dump_has_shown_is_on_the_source_after_its_crash(updating, fragile, monkeypatch):
    """Slaves would have rows else that never were, and pass over whoever is given their numbers again."""
    world = updating(DDL, TABLES, elsewhere={"master": fragile})

    def crash(job):
        done = load_here(job)
        fragile.kill()
        return done

    hasty, exported = hasty_session(world), snapshot.exported

    def just_before(session):
        hasty.execute("INSERT INTO t SELECT g, 'hasty' FROM generate_series(0, 4) AS g")
        return exported(session)

    monkeypatch.setattr(snapshot, "exported", just_before)
    world.inhibit()
    assert world.dump(load=crash)["failed"] == {}
    world.reconnect("master")
    kept = world.rows("master", "public.t")
    assert kept.total() == 5
    assert world.rows("zurich", "public.t") == kept


def test_position_and_data_of_a_slave_fall_back_together(build, fragile):
    world = build(DDL, TABLES, elsewhere={"zurich": fragile})
    change(world)
    world.catch_up()
    before = world.position()
    world.master.execute("INSERT INTO heap VALUES (1, 'x'), (7, 'lost and delivered again')")
    world.publish()
    drain = world.drainer()
    assert drain.deliver().changes == 2
    assert world.position().ordinal == before.ordinal + 1
    fragile.kill()
    with pytest.raises(psycopg.OperationalError):
        world.reader("zurich").execute("SELECT")
    assert (world.position(), world.rows("zurich", "public.heap").total()) == (before, 3)
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_who_was_fenced_out_of_a_slave_is_so_after_its_crash(build, fragile):
    world = build(DDL, TABLES, elsewhere={"zurich": fragile})
    with closing(world.context.slave(world.pair("zurich"))) as newer:
        newer.take_over(1000)
    fragile.kill()
    with closing(world.context.slave(world.pair("zurich"))) as older, pytest.raises(FencedError, match="SLC-050"):
        older.take_over(999)


def test_a_drain_whose_slave_crashed_says_of_nothing_that_it_is_there_which_may_be_lost(build, fragile, monkeypatch):
    """The slave is back when the drain hears of it, and has lost what it had not written yet."""
    world = build(DDL, TABLES, elsewhere={"zurich": fragile}, slave={"max_batch": 1})
    change(world)
    world.publish()
    merged = []

    def crash(at):
        merged.append(at)
        if merged == [CrashPoint.MERGED] * 3:
            fragile.kill()

    monkeypatch.setattr(slaves, "crash_if_asked", crash)
    with pytest.raises(TransientError, match="SLC-030"):
        world.drain()
    await_steps()
    world.reconnect("zurich")
    assert world.position() < Position(1, 2)
    assert replications.get(world.context.store, world.pair("zurich")).position <= world.position()
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.parametrize("at", ["in front of its flush", "when its number is noted"])
def test_a_statement_that_a_crash_of_the_source_ended_is_not_taken_for_who_got_its_number(
    build, fragile, monkeypatch, at
):
    world = build(DDL, TABLES, elsewhere={"master": fragile})
    change(world)
    before = world.rows("master", "public.t")
    flush, noted = transaction_fate.flush, statement_results.record_execution

    def crash():
        fragile.kill()
        world.reconnect("master")
        for number in range(20):
            world.master.execute("INSERT INTO heap VALUES (%s, 'another')", [number])

    if at == "in front of its flush":
        monkeypatch.setattr(transaction_fate, "flush", lambda *given: (crash(), flush(*given)))
    else:
        monkeypatch.setattr(statement_results, "record_execution", lambda *given: (noted(*given), crash()))
    with pytest.raises(TransientError, match="SLC-108"):
        execute(world, "UPDATE t SET v = 'stated'")
    assert world.rows("master", "public.t") == before
    world.catch_up()
    assert world.differences() == {}
