"""The gate of a slave: standby by ADMIN through Airflow's pause switch, by EXCEPTION, and who put it there."""

from __future__ import annotations

import threading

import pytest
from support.bounded import end_when, working
from support.waiting import until
from support.world import SOURCE

from sluice import steps
from sluice.airflow_api import pause
from sluice.commands import dispatcher
from sluice.errors import SluiceError, TransientError
from sluice.monitor.signals import ACTIVE, CONDITION, STATUS, WELL, drain_samples
from sluice.state.dispatcher import Hold
from sluice.state.replication import ReplicationEvent
from sluice.store import replications

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, note text)"


@pytest.fixture
def world(build, airflow):
    world = build(DDL, ["public.t"], slave={"max_batch": 1})
    world.infos[world.context.config.airflow_api] = airflow.info()
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    return world


def holds(world):
    return replications.holds(world.context.store, world.pair("zurich"))


def audited(world):
    rows = world.reader("control").execute(
        "SELECT actor, event, detail FROM audit WHERE event IN ('standby', 'activate') ORDER BY id"
    )
    return rows.fetchall()


@pytest.mark.full
def test_who_shuts_a_gate_that_is_shut_is_not_in_the_trail(world):
    for who in ("eva", "eva", "fred"):
        replications.shut(world.context.store, world.pair("zurich"), Hold.ADMIN, "paused", who)
    assert [(who, event) for who, event, _ in audited(world)] == [("eva", "standby")]


def test_a_paused_dag_is_standby_by_the_person_who_paused_it_until_it_is_unpaused(world, airflow):
    airflow.pause("eva")
    ended = world.drain()
    assert ended["standby"] == "the drain DAG is paused by eva"
    assert ended["transactions"] == 0
    assert (holds(world)[Hold.ADMIN].actor, holds(world)[Hold.ADMIN].reason) == ("eva", "the drain DAG was paused")
    world.drain()
    assert audited(world) == [("eva", "standby", "ADMIN: the drain DAG was paused")], "recorded once"
    airflow.paused = False
    assert world.drain()["transactions"] == 1, "the source was idle since"
    assert holds(world) == {}
    assert [event for _, event, _ in audited(world)] == ["standby", "activate"]
    assert world.differences() == {}


def test_a_paused_dag_is_standby_even_if_nobody_tells_by_whom_or_only_who_unpaused_it(world, airflow):
    airflow.pause_unseen(last="eva")
    assert world.drain()["standby"] == "the drain DAG is paused"
    assert holds(world)[Hold.ADMIN].actor == "somebody"
    airflow.paused = False
    world.drain()
    airflow.pause("eva")
    airflow.tells_who = False
    assert world.drain()["standby"] == "the drain DAG is paused"
    assert holds(world)[Hold.ADMIN].actor == "somebody"


def test_a_running_drain_looks_at_the_gate_between_batches(world, airflow, monkeypatch):
    monkeypatch.setattr(pause, "SECONDS_BETWEEN_LOOKS", 0.0)
    monkeypatch.setattr(steps, "LOOK_S", 0.1)
    passed = []

    def third_pauses(_):
        passed.append(1)
        if len(passed) == 3:
            airflow.pause("eva")
            until(lambda: holds(world), "nobody sees the pause")

    monkeypatch.setattr("sluice.drain.pipeline.crash_if_asked", third_pauses)
    for number in range(2, 12):
        world.master.execute("INSERT INTO t VALUES (%s, 'a')", [number])
    world.publish()
    ended = world.drain()
    assert ended["standby"] == "the drain DAG is paused by eva"
    assert ended["transactions"] == 3, "it stopped between two batches"
    airflow.paused = False
    assert world.drain()["transactions"] == 11 - 3
    assert world.differences() == {}


