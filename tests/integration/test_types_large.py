"""Values of 100 MB pass, with memory that a batch bounds and not the number of such values."""

from __future__ import annotations

import resource

import pytest
from support.world import result

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

MEGABYTE = 1024 * 1024
# Both rows of one change are 400 MB of hexadecimal digits, and pass through several hands.
MEMORY = 2560 * MEGABYTE
DDL = "CREATE TABLE t (id int PRIMARY KEY, v bytea, n int); ALTER TABLE t ALTER v SET STORAGE EXTERNAL"
VALUE = "(SELECT decode(repeat(md5(%s::text), 6553600), 'hex'))"


def sums(world, name):
    return world.reader(name).execute("SELECT id, length(v), md5(v), n FROM t ORDER BY id").fetchall()


def test_values_of_100_megabytes_are_inserted_changed_moved_and_deleted(build):
    world = build(DDL, ["public.t"])
    world.master.execute(f"INSERT INTO t VALUES (1, {VALUE % 1}, 1)".encode())
    world.master.execute("UPDATE t SET id = 9, n = 2")
    delivered(world, 2)
    assert sums(world, "zurich") == sums(world, "master") != []
    world.master.execute("DELETE FROM t")
    delivered(world, 1)
    assert sums(world, "zurich") == []
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 < MEMORY


def delivered(world, changes):
    assert result(world.job("publish", "--once"))["changes"] == changes
    assert result(world.job("drain", "--slave", "zurich", "--once"))["changes"] == changes
