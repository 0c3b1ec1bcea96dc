"""Giving up an initial update that is under way: what is at work ends, and nothing of it has a say any more."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from support.carrying import Carried
from support.sizes import BLOCK_BYTES
from support.updating import background, compare_here, load_here
from support.world import SOURCE

from sluice.errors import SluiceError, TransientError
from sluice.initial_update.cancel import cancel
from sluice.initial_update.chunks import plan
from sluice.initial_update.files.target import StoredTables
from sluice.initial_update.inhibit import InhibitRequest, inhibit
from sluice.initial_update.release import abandon
from sluice.monitor import status
from sluice.state.replication import Status
from sluice.store import replications, transfers
from sluice.store.tables import initial_update
from sluice.vendors.postgresql.load.receiver import PostgresReceiver
from sluice.vendors.postgresql.load.tables import PostgresTables
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, note text);
INSERT INTO t SELECT g, repeat('x', 200) FROM generate_series(1, 1000) AS g;
"""


@pytest.fixture
def world(updating, airflow, monkeypatch):
    monkeypatch.setattr(plan, "CHUNK_BYTES", 8 * BLOCK_BYTES)
    world = updating(DDL, ["public.t"])
    world.infos[world.context.config.airflow_api] = airflow.info()
    return world


@pytest.fixture
def acting_as(monkeypatch, airflow):
    """Acts as a task of a run, by default of the initial_update DAG, which Airflow then knows to be running."""

    def act(run, dag="initial_update"):
        monkeypatch.setenv("SLUICE_RUN", f"{dag}/{run}/task/1")
        airflow.at_work.setdefault(f"{dag}/{run}", {"state": "running", "conf": {}})

    return act


def statuses(world):
    return [world.status(slave) for slave in world.slaves]


def gate(world, slave):
    return replications.holds(world.context.store, world.pair(slave))


class InMidChunk:
    """Loads here, and stops in the middle of the second chunk until it is told to go on."""

    def __init__(self):
        self.reached = Event()
        self.goes_on = Event()
        self._chunks = 0

    def __call__(self, job):
        begin = PostgresReceiver.begin

        def stopping(receiver, table, form):
            begin(receiver, table, form)
            self._chunks += 1
            if self._chunks == 2:
                self.reached.set()
                assert self.goes_on.wait(60)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PostgresReceiver, "begin", stopping)
            return load_here(job)


def test_a_dump_that_is_cancelled_ends_and_no_late_task_of_its_run_has_a_say(world, airflow, acting_as):
    acting_as("first")
    world.inhibit("zurich")
    load = InMidChunk()
    with ThreadPoolExecutor(1) as pool:
        dumping = pool.submit(world.dump, "zurich", load=load)
        assert load.reached.wait(60)
        acting_as("hers", "cancel_update")
        done = cancel(world.context, SOURCE, world.slaves, "eva")
        assert (done.cancelled, done.idle) == (["zurich"], {"geneva": "NORMAL"})
        assert done.ended == ["initial_update/first"]
        assert airflow.at_work["initial_update/first"]["state"] == "failed"
        assert (world.status("zurich"), gate(world, "zurich")) == (Status.INCONSISTENT, {})
        load.goes_on.set()
        # Its session was ended in mid chunk: nobody waits for a task that does not listen.
        with pytest.raises(SluiceError, match="SLC-080"):
            dumping.result(60)
    (zurich,) = status.statuses(world.context, world.pair("zurich"))
    assert "by eva: cancelled" in zurich.why
    assert '"resume": true' in zurich.why
    acting_as("first")
    late(world)
    acting_as("second")
    world.inhibit("zurich")
    acting_as("first")
    late(world)
    assert world.status("zurich") is Status.INITIAL
    acting_as("second")
    loaded = []
    with background(world.publish):
        world.dump("zurich", load=lambda job: loaded.extend(load_here(job)) or loaded, resume=True)
    acting_as("first")
    late(world)
    assert world.status("zurich") is Status.INITIAL
    acting_as("second")
    assert 0 < loaded[0].rows < 1000, "the first chunk is in"
    world.release("zurich")
    acting_as("first")
    late(world)
    acting_as("second")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    assert world.status("zurich") is Status.NORMAL
    acting_as("first")
    with pytest.raises(SluiceError, match=r"SLC-021: .*was cancelled"):
        world.inhibit("zurich")
    assert cancel(world.context, SOURCE, ["zurich"]).idle == {"zurich": "NORMAL"}


