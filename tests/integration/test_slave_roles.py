"""Slaves whose role is no superuser: they are filled again and again, and follow, however their tables refer."""

from __future__ import annotations

import itertools
import os
import random

import pytest
from support import traffic
from support.carrying import Carried
from support.updating import background, blocks_here
from support.world import SOURCE

from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.dump import EXTERNAL, ONLINE
from sluice.model.names import TableName
from sluice.monitor.check import findings
from sluice.runtime.postgres_dirs import packaged_binaries
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import replications

pytestmark = [pytest.mark.postgres]

# A circle, tables that refer to themselves, keys that act on the master, and keys of two columns.
DDL = """
CREATE TABLE region (id int PRIMARY KEY, name text, capital int);
CREATE TABLE city (
    id int PRIMARY KEY, region int NOT NULL REFERENCES region ON UPDATE CASCADE ON DELETE CASCADE,
    above int REFERENCES city ON DELETE SET NULL, name text, UNIQUE (region, id));
ALTER TABLE region ADD FOREIGN KEY (id, capital) REFERENCES city (region, id) ON DELETE SET NULL (capital)
    DEFERRABLE INITIALLY DEFERRED;
CREATE TABLE visit (city int REFERENCES city ON DELETE CASCADE, note text);
INSERT INTO region SELECT g, 'r' || g FROM generate_series(1, 40) AS g;
INSERT INTO city SELECT g, 1 + g % 40, CASE WHEN g < 400 THEN g + 1 END, 'c' || g FROM generate_series(1, 400) AS g;
UPDATE region SET capital = (SELECT min(city.id) FROM city WHERE region = region.id);
INSERT INTO visit SELECT g, repeat('v', 50) FROM generate_series(1, 400) AS g;
"""
TABLES = ("public.region", "public.city", "public.visit")
REGION, CITY = (TableName("public", name) for name in ("region", "city"))
ROLES = ("zurich", "geneva", "bern")


def writer(session):
    """Rows come before and after those that they refer to; regions get other keys, and go with all that is in them."""
    chance, numbers = random.Random(7), itertools.count(100_000)
    session.execute("SET lock_timeout = '20s'")

    def once():
        some, other = chance.randrange(1, 400), chance.randrange(1, 60)
        with session.transaction():
            moved = "(SELECT max(id) FROM region WHERE id %% 1000 = %s)"
            session.execute(f"UPDATE region SET id = id + 1000, name = name || '+' WHERE id = {moved}", [other])
            session.execute("DELETE FROM region WHERE id > 4000")
        with session.transaction():
            new = "INSERT INTO region VALUES (%s, 'new', %s) ON CONFLICT DO NOTHING RETURNING id"
            number = next(numbers)
            if session.execute(new, [other, number]).fetchone():
                session.execute("INSERT INTO city VALUES (%s, %s, %s, 'new')", [number, other, number])
        with session.transaction():
            # In one statement the row that refers comes before the one that it refers to.
            session.execute("DELETE FROM city WHERE id IN (%s, %s)", [200_000 + some, 300_000 + some])
            pair = "(%(a)s, %(r)s, %(b)s, 'first'), (%(b)s, %(r)s, %(a)s, 'second')"
            (region,) = session.execute("SELECT id FROM region ORDER BY random() LIMIT 1").fetchone()
            values = {"a": 200_000 + some, "b": 300_000 + some, "r": region}
            session.execute(f"INSERT INTO city VALUES {pair}", values)
            session.execute("INSERT INTO visit SELECT id, 'seen' FROM city WHERE id %% 50 = %s", [some % 50])

    return once


@pytest.fixture
def world(updating, weak, quiet):
    """Three slaves: of an ordinary role, of one that may silence triggers, and of a superuser."""
    elsewhere = dict(zip(ROLES, (weak, quiet), strict=False))
    told_apart = {"public.parent", "public.child", "public.region", "public.city"}
    tables = {name: {"load_in_blocks": name in told_apart} for name in (*traffic.TABLES, *TABLES)}
    source = {"blocks": {"rows": 1000, "patience_s": 30}}
    return updating(traffic.DDL + DDL, tables, {}, slaves=ROLES, elsewhere=elsewhere, source=source)


def whole(world):
    world.update()


def by_programs(world):
    world.inhibit()
    assert world.dump(mode=EXTERNAL)["failed"] == {}
    world.release()


def in_blocks(world, **how):
    world.inhibit(**how)
    assert world.dump(mode=ONLINE)["failed"] == {}
    world.release()
    load_online(world.context, SOURCE, world.slaves, blocks_here)


def keys(world):
    in_blocks(world, keys=["public.city: 100 .. 300", "public.region: 5 .. 20"])


def some(world):
    world.inhibit(tables=[REGION, CITY])
    assert world.dump()["failed"] == {}
    world.release()


def parts(world):
    some(world)
    assert world.verify(initial=True, tables=(REGION, CITY)) == dict.fromkeys(ROLES, 0)
    keys(world)


def by_hand(world):
    carried = Carried(world, world.path)
    carried.store()
    for slave in world.slaves:
        carried.carry(slave)
        carried.receive(slave)


FILLS = {"programs": by_programs, "blocks": in_blocks, "some, and keys": parts, "hand": by_hand}


@pytest.mark.full
@pytest.mark.parametrize("fill", FILLS.values(), ids=FILLS)
def test_slaves_are_filled_again_whatever_their_role_may(world, monkeypatch, fill):
    monkeypatch.setenv("PATH", f"{packaged_binaries()}{os.pathsep}{os.environ['PATH']}")
    part = fill is parts
    jobs = [writer(world.session()), *traffic.jobs(world.session)]
    for slave in ROLES:
        # Its drain would find no tables until the first update shuts the gate.
        replications.record(world.context.store, world.pair(slave), ReplicationEvent.BREAK, "it is empty")
    with background(*jobs), world.running():
        (whole if part else fill)(world)
    assert world.verify(initial=True) == dict.fromkeys(ROLES, 0)
    for slave in ROLES:
        # What an update is for.
        world.session(slave).execute("UPDATE city SET name = 'odd' WHERE id BETWEEN 100 AND 120")
    with background(*jobs), world.running():
        fill(world)
        asked = {"tables": (REGION, CITY)} if part else {}
        assert world.verify(initial=True, **asked) == dict.fromkeys(ROLES, 0)
    assert {world.status(slave) for slave in ROLES} == {Status.NORMAL}
    world.catch_up()
    assert world.differences() == {}
    said = {one.subject: one for one in findings(world.context)}
    assert all(said[f"slave {slave}"].good for slave in ROLES), said
    made = "SELECT count(*), count(*) FILTER (WHERE convalidated) FROM pg_constraint WHERE contype = 'f'"
    assert [world.reader(slave).execute(made).fetchone() for slave in ROLES] == [(5, 5)] * 3
