"""What may happen to a slave's server: no room, no answer, a deadlock, a value that one of its indexes refuses (R8)."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from psycopg import sql
from support.places import reserve_port

from sluice.commands.unblock import skip
from sluice.errors import SluiceError, TransientError
from sluice.state.replication import Status
from sluice.store import replications

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text)"
# More than 4 MB.
ROWS = "INSERT INTO t SELECT g, repeat(md5(g::text), 20) FROM generate_series(1, 10000) AS g"


@pytest.fixture
def world(build):
    return build(f"{DDL}; CREATE TABLE u (id int)", ["public.t", "public.u"])


@pytest.fixture
def small():
    """A filesystem of 4 MB that the server may use."""
    place = Path(tempfile.mkdtemp(dir="/var/tmp"))
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=777", "tmpfs", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("no filesystem can be mounted here")
    inside = place / "space"
    inside.mkdir(mode=0o700)
    yield inside
    subprocess.run(["umount", place], check=True)
    place.rmdir()


@contextmanager
def crowded(slave, small):
    """The slave's table t has no more room than that."""
    (data,) = slave.execute("SHOW data_directory").fetchone()
    shutil.chown(small, Path(data).owner())
    slave.execute(sql.SQL("CREATE TABLESPACE small LOCATION {}").format(sql.Literal(str(small))))
    try:
        slave.execute("ALTER TABLE t SET TABLESPACE small")
        yield
    finally:
        slave.execute("ALTER TABLE t SET TABLESPACE pg_default")
        slave.execute("DROP TABLESPACE small")


