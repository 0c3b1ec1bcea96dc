"""A drain leaves its place to others: where somebody keeps rows of the slave locked (R8), and when it caught up."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest

from sluice.drain import run
from sluice.drain.run import drain
from sluice.errors import LockTimeout
from sluice.state.replication import Status
from sluice.steps import LocalSteps
from sluice.store import replications
from sluice.vendors.postgresql import lock_holders, slave
from sluice.vendors.postgresql.session import connect

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def world(build, monkeypatch):
    made = build("CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'a')", ["public.t"])
    # Nobody waits that long in a test.
    monkeypatch.setattr(slave, "LOCK_WAIT", "2s")
    monkeypatch.setattr(lock_holders, "_LOOK_S", 0.2)
    made.catch_up()
    made.master.execute("UPDATE t SET v = 'b'")
    made.publish()
    return made


@contextmanager
def locked(world, how):
    """Somebody else's transaction on the slave has locks."""
    with connect(world.infos["zurich"], "night report") as session:
        session.execute(how)
        yield session
        session.rollback()


@pytest.mark.full(but=["LOCK TABLE public.t-one_to_one"])
@pytest.mark.parametrize(
    ("how", "mode"),
    [
        ("SELECT FROM public.t FOR UPDATE", "batch"),
        ("LOCK TABLE public.t", "one_to_one"),
        ("INSERT INTO public.t VALUES (2)", "one_to_one"),
    ],
)
def test_a_lock_that_is_not_given_back_is_an_error_that_names_its_holder_and_is_tried_again(world, how, mode):
    world.configure(lambda settings: settings["replications"][0].update(mode=mode))
    world.master.execute("INSERT INTO t VALUES (2, 'c')")
    world.publish()
    with locked(world, how) as session:
        pid = session.info.backend_pid
        with pytest.raises(LockTimeout, match=rf"SLC-036: .*held by process {pid} of .*night report"):
            world.drain()
    assert not replications.holds(world.context.store, world.pair("zurich"))
    assert world.status("zurich") is Status.NORMAL
    world.drain()
    assert world.rows("zurich", "public.t") == world.rows("master", "public.t")


class Counting(LocalSteps):
    """Steps of this process, and how many there were."""

    count = 0

    def start(self, name, work):
        """Start one."""
        self.count += 1
        return super().start(name, work)


@pytest.mark.full
def test_a_drain_outlives_a_long_transaction_of_an_application_and_gives_its_place_to_others_meanwhile(world):
    schedule = {"every_s": 60, "run_for_s": 3}
    world.configure(lambda settings: settings["replications"][0].update(schedule=schedule))
    steps = Counting(world.context)
    with locked(world, "SELECT FROM public.t FOR UPDATE") as session:
        threading.Timer(6, session.rollback).start()
        done = drain(world.context, world.pair("zurich"), steps=steps)
    assert done["changes"] == 1
    # One that waited in vain, one that had what it needed; and perhaps one between.
    assert 2 <= steps.count <= 3
    assert world.rows("zurich", "public.t") == world.rows("master", "public.t")


@pytest.mark.full
def test_a_drain_rests_after_a_step_that_caught_up(world, monkeypatch):
    world.drain()
    world.configure(lambda settings: settings["replications"][0].update(schedule={"every_s": 60, "run_for_s": 1}))
    left = []
    monkeypatch.setattr(run._DrainRun, "_leave", lambda self, seconds: left.append(seconds))

    def drained(*, once):
        world.master.execute("UPDATE t SET v = v || 1")
        world.publish()
        assert drain(world.context, world.pair("zurich"), once=once)["changes"] == 1

    drained(once=False)
    assert len(left) == 1
    assert 0 < left.pop() <= run._REST_S
    drained(once=True)
    assert left == [], "one that is waited for has no time"
