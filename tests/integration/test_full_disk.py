"""The disk that initial data is stored on fills: its update fails and says so, and nothing half-made is left."""

from __future__ import annotations

import resource
from itertools import count

import pytest
from support.carrying import ROWS, TABLES
from support.updating import load_here
from support.world import SOURCE

from sluice.control import transfers
from sluice.errors import SluiceError
from sluice.initial_update.dump import dump
from sluice.initial_update.storing import FilesReceiver, StoredTables
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

# No file of ours becomes larger; those of other processes do.
ROOM = 3000


@pytest.fixture
def fills(monkeypatch):
    """Makes the disk full at the second call of a method, until the test says that there is room."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def room():
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    def at(owner, method, call):
        done, number = getattr(owner, method), count(1)

        def then(*args, **kwargs):
            if next(number) == call:
                resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, before[1]))
            return done(*args, **kwargs)

        monkeypatch.setattr(owner, method, then)
        return room

    yield at
    room()


# What is called when it fills, and which call it is.
MOMENTS = {
    "in mid chunk": (FilesReceiver, "begin", 2),
    "when all chunks are in": (StoredTables, "begin_stream", 1),
}


@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS)
def test_nothing_half_made_is_taken_for_whole_and_the_next_run_stores_all_of_it(carried, fills, moment):
    carried = carried(ROWS, TABLES)
    world, there = carried.world, {}

    def looked_at(job):
        done = load_here(job)
        there.update({path.name: path.stat().st_size for path in carried.stored.rglob("*") if path.is_file()})
        return done

    world.inhibit("zurich")
    room = fills(*moment)
    with pytest.raises(
        SluiceError, match=r"SLC-180: the directory .* cannot be written to: .*File too large"
    ) as failed:
        dump(world.context, SOURCE, ["zurich"], looked_at, store=True)
    room()
    assert (failed.value.code, "make room" in failed.value.hint) == (80, True)
    assert '"store_initial_data": true' in failed.value.hint
    assert [name for name in there if name.endswith(".done")], "no chunk was whole before"
    if moment[0] is FilesReceiver:
        assert [size for name, size in there.items() if name.endswith(".zst") and size == ROOM], "no file was cut off"
    assert [path for path in carried.stored.rglob("*") if path.is_file()] == []
    assert transfers.awaited(world.context.store, world.pair("zurich")) is None
    assert world.status("zurich") is Status.INCONSISTENT
    assert carried.store("zurich")["failed"] == {}
    carried.carry("zurich")
    carried.receive("zurich")
    assert world.rows("zurich", "public.rows") == world.rows("master", "public.rows")
