"""The control store's clock is set, forward or back: leases, points and retention go on, and nothing is lost (R3, R6).

The clock itself cannot be set here; what tells the same is a time that was written before, and is moved instead.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from support.world import SOURCE

from sluice.changelog import points
from sluice.errors import FencedError, TransientError
from sluice.monitor.status import statuses
from sluice.publish.retention import trim
from sluice.store import leases

pytestmark = [pytest.mark.postgres]

# Milliseconds since 1970, in the year 2100.
FAR_AHEAD = 4_102_444_800_000
PUBLISHING = f"publish {SOURCE}"


@pytest.fixture
def world(build):
    return build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])


def set_back(world, column, table, hours=10):
    """What a time looks like after the clock was set back; forward, if `hours` is negative."""
    shifted = f"UPDATE {table} SET {column} = {column} + interval '1 hour' * %s"
    world.reader("control").execute(shifted.encode(), [hours])


def soon(world, column, table, seconds):
    """Whether no such time is further away than it is ever put."""
    query = f"SELECT bool_and({column} <= clock_timestamp() + interval '1 second' * %s) FROM {table}"
    return world.reader("control").execute(query.encode(), [seconds]).fetchone() == (True,)


@pytest.mark.full
def test_the_lease_of_a_dead_holder_does_not_outlive_it_by_what_the_clock_was_set_back(world):
    store = world.context.store
    held = leases.acquire(store, PUBLISHING)
    set_back(world, "expires_at", "lease")
    with pytest.raises(TransientError, match="SLC-051"):
        world.publish()
    assert soon(world, "expires_at", "lease", leases.SECONDS)
    leases.renew(store, held)
    with pytest.raises(TransientError, match="SLC-051"):
        world.publish()
    leases.release(store, held)
    set_back(world, "expires_at", "lease")
    with pytest.raises(TransientError, match="SLC-051"):
        world.publish()
    world.let_leases_expire()
    assert world.publish()["changes"] == 0


def test_a_lease_that_ends_early_is_held_by_one_and_the_other_is_fenced_out(world):
    first = world.publisher()
    world.master.execute("INSERT INTO t VALUES (1)")
    set_back(world, "expires_at", "lease", hours=-10)
    assert world.publish()["changes"] == 1, "another one may begin at once"
    world.master.execute("INSERT INTO t VALUES (2)")
    with pytest.raises(FencedError, match="SLC-050"):
        first.publish(None)
    assert world.publish()["changes"] == 1
    world.drain()
    assert world.differences() == {}


@pytest.mark.full
def test_epochs_grow_though_the_clock_went_back(world):
    world.catch_up()
    world.reader("control").execute("UPDATE lease SET epoch = %s", [FAR_AHEAD])
    for number in range(2):
        world.master.execute("INSERT INTO t VALUES (%s)", [number])
        world.catch_up()
    fences = [
        world.reader(name).execute(f"SELECT max(epoch) FROM {table}").fetchone()[0]
        for name, table in (("master", "repl_state"), ("zurich", "sluice_position"))
    ]
    assert min(fences) > FAR_AHEAD
    assert world.differences() == {}


def test_the_barrier_of_a_dead_verifier_does_not_outlive_it_by_what_the_clock_was_set_back(world):
    points.ask(world.context.store, SOURCE, ["zurich"])
    set_back(world, "deadline", "point")
    assert len(points.list_requests(world.context.store, SOURCE)) == 1
    assert soon(world, "deadline", "point", points.SECONDS)


@pytest.mark.full
def test_what_was_published_while_the_clock_was_wrong_is_trimmed_in_order_and_never_before_it_is_delivered(world):
    for number in range(5):
        world.master.execute("INSERT INTO t VALUES (%s)", [number])
        world.publish()
    control = world.reader("control")
    control.execute("UPDATE segment SET published_at = published_at - interval '10 years'")

    def trimmed():
        return trim(world.context, SOURCE, keep=timedelta(hours=1), warn_bytes=10**9)

    assert trimmed() == 0, "no slave has it"
    world.drain()
    control.execute("UPDATE segment SET published_at = published_at + interval '20 years' WHERE number = 3")
    assert trimmed() == 2, "and not what comes after one that stays"
    kept = [segment.number for segment in world.context.manifest(SOURCE).kept_segments()]
    assert kept == [3, 4, 5]
    control.execute("UPDATE segment SET published_at = clock_timestamp() - interval '2 hours'")
    assert trimmed() == 2
    world.master.execute("INSERT INTO t VALUES (9)")
    world.publish()
    set_back(world, "published_at", "segment")
    assert [one.lag_s for one in statuses(world.context)] == [0], "no change is younger than now"
    world.drain()
    assert world.differences() == {}