def test_a_terminal_error_is_standby_with_its_text_until_somebody_unpauses(world, airflow):
    world.reader("zurich").execute("DROP TABLE t")
    with pytest.raises(SluiceError, match=r"SLC-070") as caught:
        world.drain()
    note = holds(world)[Hold.EXCEPTION]
    assert note.reason == str(caught.value)
    assert "\nHINT: " in note.reason
    assert airflow.paused, "the pages show the standby, too"
    assert "paused" in world.drain()["standby"]
    assert set(holds(world)) == {Hold.EXCEPTION}, "this pause was ours and nobody's decision"
    world.reader("zurich").execute(DDL)
    airflow.paused = False
    assert world.drain()["transactions"] == 1
    assert holds(world) == {}


def test_without_an_answer_the_gate_stays_as_it_was(world, airflow):
    airflow.pause("eva")
    world.drain()
    airflow.shutdown()
    airflow.server_close()
    assert world.drain()["transactions"] == 0, "nobody knows that it was unpaused"
    assert set(holds(world)) == {Hold.ADMIN}


def test_a_hold_of_an_update_is_not_lifted_by_unpausing(world):
    replications.shut(world.context.store, world.pair("zurich"), Hold.INITIAL, "initial update 7")
    assert world.drain()["standby"] == "INITIAL: initial update 7"
    assert set(holds(world)) == {Hold.INITIAL}


def test_a_slave_that_has_to_be_filled_is_on_standby_whatever_a_person_activates(world):
    store, pair = world.context.store, world.pair("zurich")
    replications.record(store, pair, ReplicationEvent.BREAK, "for a test")
    assert world.standing().dispatcher == "STANDBY (INCONSISTENT)"
    samples = drain_samples(world.context, pair)
    assert [sample.value for sample in samples if sample.signal is ACTIVE] == [0]
    # A drain does not know whether the source lacks a table, so it does not say that a slave is well.
    assert {sample.signal for sample in samples} & {STATUS, CONDITION, WELL} == {STATUS}
    assert world.drain()["transactions"] == 0
    with pytest.raises(SluiceError, match="SLC-020: the gate of flights->zurich is shut since it is INCONSISTENT"):
        dispatcher.activate(world.context, world.context.dags(), pair, "eva")
    dispatcher.standby(world.context, world.context.dags(), pair, "eva")
    assert world.standing().dispatcher == "STANDBY (ADMIN, INCONSISTENT)"
    dispatcher.activate(world.context, world.context.dags(), pair, "eva")
    assert world.standing().dispatcher == "STANDBY (INCONSISTENT)"


def test_all_of_a_source_are_switched_in_bounded_time_and_who_is_late_is_named(build, airflow, monkeypatch):
    world, go_on = build(DDL, ["public.t"], slaves=("zurich", "geneva", "bern")), threading.Event()
    world.infos[world.context.config.airflow_api] = airflow.info()

    begun = set()
    end_when(monkeypatch, lambda: begun == set(world.slaves) and not (working("zurich") or working("bern")))

    def command(context, dags, pair, who):
        begun.add(pair.slave)
        if pair.slave == "geneva":
            assert go_on.wait(60)
        if pair.slave == "bern":
            raise SluiceError(20, "bern is INITIAL", "wait")
        replications.shut(context.store, pair, Hold.ADMIN, "paused", who)

    done = dispatcher.switch_source(world.context, world.context.dags(), SOURCE, command, "eva", patience_s=60)
    assert done.switched == ["zurich"]
    assert {name: error.code for name, error in done.left_alone.items()} == {"geneva": 366, "bern": 20}
    go_on.set()
    until(lambda: world.standing("geneva").dispatcher != "ACTIVE", "what was begun goes on", 60)


@pytest.mark.full
def test_an_airflow_that_is_away_is_asked_once_and_not_for_each_slave(build):
    names = [f"branch{number}" for number in range(9)]
    world, asked = build(DDL, ["public.t"], slaves=names), []

    def command(context, dags, pair, who):
        asked.append(pair)
        raise TransientError(916, "Airflow does not answer", "start it")

    with pytest.raises(TransientError, match="SLC-916"):
        dispatcher.switch_source(world.context, None, SOURCE, command, "eva")
    # Those that were asked at the same time.
    assert len(asked) < len(names)
