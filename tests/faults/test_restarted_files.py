"""A source that is restarted while an initial update stores it in files: what is whole stays, by a task that is tried
again as by another update, and slaves that load it are exact (R5)."""

from __future__ import annotations

import pytest
from support.carrying import Carried
from support.interrupting import DDL, MEANWHILE, TABLES, exact, manifest, there
from support.updating import background, load_here

from sluice.errors import TransientError
from sluice.initial_update.files.receiver import FilesReceiver
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

# So many chunks are stored before.
MOST = 6
TYPED = """airflow dags trigger initial_update --conf '{"source": "flights", "slaves": ["zurich", "geneva"], """


class Stopped(Exception):
    """A task ends here, and another one begins."""


def once(step, do):
    """A load that does this when so many chunks are stored: after the last one, or when the next is written."""

    def load(job):
        stored = []
        end, own = FilesReceiver.end, getattr(FilesReceiver, step)

        def counted(receiver, chunk, rows):
            end(receiver, chunk, rows)
            stored.append(chunk)

        def doing(receiver, *given):
            (counted if step == "end" else own)(receiver, *given)
            if len(stored) == MOST:
                stored.append(None)
                do()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FilesReceiver, "end", counted)
            patch.setattr(FilesReceiver, step, doing)
            return load_here(job)

    return load


@pytest.fixture
def carried(updating, restartable, tmp_path, small):
    unchanged = {"messages": {"send_unchanged_updates": False}}
    return Carried(updating(DDL, TABLES, source=unchanged, elsewhere={"master": restartable}), tmp_path)


def failed(carried, load, said):
    """An update whose dump fails with this error, and what it has left; its HINT."""
    world = carried.world
    world.inhibit()
    with pytest.raises(TransientError, match=said) as error, background(world.publish):
        world.dump(load=load, store=True)
    world.reconnect("master")
    assert [world.status(slave) for slave in world.slaves] == [Status.INITIAL] * 2
    left = there(carried)
    assert len(left) >= MOST
    world.master.execute(MEANWHILE)
    return left, error.value.hint


def goes_on(carried, left, after):
    """What was whole stayed, and all is exact."""
    assert left.items() <= after.items()
    assert manifest(carried)["overlap"]
    carried.world.master.execute("UPDATE keyed SET n = n + 5 WHERE id % 4 = 0; DELETE FROM child WHERE id % 9 = 0")
    exact(carried)


def between_tasks(restart):
    """A load by several tasks, one after the other: the source is restarted when no task has a session there."""

    def load(job):
        def stop():
            raise Stopped

        with pytest.raises(Stopped):
            once("end", stop)(job)
        restart()
        return load_here(job)

    return load


BY = {
    "in a chunk": (lambda restart: once("write", restart), "immediate", "SLC-030: reading a chunk"),
    "between two tasks": (between_tasks, "immediate", "SLC-083: the snapshot that is read is lost"),
}


@pytest.mark.full
@pytest.mark.parametrize("moment", BY)
def test_a_restart_is_worth_a_retry_which_goes_on_with_the_files_that_are_whole(carried, restartable, moment):
    load, mode, said = BY[moment]
    left, hint = failed(carried, load(lambda: restartable.restart(mode)), said)
    assert "the run tries again by itself" in hint
    world = carried.world
    with background(world.publish):
        assert world.dump(store=True)["failed"] == {}
    world.release()
    goes_on(carried, left, there(carried))


@pytest.mark.full
def test_one_that_comes_when_all_is_read_harms_nothing(carried, restartable):
    def after_all(job):
        done = load_here(job)
        restartable.restart("immediate")
        return done

    world = carried.world
    world.inhibit()
    assert world.dump(load=after_all, store=True)["failed"] == {}
    world.release()
    world.reconnect("master")
    world.master.execute(MEANWHILE)
    exact(carried)
