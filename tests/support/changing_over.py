"""A source that changes over from one way of capturing to the other."""

from __future__ import annotations

from support.world import SOURCE, World

from sluice.capture.reconcile import bootstrap
from sluice.state.replication import Status

# Of a heap a row that comes twice is there twice.
DDL = (
    "CREATE TABLE t (id int PRIMARY KEY, v text);"
    "CREATE TABLE heap (a int, b text);"
    "CREATE TABLE late (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, v text);"
    "CREATE TABLE parted (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);"
    "CREATE TABLE low PARTITION OF parted FOR VALUES FROM (0) TO (100);"
    "CREATE TABLE high PARTITION OF parted FOR VALUES FROM (100) TO (1000)"
)
TABLES = ["public.t", "public.heap", "public.late", "public.parted", "public.*"]
SLOTS = "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"


def write(world: World, n: int) -> None:
    """A few transactions; `n` is a number below 100 that none has written yet."""
    for text in (
        f"INSERT INTO t VALUES ({n}, 'a'), ({n + 1}, 'b'); INSERT INTO heap VALUES ({n}, 'x'), ({n}, 'x')",
        f"UPDATE t SET v = v || 'c' WHERE id = {n}; DELETE FROM t WHERE id = {n + 1}",
        f"INSERT INTO late VALUES ({n}, 'l'); UPDATE late SET id = id + 1",
        f"INSERT INTO parted VALUES ({n}, 'p'); UPDATE parted SET id = id + 100 WHERE id = {n}",
    ):
        world.master.execute(text.encode())


def change(world: World, capture: str) -> None:
    """Change the configuration alone."""
    world.configure(lambda plain: plain["sources"][SOURCE].update(capture=capture))


def over(world: World, capture: str) -> bool:
    """Change the configuration and the source; whether that changed over."""
    change(world, capture)
    return bool(bootstrap(world.context, SOURCE)["changed_over"])


def expect_equal(world: World) -> None:
    """See that nothing is lost, and nothing is there twice."""
    world.catch_up()
    assert world.differences() == {}
    assert world.rows("zurich", "public.heap")
    assert world.drain()["tolerated"] == 0
    assert world.status("zurich") is Status.NORMAL
