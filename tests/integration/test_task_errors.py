"""Errors of a database that a Spark task meets: they arrive with code, HINT and class, as if no Spark were between."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from functools import partial

import pytest
from support.sizes import BLOCK_BYTES
from support.updating import load_here

from sluice.drain.step import deliver
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.chunks import plan
from sluice.log import event

pytestmark = [pytest.mark.postgres, pytest.mark.spark, pytest.mark.slow]

HEAP = "CREATE TABLE heap (a int, b text); INSERT INTO heap SELECT g, 'b' || g FROM generate_series(1, 4000) AS g"


@pytest.fixture
def world(updating, monkeypatch):
    monkeypatch.setattr(plan, "CHUNK_BYTES", 16 * BLOCK_BYTES)
    return updating(HEAP, ["public.heap"])


@pytest.fixture
def load(spark):
    from sluice.spark.load_tasks import load

    return load


@pytest.fixture
def compare_all(spark):
    from sluice.spark.compare_tasks import compare_all

    return compare_all


def revoke(world, name, table="heap"):
    """Take the right to read a table away from who owns it."""
    role = world.infos[name].login
    world.reader(name).execute(f"REVOKE SELECT ON {table} FROM {role}; ALTER ROLE {role} NOSUPERUSER")


@contextmanager
def lock_wanted(world, table):
    """Somebody waits for a lock on a table that somebody else reads; whoever comes next waits behind."""
    wanting = world.session()
    statement = f"BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"
    thread = threading.Thread(target=wanting.execute, args=(statement,), daemon=True)
    thread.start()
    waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = %s::regclass"
    while not world.master.execute(waits, [table]).fetchone()[0]:
        assert thread.is_alive()
    yield
    wanting.cancel()
    thread.join(30)


@pytest.mark.full
def test_a_dump_without_the_right_to_read_says_so(world, load):
    def revoked(job):
        revoke(world, "master")
        return load(job)

    world.inhibit()
    with pytest.raises(SluiceError, match=r"^SLC-033: reading a chunk: permission denied") as caught:
        world.dump(load=revoked)
    assert type(caught.value) is SluiceError, "a retry will not help"
    assert "grant the role" in caught.value.hint


@pytest.mark.full
def test_a_lock_that_a_dump_waits_for_is_worth_a_retry(world, load):
    def locked(job):
        with lock_wanted(world, "heap"):
            return load(job)

    world.inhibit()
    with pytest.raises(TransientError, match=r"^SLC-275: public.heap was being read, .*LOCK TABLE heap") as caught:
        world.dump(load=locked)
    assert "tries again" in caught.value.hint


@pytest.mark.full
def test_a_comparison_without_the_right_to_read_says_so(world, compare_all):
    def revoked(jobs):
        revoke(world, "zurich")
        return compare_all(jobs)

    world.update(load=load_here)
    with pytest.raises(SluiceError, match=r"^SLC-033: comparing public.heap: permission denied") as caught:
        world.verify("zurich", compare=revoked)
    assert type(caught.value) is SluiceError


def test_a_table_that_was_truncated_under_a_comparison_is_worth_a_retry(world, compare_all):
    def truncated(jobs):
        world.reader("zurich").execute("TRUNCATE heap")
        return compare_all(jobs)

    world.update(load=load_here)
    with pytest.raises(TransientError, match=r"^SLC-095: "):
        world.verify("zurich", compare=truncated)


@pytest.fixture
def named(spark, monkeypatch):
    """This deployment calls `./sluice` otherwise than that of the Spark server."""
    monkeypatch.setenv("SLUICE_CLI", "docker compose exec sluice ./sluice")


def test_what_a_task_tells_people_to_type_is_of_its_own_deployment(world, named):
    from sluice.spark.steps import SparkSteps

    world.update(load=load_here)
    revoke(world, "zurich", "sluice_position")
    pair = world.pair("zurich")
    work = partial(deliver, pair=pair, mapper=world.context.mapper(pair), epoch=1 << 40, seconds=1.0)
    with pytest.raises(SluiceError, match=r"^SLC-033: ") as caught:
        SparkSteps(world.context).start("a step", work).wait(120)
    assert "`docker compose exec sluice ./sluice grants SLAVE --slave`" in caught.value.hint
    assert "type: docker compose exec sluice ./sluice unpause flights zurich" in caught.value.hint
    assert "`./sluice" not in caught.value.hint


def test_what_a_step_said_before_it_crashed_is_in_the_log_of_its_job(world, spark, caplog):
    from sluice.spark.steps import SparkSteps, StepCrashed

    def crashing(_):
        event("begun", row=1)
        raise ZeroDivisionError("a defect")

    step = SparkSteps(world.context).start("a step", crashing)
    with caplog.at_level("INFO", "sluice"), pytest.raises(StepCrashed, match=r"'a step' failed .*\n(.*\n)+.*a defect"):
        step.wait(120)
    assert caplog.messages.count("begun row=1") == 1


def test_a_terminal_error_of_one_task_wins_over_transient_ones_of_others():
    from sluice.spark.errors import as_text, raise_any

    raise_any([])
    waits = as_text(TransientError(36, "locked", "wait"))
    with pytest.raises(SluiceError) as caught:
        raise_any([waits, as_text(SluiceError(33, "no right", "grant it")), waits])
    assert (type(caught.value), str(caught.value)) == (SluiceError, "SLC-033: no right\nHINT: grant it")
    with pytest.raises(TransientError, match="SLC-036: locked"):
        raise_any([waits])
