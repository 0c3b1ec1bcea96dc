"""Steps are fenced by the epoch they are given: one that Spark runs twice, or whose driver is gone, does no harm."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Event

import pytest
from support.losing import LosingSteps
from support.updating import compare_here
from support.world import SOURCE

from sluice.drain.step import StepDone, deliver
from sluice.errors import FencedError, SluiceError, TransientError
from sluice.repair.run import RepairRequest, repair
from sluice.steps import LocalSteps, run_step
from sluice.store.leases import acquire

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE heap (a int)"
COPIES = 4


@pytest.fixture
def world(build):
    world = build(DDL, ["public.t", "public.heap"], slave={"max_batch": 20})
    for number in range(60):
        world.master.execute("INSERT INTO t VALUES (%s, 'a')", [number])
        world.master.execute("INSERT INTO heap VALUES (%s)", [number % 3])
    return world


def copies(work):
    """Do a step several times at once; its results, and the errors of copies that were refused."""

    def attempt(_):
        try:
            return work()
        except TransientError as error:
            return error

    with ThreadPoolExecutor(COPIES) as pool:
        return list(pool.map(attempt, range(COPIES)))


def test_copies_of_a_step_deliver_each_change_once(world):
    world.publish()
    pair = world.pair("zurich")
    draining = acquire(world.context.store, f"drain {pair}")
    results = copies(partial(deliver, world.context, pair, world.context.mapper(pair), draining.epoch, 30.0))
    assert any(isinstance(one, dict) for one in results)
    last = StepDone(**deliver(world.context, pair, world.context.mapper(pair), draining.epoch, 30.0))
    assert last.position == world.position() == world.context.manifest(SOURCE).end()
    assert world.differences() == {}


def test_a_copy_of_a_publisher_that_lists_a_segment_later_is_refused(world):
    world.publish()
    manifest = world.context.manifest(SOURCE)
    first = manifest.since(1, 1)[0]
    held = acquire(world.context.store, f"publish {SOURCE}", force=True)
    late = replace(first, file=replace(first.file, name=f"{first.file.name} of a copy"))
    with pytest.raises(FencedError, match="by a copy of itself"):
        manifest.list_segment(held, late, {})
    assert manifest.since(1, 1) == [first]


def test_a_step_whose_driver_was_replaced_changes_nothing(world):
    world.publish()
    pair = world.pair("zurich")
    first = acquire(world.context.store, f"drain {pair}")
    second = acquire(world.context.store, f"drain {pair}", force=True)
    StepDone(**deliver(world.context, pair, world.context.mapper(pair), second.epoch, 0.0))
    with pytest.raises(FencedError):
        deliver(world.context, pair, world.context.mapper(pair), first.epoch, 30.0)
    assert world.rows("zurich", "public.t").total() == 0


def test_what_a_step_fails_with_and_what_its_driver_fails_with_is_raised(world):
    def failing(_):
        raise SluiceError(2, "it fails", "type: nothing")

    def lost():
        raise FencedError(50, "taken over")

    over = Event()

    def slow(_):
        over.wait(60)
        return {}

    steps = LocalSteps(world.context)
    with pytest.raises(SluiceError, match="it fails"):
        run_step(steps, "failing", failing, lambda: None)
    with pytest.raises(FencedError):
        run_step(steps, "slow", slow, lost)
    over.set()


@pytest.mark.full
def test_rows_of_a_repair_whose_step_is_lost_are_counted_once_and_a_late_copy_changes_nothing(updating):
    world = updating(DDL, ["public.t"], {}, slaves=["zurich"])
    world.update()
    world.verify(initial=True)
    slave, steps = world.reader("zurich"), LosingSteps(world.context)
    slave.execute("INSERT INTO t SELECT g FROM generate_series(1, 700) AS g")

    with world.running():
        done = repair(world.context, RepairRequest(SOURCE, "zurich"), compare_here, 60, steps)
    assert (done["deleted"], len(steps.works)) == (700, 2)
    slave.execute("INSERT INTO t VALUES (1)")
    late = steps.works[0](world.context)
    assert (late["done"], bool(late["failure"])) == ([], True)
    assert slave.execute("SELECT count(*) FROM t").fetchone() == (1,)