def late(world):
    """What tasks of a run may still be at when it was cancelled."""
    for task, said in ((world.inhibit, "SLC-021: .* was cancelled"), (world.dump, "SLC-172: none of")):
        with pytest.raises(SluiceError, match=said):
            task("zurich")
    world.release("zurich")
    assert abandon(world.context, SOURCE, ["zurich"]) == {"abandoned": []}


@pytest.mark.full
def test_one_slave_is_cancelled_and_the_others_of_its_update_go_on(world, airflow, acting_as):
    acting_as("run")
    world.inhibit()
    # Nobody asks Airflow then, which needs an answer for what is to be ended.
    airflow.refuses = True
    done = cancel(world.context, SOURCE, ["zurich"])
    assert (done.cancelled, done.ended, done.not_ended) == (["zurich"], [], {})
    assert world.inhibit()["slaves"] == ["geneva"], "a retried task asks for nobody twice"
    assert world.dump()["failed"] == {}
    assert world.release() == {"released": ["geneva"]}
    with pytest.raises(SluiceError, match=r"SLC-020: .*zurich is INCONSISTENT"):
        world.verify(initial=True)
    assert statuses(world) == [Status.INCONSISTENT, Status.NORMAL]


def test_an_update_is_given_up_and_known_to_be_cancelled_at_once(world, acting_as):
    """Else a task of its run that is tried again meanwhile would ask for another one."""
    acting_as("run")
    number = world.inhibit("zurich")["update"]
    other = world.session("control")
    other.execute(f"BEGIN; SELECT FROM initial_update WHERE id = {number} FOR UPDATE")
    with ThreadPoolExecutor(1) as pool:
        cancelling = pool.submit(cancel, world.context, SOURCE, ["zurich"], "eva")
        while not world.waits("UPDATE initial_update%", "control"):
            assert not cancelling.done()
        assert world.status("zurich") is Status.INITIAL
        other.execute("ROLLBACK")
        assert cancelling.result(60).cancelled == ["zurich"]
    with pytest.raises(SluiceError, match=r"SLC-021: .*was cancelled"):
        world.inhibit("zurich")


WAYS = {
    "into files": (StoredTables, lambda carried: carried.world.dump(store=True)),
    "out of files": (PostgresTables, lambda carried: carried.receive("zurich")),
}


@pytest.mark.full(but=["into files"])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_cancelled_when_all_is_in_and_nobody_noted_it_yet_stays_cancelled(
    world, acting_as, tmp_path, monkeypatch, way
):
    acting_as("run")
    carried = Carried(world, tmp_path / "carried")
    tables, load = WAYS[way]
    if way == "out of files":
        carried.store()
        carried.carry("zurich")
    else:
        world.inhibit()
    begin = tables.begin_stream
    done = []

    def cancelled(one, position, snapshot):
        begin(one, position, snapshot)
        if not done:
            done.extend(cancel(world.context, SOURCE, world.slaves, "eva").cancelled)

    monkeypatch.setattr(tables, "begin_stream", cancelled)
    load(carried)
    # Both slaves begin at once, so either may be cancelled first.
    assert sorted(done) == sorted(world.slaves)
    with world.context.store.begin() as connection:
        (update,) = connection.execute(initial_update.select()).all()
    assert update.state == "CANCELLED"
    assert world.release() == {"released": []}
    assert statuses(world) == [Status.INCONSISTENT] * 2
    assert {
        slave for slave in world.slaves if transfers.pending_transfer(world.context.store, world.pair(slave))
    } == set()


