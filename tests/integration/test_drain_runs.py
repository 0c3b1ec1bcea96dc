"""When drain runs begin and end: as long as a slave lacks something, and none for an idle one."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from itertools import pairwise
from threading import Thread

import pytest

from sluice.airflow_api import client
from sluice.changelog import points
from sluice.connections import ConnectionInfo
from sluice.drain import run as publish_job
from sluice.errors import SluiceError, TransientError
from sluice.model.action import Action
from sluice.model.ddl_question import DdlQuestion
from sluice.publish import drain_runs
from sluice.publish.drain_runs import DrainRuns
from sluice.publish.run import publish
from sluice.state.ddl_question import QuestionState
from sluice.state.dispatcher import Hold
from sluice.state.replication import ReplicationEvent
from sluice.store import ddl_questions, leases, replications
from sluice.store.tables import pending_run, question

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, note text)"
DAG = "drain__flights__zurich"
GONE = '{"before": {"schema": "public", "table": "t", "columns": [], "key": []}}'


@pytest.fixture
def world(build, airflow):
    world = build(DDL, ["public.t"])
    world.configure(lambda to: to["replications"][0].update(schedule={"run_for_s": 1}))
    world.infos[world.context.config.airflow_api] = airflow.info()
    return world


@pytest.mark.full
def test_who_waits_for_a_publisher_asks_for_one_that_is_not_at_work(world, airflow):
    def asked() -> list[str]:
        with (
            suppress(TransientError),
            points.hold(world.context.store, "flights", ["zurich"], 0.01, world.context.ask_publisher),
        ):
            pass
        return [str(run["dag_id"]) for run in airflow.publishes]

    with leases.hold_lease(world.context.store, "publish flights"):
        assert asked() == []
    assert asked() == ["publish__flights"]


@pytest.mark.full
def test_a_publisher_asks_for_a_run_of_a_slave_that_lacks_something_and_for_no_other(world, airflow):
    world.publish()
    assert airflow.drains == [], "an idle slave has no run"
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    (run,) = airflow.drains
    assert (run["dag_id"], run["conf"]) == (DAG, {})
    world.drain()
    world.publish()
    assert len(airflow.drains) == 1, "it has everything"


def test_no_run_is_asked_for_that_could_do_nothing(world, airflow):
    store, pair = world.context.store, world.pair("zurich")
    world.master.execute("INSERT INTO t VALUES (1, 'a')")

    def none() -> bool:
        world.publish()
        return airflow.drains == []

    replications.shut(store, pair, Hold.INITIAL, "an initial update")
    assert none()
    replications.lift(store, pair, Hold.INITIAL, "for a test")
    with leases.hold_lease(store, f"drain {pair}"):
        assert none()
    airflow.pause("eva")
    assert none()
    airflow.paused = False
    for run_for_s in (0, 1):
        world.configure(lambda to, it=run_for_s: to["replications"][0].update(schedule={"run_for_s": it}))
        if run_for_s == 0:
            assert none()
    store = world.context.store
    ddl_questions.put(store, pair, DdlQuestion(1, 7, Action.DROP, "public.t", GONE), QuestionState.WAITING)
    assert none()
    with store.begin() as connection:
        connection.execute(question.delete())
        connection.execute(pending_run.delete())
    assert not none(), "nothing is in its way by now"
    airflow.drains.clear()
    replications.record(store, pair, ReplicationEvent.BREAK, "for a test")
    assert none()


@pytest.fixture
def asking(world, airflow, monkeypatch):
    """A publisher that looks once a second, for so many seconds; in which of them it asked for runs of one slave."""
    now = [0]
    monkeypatch.setattr(drain_runs.time, "monotonic", lambda: float(now[0]))
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    airflow.drains.clear()
    runs = DrainRuns(world.context, "flights")

    def look(seconds):
        asked = []
        for second in range(now[0] + 1, now[0] + seconds + 1):
            now[0] = second
            runs.ask()
            asked += [second] * (len(airflow.drains) - len(asked))
        airflow.drains.clear()
        return asked

    return look


@pytest.mark.full
def test_a_slave_that_does_not_move_is_tried_again_and_ever_more_seldom(asking):
    assert [later - earlier for earlier, later in pairwise(asking(1_300))] == [15, 30, 60, 120, 240, 300, 300]


@pytest.mark.full
def test_so_it_is_though_a_drain_is_at_work_in_between_and_anew_once_it_moved(world, asking):
    found = []
    for _ in range(4):
        found += asking(40)
        with leases.hold_lease(world.context.store, f"drain {world.pair('zurich')}"):
            assert asking(20) == []
    assert found == [1, 16, 61, 121]
    world.drain()
    world.master.execute("INSERT INTO t VALUES (2, 'a')")
    world.publish()
    # The publisher of this moment has asked, too.
    assert asking(0) == []
    assert asking(14) == [241]


@pytest.mark.full
def test_an_airflow_that_is_silent_is_asked_once_a_minute_for_all_slaves(build, monkeypatch):
    world = build(DDL, ["public.t"], slaves=("zurich", "geneva"))
    world.configure(lambda to: [one.update(schedule={"run_for_s": 1}) for one in to["replications"]])
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    monkeypatch.setattr(client, "TIMEOUT_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        info = ConnectionInfo("http", "127.0.0.1", silent.getsockname()[1], "", "admin", "secret")
        world.infos[world.context.config.airflow_api] = info
        runs, now = DrainRuns(world.context, "flights"), [0.0]
        monkeypatch.setattr(drain_runs.time, "monotonic", lambda: now[0])
        for _ in range(150):
            now[0] += 1
            runs.ask()
        silent.settimeout(0.5)
        asked = 0
        with suppress(TimeoutError):
            while True:
                silent.accept()[0].close()
                asked += 1
    assert asked == 3


@pytest.mark.full
def test_unpausing_a_drain_is_answered_by_a_run_and_not_by_its_schedule(world, airflow, asking):
    replications.shut(world.context.store, world.pair("zurich"), Hold.EXCEPTION, "for a test")
    airflow.pause("eva")
    assert asking(700) == []
    airflow.paused = False
    assert len(asking(8)) == 1


@pytest.mark.full
def test_a_drain_ends_when_nothing_came_for_its_linger_time(world):
    world.configure(lambda to: to["replications"][0].update(schedule={"run_for_s": 6, "poll_s": 0.05}))
    ended = {}
    drain = Thread(target=lambda: ended.update(publish_job.drain(world.context, world.pair("zurich"))))
    began = time.monotonic()
    drain.start()
    while time.monotonic() - began < 7.5:
        world.master.execute("INSERT INTO t SELECT coalesce(max(id), 0) + 1, 'a' FROM t")
        came = time.monotonic()
        publish(world.context, "flights", once=True)
        time.sleep(0.3)
    assert drain.is_alive(), "what comes keeps it up"
    drain.join(120)
    assert time.monotonic() - came > 2
    assert world.differences() == {}


@pytest.mark.full(but=["few: more goes with the next step"])
@pytest.mark.parametrize(
    ("changes", "rests"),
    [
        pytest.param([10], 1, id="few: more goes with the next step"),
        pytest.param([5_000], 1, id="not yet many"),
        pytest.param([5_001], 0, id="many"),
        pytest.param([3_000, 3_000], 0, id="many in several transactions"),
    ],
)
def test_a_drain_rests_after_a_step_of_few_changes_and_goes_on_at_once_after_many(world, monkeypatch, changes, rests):
    asked = []
    monkeypatch.setattr(publish_job._DrainRun, "_leave", lambda run, seconds: asked.append(seconds))
    # A slow machine does it in one step, too.
    monkeypatch.setattr(publish_job, "STEP_S", 3_600.0)
    for number, rows in enumerate(changes):
        insert = "INSERT INTO t SELECT %s + id, 'a' FROM generate_series(1, %s) AS id"
        world.master.execute(insert, [10_000 * number, rows])
    world.publish()
    ended = world.drain(once=False)
    assert (ended["changes"], len(asked)) == (sum(changes), rests)
    assert world.differences() == {}


def test_a_drain_of_a_slave_that_gets_nothing_ends_at_once_and_says_why(world):
    world.configure(lambda to: to["replications"][0].update(schedule={"run_for_s": 600}))
    replications.record(world.context.store, world.pair("zurich"), ReplicationEvent.BREAK, "SLC-048: another source")
    ended = world.drain(once=False)
    assert ended["idle"] == "the replication is INCONSISTENT"
    assert ended["note"].startswith(
        "INCONSISTENT, STANDBY (INCONSISTENT): position 0/0, holdback 0, lag 0 s\nINCONSISTENT since "
    )
    assert "SLC-048: another source" in ended["note"]


def test_the_note_of_a_run_follows_the_slave(world, airflow, monkeypatch):
    monkeypatch.setattr(publish_job, "_NOTE_S", 0.0)
    monkeypatch.setenv("SLUICE_RUN", f"{DAG}/published__1/drain/1")
    for number in range(3):
        world.master.execute("INSERT INTO t VALUES (%s, 'a')", [number])
    world.publish()
    ended = world.drain()
    assert airflow.notes[f"{DAG}/published__1"].startswith("NORMAL, ACTIVE: position ")
    assert "holdback 0, lag 0 s" in ended["note"]


def test_a_drain_that_an_error_stops_leaves_no_queued_run_that_would_hide_it(world, airflow):
    for state in ("queued", "running", "failed"):
        airflow.at_work[f"{DAG}/{state}"] = {"state": state, "conf": {}}
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    world.reader("zurich").execute("ALTER TABLE t DROP note")
    with pytest.raises(SluiceError, match=r"SLC-073: .*lacks the column"):
        world.drain()
    assert airflow.paused
    assert set(airflow.at_work) == {f"{DAG}/running", f"{DAG}/failed"}
