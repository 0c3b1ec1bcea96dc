"""Dumps that break off, and others that go on with what they left; those into files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.carrying import Carried
from support.sizes import BLOCK_BYTES
from support.updating import Load, UpdatingWorld, background, load_here
from support.world import SOURCE

from sluice.initial_update.chunks import plan
from sluice.initial_update.files.receiver import FilesReceiver
from sluice.initial_update.release import abandon
from sluice.vendors.protocol.tasks import LoadJob, SlaveLoaded

DDL = """
CREATE TABLE keyed (id int PRIMARY KEY, n int NOT NULL DEFAULT 0, note text);
CREATE TABLE heap (a int, b text);
CREATE TABLE child (
    id int PRIMARY KEY, code int UNIQUE, parent int REFERENCES keyed ON UPDATE CASCADE ON DELETE CASCADE);
INSERT INTO keyed SELECT g, 0, repeat('x', 200) FROM generate_series(1, 3000) AS g;
INSERT INTO heap SELECT g % 7, 'b' || g % 3 FROM generate_series(1, 3000) AS g;
INSERT INTO child SELECT g, g, g FROM generate_series(1, 3000) AS g;
"""
TABLES = ["public.keyed", "public.heap", "public.child"]
MEANWHILE = """
UPDATE keyed SET n = n + 1 WHERE id % 3 = 0;
UPDATE keyed SET n = n WHERE id % 3 = 1;
DELETE FROM keyed WHERE id % 50 = 0;
UPDATE keyed SET id = id + 100000 WHERE id % 31 = 0 AND id < 100000;
INSERT INTO keyed SELECT g, 7, 'again' FROM generate_series(50, 1500, 50) AS g;
UPDATE child SET code = -code WHERE id % 2 = 0;
UPDATE child SET code = id WHERE id % 4 = 0;
INSERT INTO child SELECT max(id) + 1, max(id) + 1, 50 FROM child;
UPDATE heap SET b = b || '!' WHERE a = 3;
DELETE FROM heap WHERE a = 5;
"""


class Broken(Exception):
    """What a dump breaks off with."""


def breaking(most: int) -> Load:
    """Stores so many chunks here, and no more."""
    end = FilesReceiver.end
    stored: list[int] = []

    def counted(receiver: FilesReceiver, chunk: int, rows: int) -> None:
        end(receiver, chunk, rows)
        stored.append(chunk)
        if len(stored) == most:
            raise Broken

    def load(job: LoadJob) -> list[SlaveLoaded]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FilesReceiver, "end", counted)
            return load_here(job)

    return load


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of a few blocks."""
    monkeypatch.setattr(plan, "CHUNK_BYTES", 8 * BLOCK_BYTES)


@pytest.fixture
def interrupted(updating: Callable[..., UpdatingWorld], tmp_path: Path, small: None) -> Carried:
    """Tables of several kinds; updates that change nothing are in no log."""
    return Carried(updating(DDL, TABLES, source={"messages": {"send_unchanged_updates": False}}), tmp_path)


def broken_off(carried: Carried, most: int, *slaves: str, resume: bool = False) -> dict[str, int]:
    """An update that is given up when its dump has stored so many chunks; what is in its directory then."""
    world = carried.world
    world.inhibit(*slaves, resume=resume)
    with pytest.raises(Broken), background(world.publish):
        world.dump(*slaves, load=breaking(most), store=True, resume=resume)
    abandon(world.context, SOURCE, slaves or world.slaves)
    return there(carried)


def resumed(carried: Carried, *slaves: str) -> dict[str, int]:
    """One that goes on; what is in its directory then."""
    world = carried.world
    world.inhibit(*slaves, resume=True)
    with background(world.publish):
        assert world.dump(*slaves, store=True, resume=True)["failed"] == {}
    world.release(*slaves)
    return there(carried)


def manifest(carried: Carried) -> dict[str, Any]:
    """What the one directory says of itself."""
    (file,) = carried.stored.glob("*/manifest.json")
    said: dict[str, Any] = json.loads(file.read_text())
    return said


def there(carried: Carried) -> dict[str, int]:
    """The files of the one directory, and when each was written."""
    (directory,) = carried.stored.iterdir()
    return {file.name: file.stat().st_mtime_ns for file in directory.glob("9-*")}


def of(carried: Carried, table: str) -> set[str]:
    """The files of a table."""
    chunks = [one for one in manifest(carried)["chunks"] if one["table"]["table"] == table]
    return {file["name"] for one in chunks for file in one["files"]}


def exact(carried: Carried) -> None:
    """What was stored is loaded, and all slaves are what the master is."""
    for slave in carried.world.slaves:
        carried.carry(slave)
        carried.receive(slave)
    assert carried.world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    carried.holds_everything()
