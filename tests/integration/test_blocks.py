"""A slave is loaded block by block while its stream goes on, and is exact at every moment of it (R10)."""

from __future__ import annotations

import random
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from copy import deepcopy

import pytest
from support.updating import background, blocks_here, load_here
from support.waiting import until
from support.world import SOURCE

from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.cancel import cancel
from sluice.initial_update.dump import dump
from sluice.initial_update.release import abandon
from sluice.model.names import TableName
from sluice.spark.load_tasks import load_blocks
from sluice.state.dispatcher import Hold
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import blocked, replications, updates

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE keyed (id int PRIMARY KEY, n int NOT NULL DEFAULT 0, u int UNIQUE, note text);
CREATE TABLE named (
    kind char(3), code varchar(40) COLLATE "C", day date,
    parent int REFERENCES keyed ON UPDATE CASCADE ON DELETE CASCADE, score float8, PRIMARY KEY (kind, day, code))
PARTITION BY RANGE (day);
CREATE TABLE named_first PARTITION OF named FOR VALUES FROM (MINVALUE) TO ('2024-01-04');
CREATE TABLE named_rest PARTITION OF named FOR VALUES FROM ('2024-01-04') TO (MAXVALUE);
CREATE TABLE heap (a int, b text);
CREATE SEQUENCE fresh START 10000;
INSERT INTO keyed SELECT g, 0, g, repeat('x', 700) FROM generate_series(1, 3000) AS g;
INSERT INTO named
SELECT (ARRAY['a', 'B', 'ä', 'Z', E'\\'', E'\\\\'])[1 + g % 6], 'c' || g, date '2024-01-01' + g % 9, g, g / 7.0
FROM generate_series(1, 2000) AS g;
INSERT INTO heap SELECT g % 7, 'b' || g % 3 FROM generate_series(1, 300) AS g;
"""
TABLES = {"public.keyed": {}, "public.named": {}, "public.heap": {"load_in_blocks": False}}


def writes(session, seed):
    """Updates, deletes and inserts of rows that are loaded and rows that are not; keys that move over what is loaded.

    Two of different seeds keep to rows of their own.
    """
    chance = random.Random(seed)

    def once():
        some, other, moved = (2 * chance.randrange(1, 1500) + seed % 2 for _ in range(3))
        execute = session.execute
        with session.transaction(force_rollback=chance.random() < 0.1):
            execute("UPDATE keyed SET n = n + 1, u = -u WHERE id IN (%s, %s)", [some, other])
            free = "AND NOT EXISTS (SELECT FROM keyed AS there WHERE there.id = keyed.id"
            execute(f"UPDATE keyed SET id = id + 5000 WHERE id = %s {free} + 5000)", [moved])
            execute(
                f"UPDATE keyed SET id = id - 5000 WHERE id > 5000 AND id %% 6 = %s {free} - 5000)", [3 * (seed % 2)]
            )
            execute("DELETE FROM keyed WHERE id = %s", [some])
            execute("INSERT INTO keyed VALUES (%s, 1, nextval('fresh'), 'again')", [some])
            kind = chance.choice("aBäZ")
            execute("UPDATE named SET kind = %s, code = code || '.', score = -score WHERE parent = %s", [kind, other])
            execute("DELETE FROM named WHERE parent = %s", [moved])
            execute("INSERT INTO heap VALUES (%s, NULL)", [some % 7])

    return once


@pytest.fixture
def world(updating):
    made = updating(DDL, deepcopy(TABLES), source={"blocks": {"rows": 600, "patience_s": 30}})
    made.configure(lambda settings: settings.update(bulk_tasks=2))
    return made


def larger(settings):
    """Blocks of which it takes a few; one slave gets some rows of a table alone, and calls a column otherwise."""
    settings["sources"][SOURCE]["blocks"]["rows"] = 1600
    settings["slaves"]["geneva"]["tables"] = {"public.named": {"where": "score > 0", "columns": {"code": "called"}}}


def begun(world, *slaves, resume=False):
    """An update in blocks whose stream goes on; none of its blocks is in."""
    slaves = slaves or world.slaves
    world.inhibit(*slaves, resume=resume)
    assert dump(world.context, SOURCE, slaves, load_here, mode="online", resume=resume)["failed"] == {}
    world.release(*slaves)


def loaded(world, *slaves, load=blocks_here):
    return load_online(world.context, SOURCE, slaves or world.slaves, load)["rows"]


@pytest.mark.full
def test_slaves_are_loaded_by_spark_tasks_under_constant_writes(world, spark):
    world.configure(larger)
    with background(writes(world.session(), 1), writes(world.session(), 2)):
        begun(world)
        assert world.rows("zurich", "public.keyed").total() == 0
        with world.running():
            rows = loaded(world, load=load_blocks)
        assert all(count > 1000 for count in rows.values())
        assert 0 < world.rows("geneva", "public.named").total() < world.rows("zurich", "public.named").total()
        parts = world.reader("zurich").execute('SELECT "table", count(*) FROM sluice_ranges GROUP BY 1 ORDER BY 1')
        assert parts.fetchall() == [("keyed", 2), ("named", 1)]
        assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
        now = world.standing("zurich")
        assert (now.status, now.tolerated) == (Status.NORMAL, 0)
    world.catch_up()
    assert {slave for slave, _ in world.differences()} <= {"geneva"}


class Broken(Exception):
    """What a job breaks off with."""


def test_what_breaks_off_goes_on_where_it_was_and_no_block_is_put_in_beside_its_point(world, monkeypatch):
    done, refused = [], []

    def noted(job):
        found = blocks_here(job)
        done.extend((one.table, one.reached) for one, told in zip(job.ranges, found, strict=True) if not told.error)
        refused.extend(told.error.code for told in found if told.error)
        return found

    def breaks_off(job):
        noted(job)
        raise Broken

    def is_killed(job):
        def killed(point):
            raise Broken

        with monkeypatch.context() as patch:
            patch.setattr("sluice.vendors.postgresql.load.blocks.crash_if_asked", killed)
            blocks_here(job)

    def drain_does_not_wait(job):
        """And rows of the block change in between."""
        world.reader("control").execute("UPDATE barrier SET passed = true")
        world.master.execute("DELETE FROM keyed WHERE id BETWEEN 700 AND 1300; DELETE FROM named WHERE parent < 9")
        until(lambda: world.position("zurich").ordinal > job.at.ordinal)
        return noted(job)

    def others_end_what_they_began(job):
        late.execute("COMMIT")
        world.master.execute("ALTER TABLE keyed ADD extra int DEFAULT 7")
        return noted(job)

    late = world.session()
    late.execute("BEGIN; UPDATE keyed SET n = -1 WHERE id BETWEEN 1310 AND 1390; DELETE FROM keyed WHERE id = 1400")
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    begun(world, "zurich")
    rounds = iter([breaks_off, is_killed, drain_does_not_wait, others_end_what_they_began])
    with world.running("zurich"):
        for _ in range(2):
            with pytest.raises(Broken):
                loaded(world, "zurich", load=lambda job: next(rounds)(job))
        loaded(world, "zurich", load=lambda job: next(rounds, noted)(job))
    assert refused == [92, 92]
    assert len(done) == len(set(done)), "a block was loaded twice"
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    assert world.rows("zurich", "public.keyed") == world.rows("master", "public.keyed")


@pytest.mark.full
def test_a_load_waits_while_its_slave_stands_and_is_left_alone_when_it_was_given_up(world):
    begun(world)
    store, geneva = world.context.store, world.pair("geneva")
    replications.shut(store, world.pair("zurich"), Hold.INITIAL, "a test")
    asked, told = [], []

    def noted(job):
        asked.append(job.slave.slave)
        told.append(world.standing("zurich"))
        if len(asked) == 2:
            replications.record(store, geneva, ReplicationEvent.CANCEL)
            replications.lift(store, world.pair("zurich"), Hold.INITIAL, "a test")
        return blocks_here(job)

    with world.running():
        loaded(world, load=noted)
    assert asked[:3] == ["geneva", "geneva", "zurich"]
    assert set(asked[2:]) == {"zurich"}
    assert re.fullmatch(r"[1-9][0-9,]* rows in blocks", told[-1].loaded)
    assert told[-1].loading.rows_per_s > 0
    assert told[-1].loading.rows > 600, "it is told of who was given up"
    assert world.standing("zurich").loaded == ""
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    assert world.status("geneva") is Status.INCONSISTENT


def test_what_cannot_come_in_blocks_is_refused_and_keeps_what_it_has(world, tmp_path):
    world.update("zurich")
    replications.record(world.context.store, world.pair("zurich"), ReplicationEvent.FAIL)

    def strict(settings):
        settings["sources"][SOURCE]["tables"]["public.heap"]["load_in_blocks"] = True
        settings["slaves"]["zurich"]["tables"] = {"public.keyed": {"on_missing": "stop"}}
        settings["slaves"]["geneva"] = {"connection": "geneva", "vendor": "parquet"}
        settings["replications"][1]["statements"] = False

    world.infos["geneva"] = ConnectionInfo("fs", extra={"path": str(tmp_path)})
    world.configure(strict)
    world.inhibit()
    with pytest.raises(SluiceError, match=r"SLC-080") as refused:
        dump(world.context, SOURCE, world.slaves, load_here, mode="online")
    assert "SLC-099: slave zurich cannot get in blocks: " in refused.value.fact
    assert "public.keyed (`searchable`, `on_missing`" in refused.value.fact
    assert "public.heap (it has no primary key" in refused.value.fact
    assert re.search(r"SLC-099: .*in blocks", refused.value.fact)
    assert world.rows("zurich", "public.keyed").total() == 3000
    with pytest.raises(SluiceError, match=r"SLC-914(.|\n)*no table was touched"):
        world.inhibit(mode="online", store=True)


@pytest.mark.full
def test_a_key_that_is_altered_meanwhile_ends_the_load(world):
    begun(world, "zurich")
    world.master.execute('ALTER TABLE named ALTER code TYPE varchar(40) COLLATE "POSIX"')
    with world.running("zurich"), pytest.raises(SluiceError, match=r"SLC-079: .*public\.named"):
        loaded(world, "zurich")
    assert world.status("zurich") is Status.INCONSISTENT


def reached(world):
    """How far each range of zurich is."""
    return world.reader("zurich").execute("SELECT number, reached, rows FROM sluice_ranges ORDER BY number").fetchall()


def broken_off(world):
    """An update of zurich that is over after a round of blocks."""

    def breaks_off(job):
        blocks_here(job)
        raise Broken

    with pytest.raises(Broken):
        loaded(world, "zurich", load=breaks_off)
    before = reached(world)
    assert any(rows for *_, rows in before)
    return before


def kept_from(world):
    """The position from which the store has the log kept for a slave."""
    return replications.get(world.context.store, world.pair("zurich")).position


@pytest.mark.full
def test_an_update_that_was_given_up_goes_on_with_the_blocks_that_are_left(world):
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    begun(world, "zurich")
    with background(writes(world.session(), 1)), world.running("zurich"):
        there = broken_off(world)
        abandon(world.context, SOURCE, ["zurich"])
        assert world.status("zurich") is Status.INCONSISTENT
        assert '"mode": "online", "resume": true' in world.standing("zurich").why
        begun(world, "zurich", resume=True)
        assert reached(world) == there
        there = broken_off(world)
        assert cancel(world.context, SOURCE, ["zurich"]).cancelled == ["zurich"]
        assert '"mode": "online", "resume": true' in world.standing("zurich").why
        left = world.position("zurich")
        world.inhibit("zurich")
        abandon(world.context, SOURCE, ["zurich"])
        assert kept_from(world) > left, "another update, which ended early, moved it"
        world.inhibit("zurich", resume=True)
        assert dump(world.context, SOURCE, ["zurich"], load_here, mode="online", resume=True)["failed"] == {}
        assert kept_from(world) == left
        world.release("zurich")
        assert reached(world) == there
        loaded(world, "zurich")
        assert world.verify("zurich", initial=True) == {"zurich": 0}
    world.publish()
    world.drain("zurich")
    assert [world.rows("zurich", name) == world.rows("master", name) for name in TABLES] == [True] * 3


@pytest.mark.full
def test_a_block_that_waits_for_its_table_is_ended_when_its_update_is_cancelled(world, monkeypatch):
    monkeypatch.setattr("sluice.vendors.postgresql.load.blocks._LOCK_WAIT", "120s")
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    begun(world, "zurich")
    with background(world.publish), ThreadPoolExecutor(1) as pool, closing(world.session("zurich")) as somebody:
        somebody.execute("BEGIN; LOCK TABLE keyed, named IN SHARE MODE")
        with background(lambda: world.drain("zurich")):
            loading = pool.submit(loaded, world, "zurich")
            until(lambda: world.waits("LOCK TABLE%ROW EXCLUSIVE%", "zurich"))
        with pytest.raises(TransientError, match="SLC-036"):
            world.drain("zurich")
        assert world.waits("LOCK TABLE%ROW EXCLUSIVE%", "zurich"), "a drain ended a load that goes on beside it"
        assert cancel(world.context, SOURCE, ["zurich"]).cancelled == ["zurich"]
        assert not world.waits("LOCK TABLE%ROW EXCLUSIVE%", "zurich")
        somebody.close()
        loading.result(60)
    assert not any(rows for *_, rows in reached(world))
    assert [world.rows("zurich", name).total() for name in ("public.keyed", "public.named")] == [0, 0]


def emptied_by_another(world):
    def breaks_off(job):
        raise Broken

    world.inhibit("zurich")
    with pytest.raises(Broken):
        world.dump("zurich", load=breaks_off)
    abandon(world.context, SOURCE, ["zurich"])


def seen_otherwise(world):
    world.configure(lambda plain: plain["slaves"]["zurich"].update(tables={"public.keyed": {"where": "n < 1000000"}}))


def changes_lost(world):
    updates.forget(world.context.store, SOURCE)


def left_out(world):
    blocked.skip(world.context.store, world.pair("zurich"), TableName("public", "keyed"), "eva")


@pytest.mark.full
def test_what_cannot_go_on_begins_anew(world):
    begun(world, "zurich")
    for happens in (emptied_by_another, changes_lost, left_out, seen_otherwise):
        with world.running("zurich"):
            broken_off(world)
            abandon(world.context, SOURCE, ["zurich"])
        happens(world)
        begun(world, "zurich", resume=True)
        assert not any(rows for *_, rows in reached(world)), happens
        assert world.rows("zurich", "public.keyed").total() == 0, happens
    with world.running("zurich"):
        loaded(world, "zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
