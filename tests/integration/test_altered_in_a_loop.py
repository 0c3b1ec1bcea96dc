"""An owner alters tables without end, where DDL is found by polling: all others are published all the same (R9)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytestmark = [pytest.mark.postgres]
DDL = """
CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY); CREATE TABLE other (id int PRIMARY KEY);
CREATE TABLE p (id int PRIMARY KEY) PARTITION BY LIST (id); INSERT INTO t VALUES (1)
"""
TABLES = [f"public.{name}" for name in ("t", "u", "p", "other")]
HELD = "SELECT pg_sleep(0.3); COMMIT"
ALTERS = [
    "ALTER TABLE t ADD n int; ALTER TABLE u ADD n int; ALTER TABLE t DROP n; ALTER TABLE u DROP n",
    "CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1); DROP TABLE p1",
    # It is left open for a while.
    f"BEGIN; ALTER TABLE t ADD n int; {HELD}; BEGIN; ALTER TABLE t DROP n; {HELD}",
]


@contextmanager
def altering(world, statements: str) -> Iterator[None]:
    """Somebody does nothing else while the block runs."""
    session, over = world.session(), threading.Event()

    def go_on() -> None:
        while not over.is_set():
            for one in statements.split("; "):
                session.execute(one)

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.full
def test_a_table_that_is_altered_without_end_holds_up_no_other_one(build, weak):
    world, written = build(DDL, TABLES, elsewhere={"master": weak}), []
    for statements in ALTERS:
        with altering(world, statements):
            for _ in range(4):
                written.append([str(len(written))])
                world.master.execute("INSERT INTO other VALUES (%s)", written[-1])
                world.publish()
        assert [change["new"] for change in world.log() if change["action"] == "I"] == written, statements
        world.catch_up()
        assert world.differences() == {}, statements
