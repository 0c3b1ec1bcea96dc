"""DDL of the application while slaves are filled or compared: a table is unlocked as soon as its rows are read, and a
statement that waits longer than it may ends what reads the table (R5)."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext

import pytest
from support.sizes import BLOCK_BYTES
from support.updating import background, load_here
from support.waiting import until
from support.world import SOURCE

from sluice.errors import TransientError
from sluice.initial_update import progress
from sluice.initial_update.chunks import plan
from sluice.initial_update.chunks.task import load_chunks
from sluice.initial_update.dump import EXTERNAL
from sluice.log import record_events
from sluice.model.names import TableName
from sluice.runtime.postgres_dirs import packaged_binaries
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import replications
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.copy_formats import BINARY
from sluice.vendors.postgresql.load.receiver import PostgresReceiver
from sluice.vendors.postgresql.read import compare
from sluice.vendors.postgresql.read.rows import reading
from sluice.vendors.postgresql.session import connect, exported
from sluice.vendors.protocol.read import Chunk, KeyRange, Leaf
from sluice.vendors.protocol.tasks import Share

pytestmark = [pytest.mark.postgres]

# The first is the larger one, and is read before the other.
DDL = """
CREATE TABLE first (id int PRIMARY KEY, note text);
CREATE TABLE last (id int PRIMARY KEY, note text);
INSERT INTO first SELECT g, repeat('x', 200) FROM generate_series(1, 3000) AS g;
INSERT INTO last SELECT g, repeat('x', 200) FROM generate_series(1, 1500) AS g;
"""
EXPORTS = """
SELECT pid FROM pg_stat_activity WHERE query LIKE 'COPY public.%' AND application_name LIKE 'sluice export %'
"""
TABLES = ["public.last", "public.first"]
YIELDS_S = 2.0


@pytest.fixture
def world(updating, monkeypatch):
    """Tables in chunks of a few blocks; nobody fills geneva."""
    monkeypatch.setattr(plan, "CHUNK_BYTES", 8 * BLOCK_BYTES)
    monkeypatch.setattr(progress, "SECONDS", 0.1)
    made = updating(DDL, TABLES, source={"yields_after_s": YIELDS_S})
    replications.record(made.context.store, made.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    made.inhibit("zurich")
    return made


def two_tasks(job):
    """What two Spark tasks do."""
    with ThreadPoolExecutor(2) as pool:
        return [one for some in pool.map(lambda n: load_chunks(job, Share(n, 2)), range(2)) for one in some]


def at_row_of(world, table, do, chunk=0):
    """A load that does something once, with the rows of a chunk of a table half read."""
    write, begin, begun = PostgresReceiver.write, PostgresReceiver.begin, []

    def noted(receiver, name, form):
        if name.table == table:
            begun.append(receiver)
        begin(receiver, name, form)

    def written(receiver, buffer):
        if len(begun) > chunk and begun[chunk] is receiver and receiver not in done:
            done.append(receiver)
            do()
        write(receiver, buffer)

    done = []

    def load(job):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PostgresReceiver, "begin", noted)
            patch.setattr(PostgresReceiver, "write", written)
            return two_tasks(job)

    return load


class Application:
    """An ALTER TABLE, and an INSERT behind it, in threads; how long each took."""

    def __init__(self, world, alter, insert, name="master"):
        self.world, self.name = world, name
        self.statements = [alter, insert]
        self.took = []

    def begin(self):
        for statement in self.statements:
            threading.Thread(target=self._execute, args=(statement,), daemon=True).start()
            until(lambda text=statement: self.done() or self.world.waits(text, self.name), "it does not wait")

    def done(self):
        return len(self.took) == len(self.statements)

    def _execute(self, statement):
        with self.world.session(self.name) as session:
            began = time.monotonic()
            session.execute(statement)
            self.took.append(time.monotonic() - began)


def ends_normal(world):
    world.release("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    assert world.status("zurich") is Status.NORMAL


@pytest.mark.full
def test_a_table_that_is_read_is_altered_while_another_one_is_read(world):
    def alter():
        with world.session() as session:
            session.execute("SET lock_timeout = '120s'")
            session.execute("ALTER TABLE first ALTER id TYPE bigint")

    assert world.dump("zurich", load=at_row_of(world, "last", alter, chunk=2))["failed"] == {}
    ends_normal(world)


def test_an_alter_of_a_table_that_is_read_ends_the_dump_which_goes_on_with_what_is_left(world):
    application = Application(world, "ALTER TABLE last ALTER id TYPE bigint", "INSERT INTO last VALUES (0, 'new')")

    def altered():
        application.begin()
        until(application.done, "the dump does not give way", 60)

    with pytest.raises(TransientError, match=r"SLC-275: public.last was being .*ALTER TABLE last ALTER id") as caught:
        world.dump("zurich", load=at_row_of(world, "last", altered, chunk=1))
    assert "lock_timeout" in caught.value.hint
    assert world.status("zurich") is Status.INITIAL

    def counted(job):
        before = world.reader("zurich").execute("SELECT count(*) FROM first").fetchone()
        assert before == (3000,), "what was read stays"
        return load_here(job)

    with background(world.publish):
        assert world.dump("zurich", load=counted)["failed"] == {}
    ends_normal(world)


# A table that was rewritten has no rows any more as the point shows it.
@pytest.mark.full
@pytest.mark.parametrize(
    ("side", "change", "ends"), [("master", "ALTER id TYPE bigint", True), ("zurich", "ADD new int", False)]
)
def test_a_comparison_gives_way_and_is_tried_again_at_the_same_point(world, monkeypatch, side, change, ends):
    # Rows are read one by one.
    world.configure(lambda settings: settings["sources"][SOURCE].update(verification={"checksums": False}))
    world.dump("zurich")
    world.release("zurich")
    application = Application(world, f"ALTER TABLE last {change}", "INSERT INTO last VALUES (0, 'new')", side)
    count_if_equal, held = compare.count_if_equal, []

    def slowly(ours, theirs):
        if not held and b"x" in next(ours):
            held.append(True)
            application.begin()
            until(application.done, "the comparison does not give way", 60)
        return count_if_equal(ours, theirs)

    monkeypatch.setattr(compare, "count_if_equal", slowly)
    gave_way = f"SLC-275: public.last was being read, .*ALTER TABLE last {change}"
    with record_events() as events, pytest.raises(TransientError, match=gave_way) if ends else nullcontext():
        world.verify("zurich", tables=(TableName("public", "last"),))
    assert re.search(f"tried again .*{gave_way}", "\n".join(line for _, line in events))
    if side == "zurich":
        world.reader(side).execute("DELETE FROM last WHERE id = 0; ALTER TABLE last DROP COLUMN new")
    assert world.verify("zurich", initial=True) == {"zurich": 0}


@pytest.mark.full
def test_the_databases_own_programs_give_way(world, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", f"{packaged_binaries()}{os.pathsep}{os.environ['PATH']}")
    world.master.execute("INSERT INTO last SELECT g, repeat('y', 1000) FROM generate_series(5001, 15000) AS g")
    application = Application(world, "ALTER TABLE last ADD new int", "INSERT INTO last VALUES (0, 'new')")
    # The slave's program takes no row before the table has been altered.
    altered = tmp_path / "altered"
    waits = f"while not os.path.exists({str(altered)!r}): time.sleep(0.05)"
    reads = f"import os, sys, time\n{waits}\nsys.stdin.buffer.read()"
    own = world.settings["slaves"]["zurich"]
    world.configure(lambda settings: own.update(initial_program={"command": [sys.executable, "-c", reads]}))

    def beside():
        try:
            until(lambda: world.master.execute(EXPORTS.encode()).fetchone(), "it exports nothing")
            application.begin()
            until(application.done, "the export does not give way")
        finally:
            altered.touch()

    with ThreadPoolExecutor(1) as pool:
        altering = pool.submit(beside)
        with pytest.raises(TransientError, match=r"SLC-275: public.last was being read, .*ALTER TABLE last ADD"):
            world.dump("zurich", mode=EXTERNAL)
        altering.result()
    own.pop("initial_program")
    world.configure(lambda settings: None)
    assert world.dump("zurich", mode=EXTERNAL)["failed"] == {}
    ends_normal(world)


def test_a_table_is_locked_no_longer_than_its_rows_are_read(world):
    name, columns = TableName("public", "last"), ["id", "note"]
    for what in ("chunk", "table", "block"):
        with closing(connect(world.infos["master"], "snapshot")) as holding:
            holding.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            with reading(world.infos["master"], exported(holding)[0]) as source, world.session() as altering:
                if what == "chunk":
                    rows = source.chunk(Chunk(0, Leaf(name, name, 100, 1), 0, None), columns, BINARY)
                elif what == "table":
                    rows = source.table(name, columns)
                else:
                    rows, _ = source.block(KeyRange(0, name, relations.order(holding, name).sign), columns, 5000)
                assert sum(map(len, rows))
                assert rows.rows == 1500
                altering.execute("SET lock_timeout = '120s'")
                altering.execute(f"ALTER TABLE last ADD new_of_{what} int")


@pytest.mark.full
def test_who_is_to_wait_as_long_as_it_takes_does(world, monkeypatch):
    monkeypatch.setattr(plan, "CHUNK_BYTES", 1000 * BLOCK_BYTES)
    world.configure(lambda settings: settings["sources"][SOURCE].update(yields_after_s=0))
    application = Application(world, "ALTER TABLE last ADD new int", "INSERT INTO last VALUES (0, 'new')")

    def waiting():
        application.begin()
        time.sleep(2 * YIELDS_S)
        assert not application.took

    assert world.dump("zurich", load=at_row_of(world, "last", waiting))["failed"] == {}
    until(application.done)
    ends_normal(world)
