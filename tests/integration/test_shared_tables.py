"""Several masters bring rows into one table of a slave: no step of one of them takes what another has brought."""

from __future__ import annotations

from functools import partial

import pytest
from support.updating import background, compare_here, load_here
from support.world import AT_ONCE

from sluice.drain.run import drain
from sluice.errors import SluiceError
from sluice.initial_update.cancel import cancel
from sluice.initial_update.dump import dump
from sluice.initial_update.inhibit import InhibitRequest, inhibit
from sluice.model.names import Pair, TableName
from sluice.monitor.check import findings
from sluice.publish.run import publish
from sluice.repair.run import RepairRequest, repair
from sluice.state.replication import Status
from sluice.store import replications
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL DEFAULT 0); CREATE TABLE own (id int PRIMARY KEY)"
PAIR = Pair("east", "hub")
INTO_HUB = {("east", "hub"): {}, ("west", "hub"): {}}


@pytest.fixture
def world(several):
    """East and west with rows of their own, which have arrived in the hub."""
    world = several(DDL, INTO_HUB)
    filled(world)
    return world


def filled(world):
    world.at("east").execute("INSERT INTO t VALUES (1, 1), (3, 3)")
    world.at("west").execute("INSERT INTO t VALUES (2, 2)")
    world.until_quiet()


def merging(settings):
    settings["slaves"]["hub"]["on_existing_rows"] = "merge"


def keys(world, table="t"):
    return sorted(key for (key,) in world.at("hub").execute(f"SELECT id FROM {table}".encode()))


def said(world, slave="hub"):
    return [one for one in findings(world.context) if one.subject == f"slave {slave}"]


def statuses(world):
    return [replications.get(world.context.store, pair).status for pair in world.pairs]


@pytest.mark.full
def test_an_update_that_would_empty_a_table_of_several_masters_is_refused(world):
    for found in said(world):
        assert not found.good
        assert "SLC-230: " in found.text
    for chosen in ({}, {"tables": [TableName("public", "t")]}, {"keys": ["public.t: 0 .. 9"]}):
        with pytest.raises(SluiceError, match=r"SLC-230: .*public.t \(public.t of west\)") as caught:
            inhibit(world.context, "east", ["hub"], InhibitRequest(**chosen))
        assert "on_existing_rows: merge" in caught.value.hint
    assert (keys(world), statuses(world)) == ([1, 2, 3], [Status.NORMAL] * 2)
    # What is configured otherwise after an update was asked for.
    world.configure(merging)
    inhibit(world.context, "west", ["hub"])
    world.configure(lambda settings: settings["slaves"]["hub"].update(on_existing_rows="refuse"))
    with pytest.raises(SluiceError, match="SLC-230"):
        dump(world.context, "west", ["hub"], load_here)
    assert keys(world) == [1, 2, 3]


@pytest.mark.full
def test_both_are_filled_where_rows_of_others_stay(world):
    world.configure(merging)
    told = [found for found in said(world) if found.good]
    assert ["public.t (public.t of west): rows of others" in one.text for one in told] == [True, False]
    world.at("hub").execute("DELETE FROM t")
    jobs = [partial(publish, world.context, name, once=True) for name in world.masters]
    jobs += [partial(drain, world.context, pair, once=True) for pair in world.pairs]
    for source in world.masters:
        world.update(source, "hub")
        with background(*jobs):
            verify(world.context, VerifyRequest(source, ("hub",)), compare_here, 60)
    assert keys(world) == [1, 2, 3]
    world.at("west").execute("UPDATE t SET n = 7; INSERT INTO t VALUES (4, 4)")
    world.at("east").execute("DELETE FROM t WHERE id = 1")
    world.until_quiet()
    assert (keys(world), statuses(world)) == ([2, 3, 4], [Status.NORMAL] * 2)


def test_a_repair_takes_no_rows_that_others_have_brought(world):
    def by_another_entry(settings):
        settings["slaves"]["part"] = {"connection": "hub", "on_existing_rows": "merge"}
        settings["replications"][1]["slave"] = "part"

    def fix(**asked):
        jobs = partial(publish, world.context, "east", once=True), partial(drain, world.context, PAIR, once=True)
        with background(*jobs):
            return repair(world.context, RepairRequest(*vars(PAIR).values(), **asked), compare_here, patience_s=60)

    world.configure(by_another_entry)
    world.at("hub").execute("DELETE FROM t WHERE id = 1")
    for asked in ({}, {"dry_run": True, "kinds": ("missing",)}):
        with pytest.raises(SluiceError, match=r"SLC-467: .*public.t on slave hub .*public.t of west") as caught:
            fix(**asked)
        assert "on_existing_rows: merge" in caught.value.hint
        assert "initial_update" not in caught.value.hint, "SLC-230 refuses that"
    assert keys(world) == [2, 3]
    world.configure(merging)
    found = fix()
    assert (found["deleted"], found["written"], keys(world)) == (0, 1, [1, 2, 3])


