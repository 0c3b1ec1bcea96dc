"""Drains are told of a segment by the transaction that lists it."""

from __future__ import annotations

import signal
import time

import pytest

pytestmark = [pytest.mark.postgres]

LISTENING = "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"


def test_drains_that_hardly_ever_look_are_told_of_segments_also_after_their_session_was_lost(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], slaves=("zurich", "basel"))
    for one in world.settings["replications"]:
        one["schedule"] = {"run_for_s": 600, "poll_s": 600}
    drains = [world.start("drain", "--slave", slave) for slave in world.slaves]
    store = world.session("control")

    def arrives():
        until = time.monotonic() + 60
        while world.differences():
            assert all(one.poll() is None for one in drains)
            assert time.monotonic() < until
            time.sleep(0.05)

    def listeners():
        return {pid for (pid,) in store.execute(f"SELECT pid {LISTENING}")}

    try:
        seen = set()
        for number in range(2):
            while len(listeners() - seen) < len(drains):
                time.sleep(0.05)
            world.master.execute("INSERT INTO t VALUES (%s)", [number])
            world.publish()
            arrives()
            seen = listeners()
            store.execute(f"SELECT pg_terminate_backend(pid) {LISTENING}")
    finally:
        for one in drains:
            one.terminate()
    assert [one.wait(120) for one in drains] == [128 + signal.SIGTERM] * len(drains)
