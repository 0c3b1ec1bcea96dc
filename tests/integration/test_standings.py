"""Where replications stand, by one query of the store."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import event
from support.waiting import until
from support.world import SOURCE

from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.monitor.status import Beside, as_table, brief_status
from sluice.publish import run
from sluice.state.replication import Status
from sluice.steps import LocalSteps
from sluice.store.leases import acquire
from sluice.store.publishers import states
from sluice.store.replication_overview import overviews
from sluice.store.replications import read_holdback, record_delivery

pytestmark = [pytest.mark.postgres]
SLAVES = ("zurich", "geneva", "bern")


def test_one_query_tells_where_all_stand_and_the_holdback_is_that_of_the_log(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], slaves=SLAVES)
    store, pairs = world.context.store, [world.pair(name) for name in SLAVES]
    for number in range(4):
        world.master.execute("INSERT INTO t VALUES (%s)", [2 * number])
        world.master.execute("INSERT INTO t VALUES (%s)", [2 * number + 1])
        world.publish()
    ends = (
        world.reader("control").execute("SELECT number, first_ordinal, last_ordinal FROM segment ORDER BY 1").fetchall()
    )
    (second, first, last), newest = ends[1], ends[-1]
    for place in (Position(second, first), Position(second, last), Position(newest[0], newest[2])):
        # In the middle of a segment, at its end, and with nothing left.
        record_delivery(store, pairs[0], place)
        found = overviews(store, pairs)[pairs[0]]
        assert (found.holdback, found.lag_s > 0) == (read_holdback(store, pairs[0])[0], place.ordinal != newest[2])
    queries = []
    event.listen(store._engine, "before_cursor_execute", lambda *args: queries.append(args[2]))
    rows = [brief_status(world.context, one, Beside()) for one in overviews(store, pairs).values()]
    assert ([row.slave for row in rows], len(queries)) == (list(SLAVES), 1)
    unknown = Pair("flights", "nobody")
    assert overviews(store, [unknown])[unknown].known.status is Status.UNCONFIGURED
    assert overviews(store, []) == {}


def test_the_configuration_of_the_last_runs_is_told_and_that_a_newer_one_is_not_in_force_yet(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    before = world.context.config.fingerprint
    # An initial update goes by one as well, and is no run of a drain.
    assert [one.dag for one in world.standing().configurations] in ([], ["publish"])
    world.publish()
    world.drain()
    world.configure(lambda settings: settings["replications"][0].update(alters="ask"))
    after = world.context.config.fingerprint
    late = [("drain", before, after), ("publish", before, after)]
    told = world.standing()
    assert [(one.dag, one.fingerprint, one.newer) for one in told.configurations] == late
    assert f"configuration {after} is not in force yet" in (text := as_table([told]))
    assert f"drain flights->zurich {before}, publish flights {before}" in text
    world.drain()
    told = world.standing()
    assert [(one.dag, one.fingerprint, one.newer) for one in told.configurations] == [("drain", after, ""), late[1]]
    assert told.configurations[0].read_at > told.configurations[1].read_at
    # Nobody holds them: the next drain does not think that one has crashed.
    assert acquire(world.context.store, f"drain {world.pair('zurich')}").after_crash is False


def test_a_slave_that_nobody_delivers_to_is_told_where_to_look(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    world.drain()
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()
    world.session("control").execute("UPDATE segment SET published_at = published_at - interval '1 hour'")
    fact, _, hint = world.standing().why.partition("\nHINT: ")
    assert "behind its master: no drain is at work since 20" in fact
    assert hint.startswith(
        "does Airflow run, and has its pool free slots? The last log of the DAG drain__flights__zurich"
    )


def test_an_idle_source_has_no_lag_and_one_that_nobody_looks_at_has_more_and_more(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    control = world.session("control")

    def lags() -> tuple[float, float]:
        return world.standing().lag_s, states(world.context.store, [SOURCE])[SOURCE].lag_s

    def pass_by(seconds: int) -> None:
        later = "UPDATE publisher SET caught_up_at = caught_up_at - %(s)s, due_at = due_at - %(s)s"
        control.execute(later, {"s": timedelta(seconds=seconds)})

    world.master.execute("INSERT INTO t VALUES (1)")
    world.catch_up()
    pass_by(30)
    assert lags() == (0, 0), "the next run is not due"
    world.publish()
    pass_by(600)
    assert all(600 < one < 630 for one in lags()), "nobody looks any more"
    world.publish()
    assert lags() == (0, 0)
    known = states(world.context.store, [SOURCE, "nobody"])
    assert (known[SOURCE].transactions, known[SOURCE].changes, known["nobody"].changes) == (1, 1, 0)
    assert known[SOURCE].log_bytes == world.context.manifest(SOURCE).bytes() > 0


def test_a_publisher_that_cannot_keep_up_says_how_much_is_queued(build, monkeypatch):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    world.master.execute("INSERT INTO t SELECT generate_series(1, 250)")
    monkeypatch.setattr(run, "_NOTE_S", 0.0)
    monkeypatch.setattr(run, "_COUNTED", 100)
    seen = []

    class Slow(LocalSteps):
        def start(self, name, work):
            def slowly(context):
                def late():
                    now = states(context.store, [SOURCE])[SOURCE]
                    return now.lag_s > 0.5 and now

                seen.append(until(late, "nobody says how late it is"))
                return work(context)

            return super().start(name, slowly)

    run.publish(world.context, SOURCE, once=True, steps=Slow(world.context))
    assert [one.queued for one in seen] == [100]
    assert states(world.context.store, [SOURCE])[SOURCE].queued == 0
