"""The demo's writer does what the demo says: it commits, rolls back, and commits out of the order of keys (R1)."""

from __future__ import annotations

import time

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.demo.data import TABLES, load_flights
from sluice.demo.writer import DemoWriter

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


@pytest.fixture
def world(build):
    """The master has the demo's tables, and they are watched."""
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    load_flights(world.master)
    world.configure(lambda plain: plain["sources"][SOURCE].update(tables={f"public.{name}": {} for name in TABLES}))
    bootstrap(world.context, SOURCE)
    return world


@pytest.mark.full
def test_it_commits_and_rolls_back_and_commits_lower_keys_after_higher_ones(world):
    writer = DemoWriter(world.session)
    seen: set[int] = set()
    late: set[int] = set()
    deadline = time.monotonic() + 60
    writer.start()
    try:
        while not late or min(writer.counts()) < 1 or writer.counts().committed < 100:
            assert time.monotonic() < deadline, (writer.counts(), late)
            now = world.queued()
            late |= {key for key in now - seen if seen and key < max(seen)}
            seen |= now
    finally:
        writer.stop()
    assert late
    world.publish()
    assert world.queued() == set()