@pytest.mark.full
def test_what_is_cancelled_while_it_is_compared_stays_cancelled(world, acting_as):
    acting_as("run")

    def compared(jobs):
        cancel(world.context, SOURCE, ["zurich"])
        return compare_here(jobs)

    world.update()
    with world.running(), pytest.raises(SluiceError, match=r"SLC-020: .*zurich is INCONSISTENT"):
        verify(world.context, VerifyRequest(SOURCE, world.slaves, initial=True), compared, 60)
    assert statuses(world) == [Status.INCONSISTENT, Status.NORMAL]


@pytest.mark.full
def test_an_update_that_is_under_way_is_in_the_way_of_another_unless_that_is_forced(world, airflow, acting_as):
    acting_as("first")
    world.inhibit("zurich")
    acting_as("second")
    with pytest.raises(SluiceError, match=r"SLC-020: .*slave zurich is under way, in initial_update/first") as refused:
        world.inhibit()
    assert not isinstance(refused.value, TransientError)
    assert "./sluice cancel flights zurich" in refused.value.hint
    assert "force" in refused.value.hint
    assert statuses(world) == [Status.INITIAL, Status.NORMAL]
    assert (gate(world, "geneva"), airflow.at_work["initial_update/first"]["state"]) == ({}, "running")
    inhibit(world.context, SOURCE, world.slaves, InhibitRequest(force=True))
    assert airflow.at_work["initial_update/first"]["state"] == "failed"
    assert world.dump()["failed"] == {}
    world.release()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}


@pytest.mark.full(but=["failed"])
@pytest.mark.parametrize("left", ["deleted", "failed"])
def test_an_update_that_nobody_is_at_work_on_any_more_is_in_nobodys_way(world, airflow, acting_as, left):
    acting_as("first")
    world.update("zurich")
    runs = airflow.at_work
    runs |= {"initial_update/first": {"state": "failed"}} if left == "failed" else {}
    runs["receive_initial_files/other"] = {"state": "running", "conf": {"source": SOURCE, "slave": "geneva"}}
    runs["receive_initial_files/others"] = {"state": "running", "conf": {"source": "others", "slave": "zurich"}}
    if left == "deleted":
        del runs["initial_update/first"]
    acting_as("second")
    there = world.infos.pop(world.context.config.airflow_api)
    with pytest.raises(SluiceError, match=r"SLC-020: .*is under way"):
        world.inhibit("zurich")
    world.infos[world.context.config.airflow_api] = there
    runs["receive_initial_files/one"] = {"state": "running", "conf": {"source": SOURCE, "slave": "zurich"}}
    with pytest.raises(SluiceError, match=r"SLC-020: .*receive_initial_files/one"):
        world.inhibit("zurich")
    del runs["receive_initial_files/one"]
    world.inhibit("zurich")
    assert world.status("zurich") is Status.INITIAL
    assert {runs[f"receive_initial_files/{one}"]["state"] for one in ("other", "others")} == {"running"}


def test_airflow_is_asked_about_dags_under_their_prefix(world, airflow, acting_as):
    world.configure(lambda settings: settings.update(dag_prefix="acme_"))
    acting_as("first", dag="acme_initial_update")
    world.update("zurich")
    del airflow.at_work["acme_initial_update/first"]
    airflow.at_work["acme_receive_initial_files/one"] = {"state": "running", "conf": {"slave": "zurich"}}
    acting_as("second", dag="acme_initial_update")
    with pytest.raises(SluiceError, match=r"SLC-020: .*acme_receive_initial_files/one"):
        world.inhibit("zurich")
    world.context.runs().ask_for("verify", "one", {})
    assert [run["dag_id"] for run in airflow.runs] == ["acme_verify"]
    airflow.pause("eva")
    assert world.context.switch(world.pair("zurich")).is_unpaused(), "the switch of another deployment was looked at"
