"""Rows between two keys are filled anew, in blocks; all others stay, and each change arrives (R10)."""

from __future__ import annotations

import random
import re

import pytest
from support.updating import background, blocks_here
from support.world import SOURCE

from sluice.errors import SluiceError
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.dump import ONLINE, SNAPSHOT
from sluice.initial_update.release import abandon
from sluice.model.names import TableName
from sluice.model.row_conflict import RejectedChange
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import blocked, rejected_changes, replications, updates

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE keyed (id int PRIMARY KEY, n int NOT NULL DEFAULT 0, u int UNIQUE, note json);
CREATE TABLE named (note text, code varchar(9) COLLATE "C", day date, PRIMARY KEY (day, code));
CREATE TABLE heap (a int);
INSERT INTO keyed SELECT g, 0, g, '[1, 2]' FROM generate_series(1, 3000) AS g;
INSERT INTO named SELECT 'n' || g, 'c' || g % 200, date '2024-01-01' + g / 200 FROM generate_series(0, 1999) AS g;
"""
KEYED, NAMED = (TableName("public", name) for name in ("keyed", "named"))
KEYS = ["public.keyed: 1000 .. 2000", "public.named: 2024-01-03, c5 .. '2024-01-05'"]
# Within the ranges rows are gone, are others, and are there that the master has not.
DAMAGE = """
SET session_replication_role = replica;
DELETE FROM {0}.keyed WHERE id BETWEEN 1000 AND 1100 OR id BETWEEN 1960 AND 2000;
UPDATE {0}.keyed SET n = -n - 7, note = '[1,2]' WHERE id BETWEEN 1500 AND 1520;
INSERT INTO {0}.keyed SELECT g FROM generate_series(1200, 1300) AS g ON CONFLICT DO NOTHING;
DELETE FROM {0}.named WHERE day IN ('2024-01-04', '2024-01-05');
INSERT INTO {0}.named VALUES ('odd', 'zz', '2024-01-05'), ('odd', 'c5+', '2024-01-03');
"""


@pytest.fixture
def world(updating):
    """Two slaves that are NORMAL; rows of one have something of their own."""
    tables = {"public.keyed": {}, "public.named": {}, "public.heap": {"load_in_blocks": False}}
    world = updating(DDL, tables, source={"blocks": {"rows": 400, "patience_s": 30}})
    world.update()
    world.end_update()
    world.reader("zurich").execute("ALTER TABLE keyed ADD own int; UPDATE keyed SET own = id")
    world.master.execute("DELETE FROM keyed WHERE id BETWEEN 1200 AND 1300")
    world.catch_up()
    return world


def damage(world):
    for slave, schema in (("zurich", "public"), ("geneva", "branch")):
        world.session(slave).execute(DAMAGE.format(schema))


def writes(session):
    """Rows of the ranges and others come, go, change, and get other keys."""
    chance = random.Random(1)

    def once():
        some, other = chance.randrange(1, 3001), chance.randrange(1, 3001)
        with session.transaction():
            session.execute("UPDATE keyed SET n = n + 1, u = -u WHERE id IN (%s, %s)", [some, other])
            session.execute("DELETE FROM keyed WHERE id = %s", [other])
            session.execute("UPDATE keyed SET id = %s WHERE id = %s", [other, some])
            session.execute("INSERT INTO keyed (id) VALUES (%s) ON CONFLICT DO NOTHING", [some])
            session.execute("UPDATE named SET day = day + 1, code = code || '+' WHERE code = %s", [f"c{some % 200}"])
            session.execute("INSERT INTO heap VALUES (%s)", [some])

    return once


def begun(world, *slaves, keys=KEYS, resume=False):
    """An update of keys whose stream goes on; none of its blocks is in."""
    world.inhibit(*slaves, keys=keys, resume=resume)
    assert world.dump(*slaves, mode=ONLINE, resume=resume)["failed"] == {}
    world.release(*slaves)


def loaded(world, *slaves, load=blocks_here):
    return load_online(world.context, SOURCE, slaves or world.slaves, load)["rows"]


@pytest.mark.full
def test_rows_between_two_keys_become_the_masters_and_others_are_not_touched(world):
    """As they are written meanwhile."""
    damage(world)
    zurich = world.reader("zurich")
    before = dict(zurich.execute("SELECT id, ctid::text FROM keyed").fetchall())
    begun(world)
    with world.running():
        rows = loaded(world)
    assert rows["zurich"] == 101 + 41 + 21 + 101 + 400 + 2, "those that were odd"
    after = dict(zurich.execute("SELECT id, ctid::text FROM keyed").fetchall())
    assert all(after[key] == before[key] for key in after if key < 1000 or 1100 < key < 1500 or key > 2000)
    assert world.verify(initial=True, tables=(KEYED, NAMED)) == {"zurich": 0, "geneva": 0}
    assert [world.standing(slave).status for slave in world.slaves] == [Status.NORMAL] * 2
    assert zurich.execute("SELECT count(*) FROM keyed WHERE own = id AND id BETWEEN 1500 AND 1520").fetchone() == (21,)
    damage(world)
    with background(writes(world.session())), world.running():
        begun(world, keys=["public.keyed: ..", "public.named: 2024-01-03 .."])
        loaded(world)
    assert world.verify(initial=True, tables=(KEYED, NAMED)) == {"zurich": 0, "geneva": 0}
    world.catch_up()
    assert {slave for slave, _ in world.differences()} <= {"zurich"}, "it has a column more"


@pytest.mark.full
def test_what_differs_beside_the_range_is_found_and_the_slave_not_taken_for_its_master(world):
    world.session("zurich").execute("DELETE FROM keyed WHERE id IN (5, 1500)")
    begun(world, "zurich", keys=["public.keyed: 1000 .. 2000"])
    with world.running("zurich"):
        loaded(world, "zurich")
    with pytest.raises(
        SluiceError,
        match=r"SLC-090: .*public.keyed on zurich: 1 missing, 0 extra, 0 changed; first .* missing \(5\)",
    ):
        world.verify("zurich", initial=True, tables=(KEYED,))
    assert world.status("zurich") is Status.INCONSISTENT
    begun(world, "zurich", keys=["public.keyed: .. 10"])
    with world.running("zurich"):
        loaded(world, "zurich")
    assert world.verify("zurich", initial=True, tables=(KEYED,)) == {"zurich": 0}
    assert world.status("zurich") is Status.NORMAL


class Broken(Exception):
    """What a job breaks off with."""


def test_an_update_of_keys_that_was_given_up_goes_on_or_begins_anew(world):
    def breaks_off(job):
        blocks_here(job)
        raise Broken

    def ranges():
        told = "SELECT number, reached, rows, ended FROM sluice_ranges ORDER BY number"
        return world.reader("zurich").execute(told).fetchall()

    damage(world)
    begun(world, "zurich")
    with world.running("zurich"), pytest.raises(Broken):
        loaded(world, "zurich", load=breaks_off)
    abandon(world.context, SOURCE, ["zurich"])
    left = ranges()
    assert any(reached for _, reached, *_ in left)
    begun(world, "zurich", resume=True)
    assert ranges() == left
    abandon(world.context, SOURCE, ["zurich"])
    with pytest.raises(SluiceError, match=r"SLC-196: .*it lacks public.keyed, public.named"):
        world.inhibit("zurich", keys=KEYS[:1])
    kept = RejectedChange(None, None, "X", 1, 1, ["1"], None)
    rejected_changes.keep(world.context.store, world.pair("zurich"), [kept])
    # Blocks that are in may lack it.
    begun(world, "zurich", resume=True)
    assert not any(reached for _, reached, *_ in ranges())
    with world.running("zurich"), pytest.raises(Broken):
        loaded(world, "zurich", load=breaks_off)
    abandon(world.context, SOURCE, ["zurich"])
    begun(world, "zurich")
    assert not any(reached for _, reached, *_ in ranges())
    with world.running("zurich"):
        loaded(world, "zurich")
    assert world.verify("zurich", initial=True, tables=(KEYED, NAMED)) == {"zurich": 0}


REFUSED = {
    "SLC-640: public.keyed: 5 cannot be filled": ["public.keyed: 5"],
    "SLC-040: public.other": ["public.other: 1 .. 2"],
    r"SLC-640: .*invalid input syntax for type integer": ["public.keyed: 1 .. UA"],
    r"SLC-640: .*integer": ["public.keyed: 1 .. 99999999999"],
    r"SLC-640: .*5 is before 17": ["public.keyed: 17 .. 5"],
    r"SLC-640: .*a, b are more values": ["public.keyed: 1 .. (a, b)"],
    r"SLC-640: .*2024-01-01 is before 2024-01-02": ["public.named: 2024-01-02, a .. 2024-01-01"],
    r"SLC-640: .*date.*HINT: .*values of its key: day, code": ["public.named: '1''); DROP TABLE keyed; --' .. "],
    r"SLC-099: .*public.heap \(it has no primary key": ["public.heap: .."],
}


@pytest.mark.full
def test_what_is_no_range_of_keys_is_refused_and_nothing_is_changed(world):
    for error, keys in REFUSED.items():
        with pytest.raises(SluiceError) as refused:
            world.inhibit(keys=keys)
        assert re.match(error, str(refused.value).replace("\n", " ")), refused.value
    with pytest.raises(SluiceError, match=r"SLC-640: .*the mode is snapshot"):
        world.inhibit(keys=KEYS, mode=SNAPSHOT)
    assert {world.status(slave) for slave in world.slaves} == {Status.NORMAL}


@pytest.mark.full
def test_keys_are_replaced_only_where_nothing_else_is_lacking_and_they_are_sorted_alike(world):
    store, zurich = world.context.store, world.pair("zurich")
    with pytest.raises(SluiceError, match=r"SLC-640: .*`tables` are named as well"):
        world.inhibit("zurich", tables=[KEYED], keys=KEYS)
    blocked.skip(store, zurich, KEYED, "eva")
    with pytest.raises(SluiceError, match=r"SLC-196: slave zurich is NORMAL: .*it lacks public.keyed"):
        world.inhibit("zurich", keys=KEYS)
    assert world.status("zurich") is Status.NORMAL
    world.inhibit("geneva", keys=KEYS)
    with pytest.raises(SluiceError, match=r"SLC-914: .*for some keys alone.*in blocks"):
        world.dump("geneva")
    abandon(world.context, SOURCE, ["geneva"])
    world.reader("geneva").execute("ALTER TABLE branch.keyed ALTER id TYPE numeric")
    with pytest.raises(SluiceError, match=r"SLC-099: .*public.keyed \(its keys are not known to be sorted"):
        world.inhibit("geneva", keys=KEYS)
    world.reader("geneva").execute("ALTER TABLE branch.keyed ALTER id TYPE int")
    world.inhibit("geneva", tables=[KEYED, NAMED])
    abandon(world.context, SOURCE, ["geneva"])
    with pytest.raises(SluiceError, match=r"SLC-196: .*it lacks public.keyed, public.named"):
        world.inhibit("geneva", keys=KEYS)
    updates.forget(store, SOURCE)
    replications.record(store, zurich, ReplicationEvent.BREAK)
    with pytest.raises(SluiceError, match="SLC-196"):
        world.inhibit("zurich", keys=KEYS)


@pytest.mark.full
def test_changes_that_were_lost_meanwhile_end_an_update_of_keys(world):
    begun(world, "zurich")
    updates.forget(world.context.store, SOURCE)
    with world.running("zurich"), pytest.raises(SluiceError, match=r"SLC-079: .*changes were lost"):
        loaded(world, "zurich")
    assert world.status("zurich") is Status.INCONSISTENT
