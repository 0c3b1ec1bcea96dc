"""The look at sources and slaves that pages show: a server that hangs keeps nobody else from being looked at."""

from __future__ import annotations

import socket
import threading
import time
from dataclasses import replace

import pytest
from support.proxy import line
from support.waiting import until
from support.world import SOURCE

from sluice.monitor import reach
from sluice.monitor.reach import Reach

pytestmark = [pytest.mark.postgres]
PATIENCE_S = 3.0


@pytest.fixture
def looking(build, monkeypatch):
    """A world of two slaves, whose servers can be exchanged, and the look at them."""
    monkeypatch.setattr(reach, "SECONDS_BETWEEN_LOOKS", 0.0)
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], slaves=("zurich", "geneva"))
    return world, Reach(PATIENCE_S)


def look(found: Reach, world) -> None:
    """Look once more, to the end."""
    before, begun = found.looked, time.monotonic()
    found.look(world.context)
    while found.looked == before:
        assert time.monotonic() - begun < 60
        time.sleep(0.02)


def lead(world, name: str, port: int) -> None:
    world.infos[name] = replace(world.infos[name], host="127.0.0.1", port=port)
    world.configure(lambda settings: None)


def test_a_server_that_takes_sessions_and_says_nothing_is_told(looking):
    world, found = looking
    with socket.create_server(("127.0.0.1", 0)) as hole:
        for name in ("master", "geneva"):
            lead(world, name, hole.getsockname()[1])
        look(found, world)
        assert "has not answered for 3 seconds" in found.absent(world.pair("geneva")).fact
        assert "has not answered for 3 seconds" in found.source(SOURCE).publishing
    assert found.has_looked(world.pair("zurich"))
    until(lambda: found.absent(world.pair("zurich")) is None, "it is no answer that comes late")


def test_a_server_that_hangs_is_asked_once_until_it_goes_on(looking):
    world, found = looking
    geneva = world.pair("geneva")
    with line(world.infos["geneva"]) as carried:
        lead(world, "geneva", carried.port)
        # It hangs after the login, where no time for connecting ends the wait.
        carried.silent = True
        look(found, world)
        assert "has not answered" in found.absent(geneva).fact
        look(found, world)
        asking = [one.name for one in threading.enumerate()].count(f"call {geneva}")
        assert (found.absent(geneva).code, asking) == (30, 1)
        carried.silent = False
        deadline = time.monotonic() + 120
        while found.absent(geneva):
            assert time.monotonic() < deadline
            look(found, world)
    until(lambda: found.absent(world.pair("zurich")) is None, "it is no answer that comes late")
