"""A slave's server that crashes under load and stays away for long: its log is kept, others go on, it catches up."""

from __future__ import annotations

import itertools
import logging
from datetime import timedelta

import pytest
from support.updating import background
from support.world import SOURCE

from sluice.errors import TransientError
from sluice.publish.retention import trim

pytestmark = [pytest.mark.full, pytest.mark.postgres, pytest.mark.slow]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE heap (a int, b text)"
SEGMENTS = 24


def writes(world):
    """Transactions of which each leaves its mark: a row without a key would be there twice if one came twice."""
    session, numbers = world.session(), itertools.count(1)

    def once():
        number = next(numbers)
        with session.transaction(force_rollback=number % 10 == 0):
            session.execute("INSERT INTO t VALUES (%s, 'a')", [number])
            session.execute("INSERT INTO heap VALUES (%s, 'x'), (%s, 'x')", [number % 3, number % 3])
            session.execute("UPDATE t SET v = v || 'b' WHERE id %% 7 = %s", [number % 7])
            session.execute("DELETE FROM t WHERE id = %s", [number - 20])

    return once


def test_a_slave_that_crashes_under_load_and_stays_away_for_an_hour_gets_all_of_it(build, restartable, caplog):
    world = build(DDL, ["public.t", "public.heap"], slaves=("zurich", "geneva"), elsewhere={"zurich": restartable})

    def trimmed(warn_bytes=10**9):
        return trim(world.context, SOURCE, keep=timedelta(0), warn_bytes=warn_bytes)

    with background(writes(world), pause_s=0.01):
        for _ in range(5):
            world.publish()
            world.drain("geneva")
        # What it has is durable from here on: a crash takes what came last.
        world.drain("zurich")
        with background(lambda: world.drain("zurich")):
            world.publish()
            restartable.stop("immediate")
        for number in range(SEGMENTS):
            world.publish()
            trimmed()
            if number % 10 == 0:
                world.drain("geneva")
                with pytest.raises(TransientError, match="SLC-030"):
                    world.drain("zurich")
            if number == SEGMENTS // 2:
                world.master.execute("ALTER TABLE t ADD more int DEFAULT 7")
    world.publish()
    world.drain("geneva")
    world.reader("control").execute("UPDATE segment SET published_at = published_at - interval '1 hour'")
    there, away = world.standing("geneva"), world.standing("zurich")
    assert (there.holdback, there.lag_s) == (0, 0)
    assert (away.status, away.holdback > SEGMENTS, away.lag_s > 3600) == ("NORMAL", True, True)
    with caplog.at_level(logging.INFO, logger="sluice"):
        assert trimmed(warn_bytes=1) == 0, "what it lacks is gone"
    assert "WARNING change log is large" in caplog.text
    restartable.start()
    world.reconnect("zurich")
    # What it has may be more than it had made known.
    left = world.position("geneva").ordinal - world.position("zurich").ordinal
    assert SEGMENTS < left <= away.holdback
    assert world.drain("zurich")["transactions"] == left
    assert world.differences() == {}
    assert [world.standing(slave).tolerated for slave in world.slaves] == [0, 0]
    assert trimmed() >= SEGMENTS, "it is kept for nobody any more"
