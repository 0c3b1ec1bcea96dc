"""A world for all tests of a file that only look at it, or put back what they change: making one costs a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from support.world import World


@contextmanager
def lasting(server: Any, path: Path, ddl: str, tables: Any) -> Iterator[World]:
    """Make a world, and drop its databases afterwards."""
    world = World(server, path, ddl, tables)
    yield world
    world.close()
    server.drop_databases(world.infos.values())


@contextmanager
def configured_anew(world: World) -> Iterator[World]:
    """What a test changes of a world's configuration and connections is put back after it."""
    settings, infos = deepcopy(world.settings), dict(world.infos)
    yield world
    world.settings, world.infos = settings, infos
    world.configure(lambda plain: None)
