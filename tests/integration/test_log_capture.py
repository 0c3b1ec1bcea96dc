"""Capture by the server's log: a slot gives what triggers would have told."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.postgres]

PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"


def by_log(build, ddl=PLAIN, tables=("public.t",), **source):
    return build(ddl, list(tables), source={"capture": "log", **source})


def test_changes_arrive_in_the_order_of_their_commits(build):
    world = by_log(build)
    late = world.session()
    late.execute("BEGIN; INSERT INTO t VALUES (1, 'late')")
    world.master.execute("INSERT INTO t VALUES (2, 'early'), (3, NULL)")
    world.catch_up()
    late.execute("COMMIT")
    world.master.execute("UPDATE t SET id = 4, v = v || 'x' WHERE id = 2")
    world.master.execute("DELETE FROM t WHERE id = 1")
    world.catch_up()
    assert [(one["action"], one["new"], one["old"]) for one in world.log()] == [
        ("I", ["2", "early"], None),
        ("I", ["3", None], None),
        ("I", ["1", "late"], None),
        ("U", ["4", "earlyx"], ["2", "early"]),
        ("D", None, ["1", "late"]),
    ]
    assert world.differences() == {}
