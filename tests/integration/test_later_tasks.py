"""A run whose first task was marked as done by hand changes nothing: nobody saw whether it may."""

from __future__ import annotations

from contextlib import suppress

import pytest
from psycopg import sql
from support.carrying import ROWS
from support.later import LATER
from support.updating import load_here
from support.world import SOURCE

from sluice.errors import SluiceError
from sluice.initial_update.files.receive import receive
from sluice.state.dispatcher import Hold
from sluice.store import replications, updates

pytestmark = [pytest.mark.postgres]


def stood(carried):
    carried.world.update()
    for slave in carried.world.slaves:
        replications.shut(carried.world.context.store, carried.world.pair(slave), Hold.EXCEPTION, "SLC-073: no")


def dumped(carried, **how):
    carried.world.inhibit()
    carried.world.dump(**how)


def in_blocks(carried):
    dumped(carried, mode="online")
    carried.world.release()


def loaded(carried):
    carried.store()
    for slave in carried.world.slaves:
        carried.carry(slave)
        receive(carried.world.context, SOURCE, slave, load_here)


# How far the update of somebody else is.
STATES = {
    "there is none": lambda carried: None,
    "it was asked for": lambda carried: carried.world.inhibit(),
    "its rows are in": dumped,
    "its drains stand on an error": stood,
    "blocks are to come": in_blocks,
    "files are on their way": lambda carried: carried.store(),
    "files are in": loaded,
}


def everything(world):
    """What is in the databases: rows, triggers, functions."""
    found = {}
    for name in world.infos:
        session = world.reader(name)
        tables = session.execute(
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname !~ '^(pg_|information_)'"
        )
        for table in tables.fetchall():
            query = sql.SQL("SELECT t::text FROM {} AS t ORDER BY 1").format(sql.Identifier(*table))
            found[name, *table] = session.execute(query).fetchall()
        made = "SELECT oid, proname FROM pg_proc WHERE pronamespace <> 'pg_catalog'::regnamespace"
        for catalog in ("SELECT tgrelid::regclass::text, tgname FROM pg_trigger", made):
            found[name, catalog] = sorted(session.execute(catalog.encode()).fetchall())
    return found


@pytest.mark.full(but=["blocks are to come", "there is none"])
@pytest.mark.parametrize("state", STATES)
def test_later_tasks_of_a_run_that_began_no_update_change_nothing(carried, monkeypatch, state):
    made = carried(ROWS, ["public.rows"])
    world = made.world
    monkeypatch.setenv("SLUICE_RUN", "initial_update/admins/task/1")
    STATES[state](made)
    # Whoever installs what is missing makes it again.
    (trigger,) = world.master.execute("SELECT max(tgname) FROM pg_trigger WHERE tgrelid = 'rows'::regclass").fetchone()
    world.master.execute(sql.SQL("DROP TRIGGER {} ON rows").format(sql.Identifier(trigger)))
    number = replications.get(world.context.store, world.pair("zurich")).update_id or 0
    before = everything(world)
    monkeypatch.setenv("SLUICE_RUN", "initial_update/evas/task/1")
    for job, tasks in LATER.items():
        for task in tasks:
            with suppress(SluiceError):
                task(world, number)
        assert everything(world) == before, job
    monkeypatch.setenv("SLUICE_RUN", "initial_update/admins/task/1")
    known = replications.get(world.context.store, world.pair("zurich"))
    assert updates.may_end(world.context.store, known, "receive_initial_files") is (state != "there is none")
