"""Worlds whose initial data is stored in files, and carried to their slaves by hand."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.sizes import BLOCK_BYTES
from support.updating import UpdatingWorld, load_here
from support.world import SOURCE

from sluice.initial_update.chunks import plan
from sluice.initial_update.dump import dump
from sluice.initial_update.files.receive import receive
from sluice.initial_update.inhibit import InhibitRequest, inhibit
from sluice.store import transfers

LIMIT = 20_000
ROWS = """
CREATE TABLE rows (id int PRIMARY KEY, note text, day date);
INSERT INTO rows SELECT g, repeat(md5(g::text), 3), '2024-01-01'::date + g FROM generate_series(1, 3000) AS g;
INSERT INTO rows VALUES (0, E'a\\tb\\\\c\\n' || repeat('long', 20000), NULL);
CREATE TABLE others (a int, b text);
INSERT INTO others SELECT g % 7, 'b' || g % 3 FROM generate_series(1, 400) AS g;
"""
TABLES = ["public.rows", "public.others"]
KEPT = "CREATE TABLE rows (id int PRIMARY KEY, note text, day date); INSERT INTO rows VALUES (-1, 'kept', NULL)"


class Carried:
    """A world whose slaves have places of their own, and what a person does between them and the master's."""

    def __init__(self, world: UpdatingWorld, path: Path) -> None:
        self.world = world
        self.stored = path / "stored"
        self.arrived = {slave: path / slave for slave in world.slaves}
        world.configure(self._configured)

    def _configured(self, settings: dict[str, Any]) -> None:
        settings["sources"][SOURCE]["initial_files"] = {"location": str(self.stored), "max_bytes": LIMIT}
        for slave, location in self.arrived.items():
            # A path, or a URL.
            named = location.as_uri() if slave == "geneva" else str(location)
            settings["slaves"][slave]["initial_files"] = {"location": named, "keep": True}

    def store(self, *slaves: str, force: bool = False) -> dict[str, Any]:
        """An initial update up to where somebody has to carry it."""
        inhibit(self.world.context, SOURCE, slaves or self.world.slaves, InhibitRequest(force=force))
        done = dump(self.world.context, SOURCE, slaves or self.world.slaves, load_here, store=True)
        self.world.release(*slaves)
        return done

    def awaited(self, slave: str) -> transfers.Transfer:
        found = transfers.awaited_transfer(self.world.context.store, self.world.pair(slave))
        assert found
        return found

    def carry(self, slave: str) -> Path:
        """Copy what a slave waits for to where it waits; the copy."""
        awaited = self.awaited(slave)
        there = self.arrived[slave] / awaited.name
        shutil.rmtree(there, ignore_errors=True)
        return Path(shutil.copytree(awaited.url, there))

    def receive(self, slave: str, load: Any = load_here) -> dict[str, Any]:
        done = receive(self.world.context, SOURCE, slave, load)
        self.world.release(slave)
        return done

    def holds_everything(self) -> None:
        """Every slave is what the master is, when all changes are delivered."""
        self.world.catch_up()
        assert self.world.differences() == {}


@pytest.fixture
def carried(updating, tmp_path, monkeypatch) -> Iterator[Callable[..., Carried]]:
    """Makes such worlds, in which small tables are several chunks: ``carried(ROWS, TABLES)``."""
    monkeypatch.setattr(plan, "CHUNK_BYTES", 16 * BLOCK_BYTES)
    return lambda ddl, tables, **more: Carried(updating(ddl, tables, **more), tmp_path)