@pytest.mark.full
def test_what_a_load_left_unfinished_is_not_made_anew_over_rows_of_others(world):
    world.configure(merging)
    world.at("hub").execute("DROP TABLE t")

    def broken(job):
        load_here(job)
        world.at("hub").execute("INSERT INTO t VALUES (2, 2)")
        raise SluiceError(80, "it ended in the middle", "again")

    inhibit(world.context, "east", ["hub"])
    with pytest.raises(SluiceError, match="SLC-08"):
        dump(world.context, "east", ["hub"], broken)
    cancel(world.context, "east", ["hub"])
    for source in world.masters:
        with pytest.raises(SluiceError, match=r"SLC-210: .*public.t of the slave was made by an initial update"):
            inhibit(world.context, source, ["hub"])
    assert keys(world) == [1, 2, 3]


@pytest.mark.full
def test_a_schema_into_which_others_bring_rows_is_not_wiped_out(world):
    world.configure(merging)
    world.configure(lambda settings: settings["slaves"]["hub"].update(wipe_out={"schema": "public"}))
    with pytest.raises(SluiceError, match=r"SLC-230: .*all of public, by `wipe_out` .west->hub"):
        inhibit(world.context, "east", ["hub"])
    world.configure(lambda settings: settings["slaves"]["hub"].update(wipe_out={"schema": "elsewhere"}))
    with pytest.raises(SluiceError, match=r'SLC-003: .*schema "elsewhere" does not exist'):
        inhibit(world.context, "east", ["hub"])
    world.at("hub").execute("CREATE SCHEMA elsewhere")
    inhibit(world.context, "east", ["hub"])


@pytest.mark.full
def test_two_entries_of_one_database_keep_tables_apart_or_not(world):
    def two(settings):
        settings["slaves"]["part"] = {"connection": "hub"}
        settings["replications"][1]["slave"] = "part"

    world.configure(two)
    assert [found.good for found in said(world) + said(world, "part")] == [False, False]
    world.configure(lambda settings: settings["slaves"]["part"].update(schemas={"public": "west"}))
    assert [found.good for found in said(world) + said(world, "part")] == [True, True]


# How tables are watched by the two; how the hub sees them; whether they are one there.
NAMED = {
    "a wildcard and a name": (["public.*"], ["public.t"], {}, True),
    "only as it was loaded": (["public.t"], {"public.t": {"actions": "none"}}, {}, True),
    "excluded from one": (["public.t"], {"public.own": {}, "public.t*": {"exclude": True}}, {}, False),
    "under another name": (["public.t"], ["public.own"], {"tables": {"public.own": {"as": "t"}}}, True),
    "in another schema": (["public.t"], ["sales.t"], {"schemas": {"sales": "public"}}, True),
    "a wildcard without that table": (["public.t"], ["sales.*"], {"schemas": {"sales": "public"}}, False),
}


@pytest.mark.full(but=["a wildcard and a name"])
@pytest.mark.parametrize(("east", "west", "slave", "one"), NAMED.values(), ids=NAMED)
def test_whether_tables_are_one_is_told_by_the_names_that_the_slave_has(several, east, west, slave, one):
    world = several(f"{DDL}; CREATE SCHEMA sales", {("east", "hub"): {}}, ["public.t"])
    names = {"sales.t": "CREATE TABLE sales.t (id int PRIMARY KEY, n int)"}
    world.infos["west"] = world._server.create_database()
    world.at("west").execute(f"{DDL}; CREATE SCHEMA sales; {names.get(next(iter(west)), '')}".encode())

    def with_west(settings):
        watched = ({name: {} for name in side} if isinstance(side, list) else side for side in (east, west))
        for name, tables in zip(("east", "west"), watched, strict=True):
            settings["sources"][name] = {"connection": name, "tables": tables, "schedule": dict(AT_ONCE)}
        settings["slaves"]["hub"] |= slave
        settings["replications"].append({"source": "west", "slave": "hub", "schedule": dict(AT_ONCE)})

    world.configure(with_west)
    world.pairs.append(Pair("west", "hub"))
    assert [found.good for found in said(world)] == [not one] * 2
    for source in ("east", "west"):
        publish(world.context, source, once=True)
    if one:
        with pytest.raises(SluiceError, match="SLC-230"):
            inhibit(world.context, "east", ["hub"])
    else:
        inhibit(world.context, "east", ["hub"])
        dump(world.context, "east", ["hub"], load_here)
