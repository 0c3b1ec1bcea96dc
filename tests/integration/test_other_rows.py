"""Tables that get other names, or partitions, between the moment of a snapshot and that at which it is read: the server
takes names and partitions as they are by then (R5, R10)."""

from __future__ import annotations

from contextlib import suppress

import pytest
from support.detaching import left_pending
from support.updating import SOURCE, blocks_here, compare_here, load_here

from sluice.errors import SluiceError, TransientError
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.dump import ONLINE
from sluice.state.replication import ReplicationEvent
from sluice.store import replications

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE SCHEMA one;
CREATE SCHEMA two;
CREATE TABLE one.t (id int PRIMARY KEY, note text);
CREATE TABLE two.t (id int PRIMARY KEY, note text);
INSERT INTO one.t SELECT 2 * g, 'one' FROM generate_series(1, 700) AS g;
INSERT INTO two.t SELECT 2 * g + 1, 'two' FROM generate_series(1, 900) AS g;
"""
SWAP = """
BEGIN;
ALTER TABLE one.t RENAME TO x;
ALTER TABLE one.x SET SCHEMA public;
ALTER TABLE two.t SET SCHEMA one;
ALTER TABLE x SET SCHEMA two;
ALTER TABLE two.x RENAME TO t;
COMMIT
"""
SWAP_SCHEMAS = "ALTER SCHEMA one RENAME TO x; ALTER SCHEMA two RENAME TO one; ALTER SCHEMA x RENAME TO two"
PARTED = """
CREATE TABLE parted (id int PRIMARY KEY, note text) PARTITION BY RANGE (id);
CREATE TABLE first PARTITION OF parted FOR VALUES FROM (0) TO (1000);
CREATE TABLE later (id int PRIMARY KEY, note text);
INSERT INTO parted SELECT g, 'first' FROM generate_series(1, 500) AS g;
INSERT INTO later SELECT g, 'later' FROM generate_series(1001, 1400) AS g;
"""
ATTACH = (
    "DELETE FROM later WHERE id % 2 = 0; ALTER TABLE parted ATTACH PARTITION later FOR VALUES FROM (1000) TO (2000)"
)


@pytest.fixture
def world(updating):
    def one(ddl, tables):
        made = updating(ddl, tables, {}, source={"blocks": {"rows": 300, "patience_s": 30}})
        made.configure(lambda settings: settings.update(bulk_tasks=1))
        replications.record(made.context.store, made.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
        return made

    return one


def in_blocks(world, happens, *, at):
    """A load in blocks; something happens between a point and the reading of its block. The error of each block."""
    errors = []

    def load(job):
        if len(errors) == at:
            happens()
        found = blocks_here(job)
        errors.extend(one.error and one.error.code for one in found)
        return found

    world.inhibit("zurich")
    world.dump("zurich", mode=ONLINE)
    world.release("zurich")
    with world.running("zurich"), suppress(SluiceError):
        load_online(world.context, SOURCE, ["zurich"], load)
    return errors


@pytest.mark.full
@pytest.mark.parametrize("at", [1, 4])
def test_a_block_is_not_read_of_the_table_that_has_got_its_name(world, at):
    """One range is in in part, or one as a whole, when two tables swap names: each goes on as the table that it was."""
    made = world(DDL, ["one.t", "two.t"])
    errors = in_blocks(made, lambda: made.master.execute(SWAP), at=at)
    assert (errors[: at + 1], any(errors[at + 1 :])) == ([None] * at + [95], False)
    assert made.verify("zurich", initial=True) == {"zurich": 0}
    assert made.rows("zurich", "one.t") == made.rows("master", "one.t")


@pytest.mark.full
def test_rows_that_a_partition_lost_before_it_was_attached_do_not_come_with_a_block(world):
    made = world(PARTED, ["public.parted"])
    assert in_blocks(made, lambda: made.master.execute(ATTACH), at=1) == [None, 95, None, None]
    assert made.verify("zurich", initial=True) == {"zurich": 0}


@pytest.mark.full
def test_a_dump_is_not_read_of_the_schema_that_has_got_its_name(world):
    made = world(DDL, ["one.t", "two.t"])

    def swapped(job):
        made.master.execute(SWAP_SCHEMAS)
        return load_here(job)

    made.inhibit("zurich")
    with pytest.raises(TransientError, match=r"SLC-095: one\.t was .* another table got its name"):
        made.dump("zurich", load=swapped)
    made.dump("zurich")
    made.release("zurich")
    assert made.verify("zurich", initial=True) == {"zurich": 0}
    assert made.rows("zurich", "one.t") == made.rows("master", "one.t")


@pytest.mark.full
@pytest.mark.parametrize(
    ("ddl", "tables", "happens"), [(DDL, ["one.t", "two.t"], SWAP), (PARTED, ["public.parted"], ATTACH)]
)
def test_other_rows_of_a_name_after_the_point_are_no_difference(world, ddl, tables, happens):
    made = world(ddl, tables)
    made.update("zurich")

    happening = [happens]

    def too_late(jobs):
        if happening:
            made.master.execute(happening.pop())
        return compare_here(jobs)

    with pytest.raises(TransientError, match=r"SLC-095: .* was rewritten or truncated"):
        made.verify("zurich", compare=too_late, initial=True)
    assert made.verify("zurich", initial=True) == {"zurich": 0}


@pytest.mark.full
def test_a_partition_that_is_being_detached_is_no_difference(world):
    """The server hides its rows already, which are the stream's until it is detached."""
    made = world(PARTED + ATTACH, ["public.parted"])
    made.update("zurich")
    reading, detaching = made.session(), made.session()
    reading.execute("BEGIN; SELECT FROM parted")
    left_pending(detaching, made.master, "parted", "later")
    with pytest.raises(TransientError, match=r"SLC-095: .* was rewritten or truncated"):
        made.verify("zurich", initial=True)
    reading.execute("COMMIT")
    made.master.execute("ALTER TABLE parted DETACH PARTITION later FINALIZE")
    assert made.verify("zurich", initial=True) == {"zurich": 0}
    assert made.rows("zurich", "public.parted").total() == 500