def test_a_disk_of_a_slave_that_is_full_is_waited_for(world, small):
    with crowded(world.reader("zurich"), small):
        world.master.execute(ROWS)
        world.publish()
        with pytest.raises(TransientError, match=r"SLC-658: .*No space left on device") as full:
            world.drain()
        assert "tries again by itself" in full.value.hint
        assert (world.position().ordinal, world.rows("zurich", "public.t").total()) == (0, 0)
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_a_disk_that_is_full_while_a_slave_is_filled_stops_that_slave_alone(updating, small):
    world = updating(f"{DDL}; {ROWS}", ["public.t"])
    world.reader("zurich").execute(DDL)
    with crowded(world.reader("zurich"), small):
        world.inhibit()
        failed = world.dump()["failed"]
        assert set(failed) == {"zurich"}
        assert "No space left on device" in failed["zurich"]
        assert "tries again" not in failed["zurich"]
        assert '{"source": "flights", "slaves": ["zurich"], "resume": true}' in failed["zurich"]
        assert [world.status(slave) for slave in world.slaves] == [Status.INCONSISTENT, Status.INITIAL]
        world.release()
        assert world.verify("geneva", initial=True) == {"geneva": 0}
    world.update("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}


def test_a_slave_that_is_down_is_waited_for_and_gets_what_came_meanwhile(world):
    there = world.infos["zurich"]
    world.infos["zurich"] = replace(there, port=reserve_port())
    for number in range(3):
        world.master.execute(
            "INSERT INTO t SELECT g, 'x' FROM generate_series(%s::int, %s) AS g", [number * 100, number * 100 + 99]
        )
        world.master.execute("UPDATE t SET v = v || 'y'; INSERT INTO u VALUES (1)")
        world.publish()
        with pytest.raises(TransientError, match="SLC-030") as down:
            world.drain()
        assert "tries again by itself" in down.value.hint
    world.infos["zurich"] = there
    world.catch_up()
    assert world.differences() == {}


def test_a_deadlock_on_a_slave_is_tried_again(world):
    """A session of the slave's own holds a table, and wants another that the drain holds by then."""
    world.master.execute("INSERT INTO t VALUES (1, 'a'); INSERT INTO u VALUES (1)")
    world.publish()
    other = world.session("zurich")
    other.execute("SET deadlock_timeout = '1h'; BEGIN; LOCK TABLE u")
    waiting = "SELECT count(*) FROM pg_locks WHERE relation = '{}'::regclass AND NOT granted AND pid <> %s"

    def crosswise():
        while world.reader("zurich").execute(waiting.format("u").encode(), [other.info.backend_pid]).fetchone() == (0,):
            time.sleep(0.01)
        other.execute("LOCK TABLE t")
        other.execute("ROLLBACK")

    thread = threading.Thread(target=crosswise)
    thread.start()
    with pytest.raises(TransientError, match=r"SLC-034: .*deadlock detected"):
        world.drain()
    thread.join()
    assert world.position().ordinal == 0
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full(but=["batch"])
@pytest.mark.parametrize("mode", ["batch", "one_to_one"])
def test_a_value_that_is_too_long_for_an_index_of_the_slave_stops_it(world, mode):
    world.settings["replications"][0]["mode"] = mode
    world.configure(lambda plain: None)
    world.reader("zurich").execute("CREATE INDEX long ON t (v)")
    world.master.execute("INSERT INTO t VALUES (1, 'short')")
    world.master.execute("INSERT INTO t SELECT 2, string_agg(md5(g::text), '') FROM generate_series(1, 500) AS g")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-039: writing to public\.t: index row requires \d+ bytes") as refused:
        world.drain()
    assert "goes on when its drain DAG is unpaused" in refused.value.hint
    assert world.position().ordinal == 1, "what stands before it is delivered"
    world.reader("zurich").execute("DROP INDEX long")
    world.catch_up()
    assert world.differences() == {}


def test_a_table_that_a_crash_would_empty_stops_the_slave_with_and_without_changes_of_it(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY)", ["public.t", "public.u"])
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()
    drain = world.drainer()
    assert drain.deliver()
    world.reader("zurich").execute("ALTER TABLE t SET UNLOGGED")
    world.master.execute("INSERT INTO t VALUES (2)")
    world.publish()
    with pytest.raises(SluiceError, match="SLC-645"):
        drain.deliver()
    world.reader("zurich").execute("ALTER TABLE t SET LOGGED; ALTER TABLE u SET UNLOGGED")
    with pytest.raises(SluiceError, match=r"SLC-645: .*u. as UNLOGGED") as caught:
        world.catch_up()
    assert "SET LOGGED" in caught.value.hint
    assert "EXCEPTION" in replications.holds(world.context.store, world.pair("zurich"))


def test_a_check_that_refuses_a_row_on_a_slave_alone_is_told_with_its_table_and_holds_up_no_other(world):
    slave = world.reader("zurich")
    slave.execute("ALTER TABLE t ADD CONSTRAINT here CHECK (v <> 'no')")
    world.master.execute("INSERT INTO t VALUES (1, 'no'); INSERT INTO u VALUES (1)")
    world.publish()
    with pytest.raises(SluiceError, match=r'SLC-072: writing to public\.t: .*check constraint "here"') as caught:
        world.drain()
    assert "ALTER TABLE ... DROP CONSTRAINT" in caught.value.hint
    assert "--skip public.t" in caught.value.hint
    skip(world.context, world.pair("zurich"), "public.t")
    world.drain()
    assert slave.execute("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM u)").fetchone() == (0, 1)


# The mode, and how often a row is tried: one to one, as one of a batch, too.
SLOW = {"batch": ("batch", 1), "one to one": ("one_to_one", 2)}


@pytest.mark.parametrize(("mode", "tries"), SLOW.values(), ids=SLOW)
def test_a_row_that_takes_too_long_on_a_slave_is_told_with_its_table_and_holds_up_no_other(world, mode, tries):
    slave = world.reader("zurich")
    slave.execute(
        "CREATE SEQUENCE tried; CREATE FUNCTION slow(text) RETURNS boolean LANGUAGE sql AS"
        " $$SELECT nextval('public.tried') IS NOT NULL AND pg_sleep(30) IS NOT NULL$$;"
        "ALTER TABLE t ADD CHECK (slow(v))"
    )
    world.master.execute("INSERT INTO u VALUES (1)")
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    for number in range(8):
        world.master.execute(f"INSERT INTO u VALUES (1{number})")
    world.publish()
    world.infos["zurich"] = replace(world.infos["zurich"], extra={"write_timeout": "1+0.1"})
    world.configure(lambda plain: plain["replications"][0].update(mode=mode))
    with pytest.raises(SluiceError, match=r"SLC-688: writing to public\.t: .*longer than 1\.1 s") as caught:
        world.drain()
    assert "--skip public.t" in caught.value.hint
    assert world.position().ordinal == 1, "what stands before it is delivered"
    assert slave.execute("SELECT last_value FROM tried").fetchone() == (tries,)
    skip(world.context, world.pair("zurich"), "public.t")
    world.master.execute("INSERT INTO u VALUES (2)")
    world.publish()
    world.drain()
    assert slave.execute("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM u)").fetchone() == (0, 10)


# A tenth of a second a row.
SLOW_ROWS = {
    "by a set": "ALTER TABLE t ADD CONSTRAINT slow CHECK (pg_sleep(0.1) IS NOT NULL)",
    "one by one": """
        ALTER TABLE t DROP CONSTRAINT slow;
        CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(0.1); RETURN NEW; END$$;
        CREATE TRIGGER slow BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION slow();
        ALTER TABLE t ENABLE ALWAYS TRIGGER slow
    """,
}


def test_rows_of_a_batch_that_take_too_long_together_are_told_with_their_table(world):
    world.master.execute("INSERT INTO t SELECT g, 'a' FROM generate_series(1, 15) AS g")
    world.publish()
    world.infos["zurich"] = replace(world.infos["zurich"], extra={"write_timeout": "1+0.01"})
    world.configure(lambda plain: None)
    for how, ddl in SLOW_ROWS.items():
        world.reader("zurich").execute(ddl)
        drain = world.drainer()
        with pytest.raises(SluiceError, match=r"SLC-688: writing to public\.t: .*longer than 1\.\d+ s"):
            drain.deliver()
        assert (drain.stuck.ordinal, world.position().ordinal) == (1, 0), how


@pytest.mark.full
def test_a_row_that_is_refused_before_one_that_takes_too_long_is_told_first(world):
    world.reader("zurich").execute("ALTER TABLE u ADD CHECK (id <> 2)")
    world.reader("zurich").execute("ALTER TABLE t ADD CHECK (pg_sleep(30) IS NOT NULL)")
    for table, row in (("u", "1"), ("u", "2"), ("u", "3"), ("t", "1, 'a'")):
        world.master.execute(f"INSERT INTO {table} VALUES ({row})")
    world.publish()
    world.infos["zurich"] = replace(world.infos["zurich"], extra={"write_timeout": "1"})
    world.configure(lambda plain: None)
    with pytest.raises(SluiceError, match=r"SLC-072: .*stands in front of transaction 2 "):
        world.drain()
    assert world.position().ordinal == 1


@pytest.mark.full
def test_a_check_of_the_master_that_holds_there_alone_is_told_with_its_table_by_a_fill(updating):
    world = updating("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], {}, slaves=["zurich"])
    here = world.infos["master"].database
    world.master.execute(f"ALTER TABLE t ADD CONSTRAINT here CHECK (current_database() = '{here}')".encode())
    world.master.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(SluiceError, match=r'SLC-072: .*public\.t: .*check constraint "here"') as caught:
        world.update()
    assert "ALTER TABLE ... DROP CONSTRAINT" in caught.value.hint
