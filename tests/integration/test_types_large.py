"""Values of 100 MB pass, with memory that a batch bounds and not the number of such values."""

from __future__ import annotations

import re
import subprocess

import pytest
from support.memory import peak
from support.world import result

from sluice.errors import SluiceError
from sluice.monitor.status import statuses
from sluice.state.condition import ReplicationCondition
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

MEGABYTE = 1024 * 1024
# Both rows of one change are 400 MB of hexadecimal digits, and pass through several hands.
MEMORY = 2560 * MEGABYTE
DDL = "CREATE TABLE t (id int PRIMARY KEY, v bytea, n int); ALTER TABLE t ALTER v SET STORAGE EXTERNAL"
VALUE = "(SELECT decode(repeat(md5(%s::text), 6553600), 'hex'))"


def sums(world, name):
    return world.reader(name).execute("SELECT id, length(v), md5(v), n FROM t ORDER BY id").fetchall()


@pytest.mark.full
def test_values_of_100_megabytes_are_inserted_changed_moved_and_deleted(build):
    world = build(DDL, ["public.t"], source={"max_row_mb": 1000})
    world.master.execute(f"INSERT INTO t VALUES (1, {VALUE % 1}, 1)".encode())
    world.master.execute("UPDATE t SET id = 9, n = 2")
    delivered(world, 2)
    assert sums(world, "zurich") == sums(world, "master") != []
    world.master.execute("DELETE FROM t")
    delivered(world, 1)
    assert sums(world, "zurich") == []


# What a server says of a COPY that prints a row beyond 1 GB, without such a row.
TOO_LONG = """
CREATE FUNCTION printed(image text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
    IF image LIKE '%long%' AND current_query() LIKE '%TO STDOUT%' THEN
        RAISE program_limit_exceeded USING MESSAGE = 'string buffer exceeds maximum allowed length';
    END IF;
    RETURN image; END $$;
ALTER TABLE repl_queue RENAME TO kept;
CREATE VIEW repl.repl_queue AS
SELECT ctid, repl_key, trans_key, relid, db_action, printed(content) AS content, oldcontent FROM kept
"""


def test_a_change_that_no_server_prints_is_named_with_what_to_type(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    (key,) = world.queued()
    world.master.execute(r"INSERT INTO t VALUES (2, E'\x01 long')")
    ((xid, long),) = world.master.execute("SELECT trans_key, repl_key FROM repl_queue WHERE repl_key <> %s", [key])
    world.master.execute("INSERT INTO t VALUES (3, 'abcdefghij')")
    world.master.execute(TOO_LONG)
    with pytest.raises(SluiceError, match=rf"SLC-068: the change {long} of public\.t in transaction {xid} ") as stopped:
        world.publish()
    assert f'DELETE FROM "repl"."repl_queue" WHERE repl_key = {long}' in stopped.value.hint
    assert world.log() == []
    world.master.execute("DROP VIEW repl_queue; ALTER TABLE kept RENAME TO repl_queue")
    world.master.execute(stopped.value.hint.split("`")[1])
    assert world.publish()["changes"] == 2


# A bit is printed as a character: a value of 130 MB is a text of 1 GB. Two are too long together, the third alone.
LONG, SHORT, LONGER = (" || ".join(["1::bit(40000000)"] * times) for times in (26, 1, 28))
# Statements, and whether what they change arrives.
BEYOND = {
    f"UPDATE t SET v = {SHORT} WHERE id = 1": True,
    "UPDATE t SET v = B'1' WHERE id = 2": True,
    f"INSERT INTO t VALUES (3, {LONGER})": False,
    "UPDATE t SET id = 4, v = B'1' WHERE id = 3": False,
    f"UPDATE t SET v = {LONGER} WHERE id = 4": False,
    "DELETE FROM t WHERE id = 4": False,
}


@pytest.mark.full
def test_a_change_beyond_1_gigabyte_fails_no_statement_and_is_not_lost_in_silence(build):
    filled = f"INSERT INTO t VALUES (1, {LONG}), (2, {LONGER})"
    world = build(f"CREATE TABLE t (id int PRIMARY KEY, v varbit); {filled}", ["public.t"], source={"max_row_mb": 1000})
    for change, arrives in BEYOND.items():
        assert world.master.execute(change.encode()).rowcount == 1, change
        world.publish()
        (told,) = statuses(world.context)
        assert told.condition is (ReplicationCondition.WELL if arrives else ReplicationCondition.INCOMPLETE), change
        if arrives:
            world.drain()
            rows = "SELECT id, length(v) FROM t ORDER BY id"
            assert world.reader("zurich").execute(rows).fetchall() == world.master.execute(rows).fetchall(), change


# A number prints as 130,000 digits and takes a few bytes: rows of 4 kB would be 12 MB of the queue.
SMALL = "(SELECT array_agg((10::numeric ^ 130000)) FROM generate_series(1, %s))"


@pytest.mark.parametrize("capture", ["triggers", "log"])
def test_a_row_with_more_text_than_is_allowed_has_its_table_left_out_and_no_other_waits(build, capture):
    ddl = "CREATE TABLE t (id int PRIMARY KEY, v numeric[]); CREATE TABLE other (id int PRIMARY KEY)"
    settings = {"capture": capture, "max_row_mb": 1}
    world = build(ddl, ["public.t", "public.other"], slaves=["zurich", "lugano"], source=settings)
    without = {"tables": {"public.t": {"exclude": True}}}
    world.configure(lambda settings: settings["slaves"]["lugano"].update(without))
    world.master.execute(f"INSERT INTO t VALUES (1, {SMALL % 7})".encode())
    world.catch_up()
    world.master.execute(f"BEGIN; UPDATE t SET v = {SMALL % 9}; INSERT INTO other VALUES (1); COMMIT".encode())
    world.master.execute("INSERT INTO t VALUES (2); INSERT INTO other VALUES (2)")
    if capture == "triggers":
        long = "SELECT count(*) FROM repl_queue WHERE octet_length(coalesce(content, oldcontent)) > 1000000"
        assert world.master.execute(long).fetchone() == (0,)
    assert world.publish()["transactions"] == 2
    for slave, kept in (("zurich", [(1,)]), ("lugano", [])):
        assert world.status(slave) is Status.NORMAL
        world.drain(slave)
        assert world.reader(slave).execute("SELECT id FROM other").fetchall() == [(1,), (2,)]
        assert world.reader(slave).execute("SELECT id FROM t").fetchall() == kept
    told = {one.slave: one for one in statuses(world.context)}
    assert (told["zurich"].condition, told["lugano"].condition) == (
        ReplicationCondition.INCOMPLETE,
        ReplicationCondition.WELL,
    )
    assert re.search("public.t is left out .*more text than the 1 MB that `max_row_mb`", told["zurich"].why)


def delivered(world, changes):
    for name, *arguments in (["publish"], ["drain", "--slave", "zurich"]):
        with world.start(name, *arguments, "--once") as job:
            most = peak(job)
            out, errors = job.communicate()
        done = subprocess.CompletedProcess(job.args, job.returncode, out, errors)
        assert result(done)["changes"] == changes
        assert most < MEMORY
