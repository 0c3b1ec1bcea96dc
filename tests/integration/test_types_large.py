"""Values of 100 MB pass, with memory that a batch bounds and not the number of such values."""

from __future__ import annotations

import resource

import pytest
from support.world import result

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

MEGABYTE = 1024 * 1024
# Both rows of one change are 400 MB of hexadecimal digits, and pass through several hands.
MEMORY = 5 * 1024 * MEGABYTE
DDL = "CREATE TABLE t (id int PRIMARY KEY, v bytea, n int); ALTER TABLE t ALTER v SET STORAGE EXTERNAL"
VALUE = "(SELECT decode(repeat(md5(%s::text), 6553600), 'hex'))"


def sums(world, name):
    return world.reader(name).execute("SELECT id, length(v), md5(v), n FROM t ORDER BY id").fetchall()


def test_values_of_100_megabytes_are_inserted_changed_moved_and_deleted(build):
    world = build(DDL, ["public.t"])
    for statement in (
        f"INSERT INTO t VALUES (1, {VALUE % 1}, 1)",
        f"INSERT INTO t VALUES (2, {VALUE % 2}, 1)",
        "UPDATE t SET n = 2 WHERE id = 1",
        f"UPDATE t SET v = {VALUE % 4}, id = 9 WHERE id = 1",
        "DELETE FROM t WHERE id = 2",
    ):
        world.master.execute(statement.encode())
    assert result(world.job("publish", "--once"))["changes"] == 5
    assert result(world.job("drain", "--slave", "zurich", "--once"))["changes"] == 5
    assert sums(world, "zurich") == sums(world, "master")
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 < MEMORY
