"""Sources side by side do not see each other: two prefixes over one database, whose tables differ or are the same, and
two databases of one server under one prefix."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.drain.run import drain
from sluice.model.names import Pair
from sluice.publish.run import publish
from sluice.state.replication import ReplicationEvent
from sluice.store import replications

pytestmark = [pytest.mark.postgres]

# Of the master both sources watch what is `shared`; `first` and `second` are watched by one each.
DDL = """
    CREATE TABLE first (id int PRIMARY KEY, v text);
    CREATE TABLE second (id int PRIMARY KEY, v text);
    CREATE TABLE shared (id int PRIMARY KEY, v text);
    CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id);
    CREATE TABLE part1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
    CREATE TABLE part2 PARTITION OF parted FOR VALUES FROM (100) TO (200);
"""
BOTH = ("public.shared", "public.parted")
# Which slave follows which source, and the tables that it gets from there.
FOLLOWED = {
    Pair(SOURCE, "zurich"): ("master", ("public.first", *BOTH)),
    Pair("partner", "geneva"): ("master", ("public.second", *BOTH)),
    Pair("elsewhere", "geneva"): ("elsewhere", ("public.first",)),
}


@pytest.fixture
def world(build, server):
    """Three sources: two over the master, one over another database with tables of the same names."""
    made = build(DDL, ["public.first", *BOTH], slaves=("zurich", "geneva"))
    made.infos["elsewhere"] = server.create_database()
    made._servers["elsewhere"] = server
    made.reader("elsewhere").execute(DDL)

    def add(plain):
        template = plain["sources"][SOURCE]
        for source, connection, prefix, tables in (
            ("partner", "master", "TWO_", ["public.second", *BOTH]),
            ("elsewhere", "elsewhere", "REPL_", ["public.first"]),
        ):
            named = {"connection": connection, "prefix": prefix, "tables": {table: {} for table in tables}}
            plain["sources"][source] = {**template, **named}
        plain["replications"] = [{"source": pair.source, "slave": pair.slave} for pair in FOLLOWED]

    made.configure(add)
    for pair in FOLLOWED:
        bootstrap(made.context, pair.source)
        if replications.get(made.context.store, pair).status.name == "UNCONFIGURED":
            for event in (ReplicationEvent.REQUEST, ReplicationEvent.DUMPED, ReplicationEvent.VERIFIED):
                replications.record(made.context.store, pair, event)
    return made


def caught_up(world):
    """Each source is published and delivered; how many changes that were."""
    changes = {}
    for pair in FOLLOWED:
        changes[pair.source] = publish(world.context, pair.source, once=True)["changes"]
        drain(world.context, pair, once=True)
    for pair, (master, tables) in FOLLOWED.items():
        for table in tables:
            assert world.rows(pair.slave, table) == world.rows(master, table), (pair, table)
    return changes


def test_each_publishes_what_it_watches_and_nothing_of_the_others(world):
    world.master.execute("INSERT INTO first VALUES (1, 'a'); INSERT INTO second VALUES (2, 'b')")
    world.master.execute("INSERT INTO shared VALUES (3, 'c'), (4, 'd')")
    assert publish(world.context, "partner", once=True)["changes"] == 3
    assert len(world.queued()) == 3, "what one has published, the other still has to"
    world.reader("elsewhere").execute("INSERT INTO first VALUES (5, 'e')")
    assert caught_up(world) == {SOURCE: 3, "partner": 0, "elsewhere": 1}


@pytest.mark.full
def test_ddl_of_a_table_that_two_watch_reaches_both(world):
    """What an event leaves for a later one of the same statement is each prefix's own."""
    world.master.execute("INSERT INTO shared VALUES (1, '1'), (2, '2'); INSERT INTO parted VALUES (1), (101), (102)")
    caught_up(world)
    for statement in (
        "ALTER TABLE shared ALTER v TYPE int USING v::int + 10",
        "ALTER TABLE shared ADD n int NOT NULL DEFAULT 7",
    ):
        world.master.execute(statement)
    world.master.execute("INSERT INTO shared VALUES (3, 3, 3)")
    assert caught_up(world) == {SOURCE: 6, "partner": 6, "elsewhere": 0}
    world.master.execute("CREATE TABLE gone (id int); DROP TABLE gone /* neither part1 nor part2 */")
    assert caught_up(world) == {SOURCE: 0, "partner": 0, "elsewhere": 0}
    world.master.execute("TRUNCATE part1")
    assert caught_up(world) == {SOURCE: 1, "partner": 1, "elsewhere": 0}
    world.master.execute("DROP TABLE part2")
    assert caught_up(world) == {SOURCE: 2, "partner": 2, "elsewhere": 0}
    world.master.execute("INSERT INTO parted VALUES (5); TRUNCATE parted; INSERT INTO parted VALUES (6)")
    assert caught_up(world) == {SOURCE: 3, "partner": 3, "elsewhere": 0}
