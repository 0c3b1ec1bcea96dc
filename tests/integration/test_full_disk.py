"""The disk that initial data is stored on fills: its update fails and says so, and nothing half-made is left."""

from __future__ import annotations

import json
import resource
from itertools import count

import pytest
from support.carrying import ROWS, TABLES
from support.updating import background, load_here
from support.world import SOURCE

from sluice.errors import SluiceError
from sluice.initial_update.dump import dump
from sluice.initial_update.files.receiver import FilesReceiver
from sluice.initial_update.files.target import StoredTables
from sluice.state.replication import Status
from sluice.store import transfers

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


def there_are(carried):
    return {path.name for path in carried.stored.rglob("*") if path.is_file()}


@pytest.mark.full(but=["in mid chunk"])
@pytest.mark.parametrize(
    ("moment", "resume"),
    [(MOMENTS["in mid chunk"], True), (MOMENTS["when all chunks are in"], False)],
    ids=["in mid chunk", "when all chunks are in, and anew"],
)
def test_nothing_half_made_is_taken_for_whole_and_the_next_run_stores_all_of_it(carried, fills, moment, resume):
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
    before = there_are(carried)
    assert transfers.awaited_transfer(world.context.store, world.pair("zurich")) is None
    assert world.status("zurich") is Status.INCONSISTENT
    assert not list(carried.stored.glob("*/manifest.json"))
    world.inhibit("zurich", resume=resume)
    with background(world.publish):
        assert world.dump("zurich", store=True, resume=resume)["failed"] == {}
    world.release("zurich")
    manifest = json.loads(next(carried.stored.glob("*/manifest.json")).read_text())
    told = {file["name"] for chunk in manifest["chunks"] for file in chunk["files"]}
    assert there_are(carried) == told | {"manifest.json"}
    assert bool(told & before) == resume, "what was whole is kept for whoever goes on"
    carried.carry("zurich")
    carried.receive("zurich")
    assert world.rows("zurich", "public.rows") == world.rows("master", "public.rows")
