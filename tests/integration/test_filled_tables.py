"""Tables of a slave that have rows before an initial update: they go, they are in its way, or they stay (R5)."""

from __future__ import annotations

import logging
import re

import pytest
from support.sizes import BLOCK_BYTES
from support.updating import background, blocks_here, load_here
from support.world import SOURCE

from sluice.config.models import WipeOut
from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.chunks import plan
from sluice.initial_update.dump import EXTERNAL, ONLINE
from sluice.monitor import check
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import replications

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE kept (id int PRIMARY KEY, n int, note text, twice int GENERATED ALWAYS AS (n * 2) STORED);
CREATE TABLE gone (id int PRIMARY KEY, n int NOT NULL);
CREATE TABLE apart (id int PRIMARY KEY, n int);
INSERT INTO kept SELECT g, g, repeat('x', 200) FROM generate_series(1, 2000) AS g;
INSERT INTO gone VALUES (1, 1);
INSERT INTO apart VALUES (1, 1);
"""
TABLES = ["public.kept", "public.gone", "public.apart"]
BEFORE = """
CREATE TABLE kept (id int PRIMARY KEY, n int, note text, own text, twice int GENERATED ALWAYS AS (n * 2) STORED);
CREATE TABLE gone (id int PRIMARY KEY, n int NOT NULL);
CREATE TABLE apart (id int PRIMARY KEY, n int);
INSERT INTO kept VALUES (8, -7, 'old', 'mine'), (-1, -1, 'alone', 'mine');
INSERT INTO gone VALUES (-1, -1);
INSERT INTO apart VALUES (-1, -1);
"""
WRITES = "UPDATE kept SET n = n + 1 WHERE id % 7 = 0; DELETE FROM kept WHERE id = (SELECT max(id) FROM kept);"


def on_existing_rows(settings):
    settings["slaves"]["zurich"] |= {
        "on_existing_rows": "merge",
        "tables": {"public.gone": {"on_existing_rows": "truncate"}, "public.apart": {"on_existing_rows": "refuse"}},
    }


def refused(world, **chosen):
    """Zurich, whose rows one table is not to have: an update that was refused, and its session."""
    world.configure(on_existing_rows)
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    zurich = world.reader("zurich")
    zurich.execute(BEFORE)
    with pytest.raises(SluiceError, match=r"SLC-210: slave zurich: public.apart of the slave has rows"):
        world.inhibit("zurich", **chosen)
    return zurich


def test_rows_of_the_slave_go_or_stay_or_are_in_the_way_as_its_configuration_says(updating, monkeypatch):
    monkeypatch.setattr(plan, "CHUNK_BYTES", 8 * BLOCK_BYTES)
    world = updating(DDL, TABLES)
    zurich = refused(world)
    assert [sum(world.rows("zurich", table).values()) for table in TABLES] == [2, 1, 1], "nothing was touched"
    zurich.execute("TRUNCATE apart")
    world.inhibit("zurich")

    def broken(job):
        (loaded,) = load_here(job)
        zurich.execute("UPDATE sluice_loaded SET rows = NULL WHERE chunk = 0")
        return [loaded]

    writing = world.session()
    with background(lambda: writing.execute(WRITES), pause_s=0.1), world.running("zurich"):
        with pytest.raises(SluiceError, match=r"SLC-080: .*chunks were loaded"):
            world.dump("zurich", load=broken)
        world.inhibit("zurich", resume=True)
        # What the load has left is not in the way, and is gone on with, among the slave's own rows.
        world.dump("zurich", resume=True)
        world.release("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    assert world.status("zurich") is Status.NORMAL
    assert zurich.execute("SELECT id, n, note FROM kept WHERE id < 0").fetchall() == [(-1, -1, "alone")]
    assert zurich.execute("SELECT id, own FROM kept WHERE id > 0 AND own IS NOT NULL").fetchall() == [(8, "mine")]
    assert sum(world.rows("zurich", "public.gone").values()) == 1
    zurich.execute("UPDATE kept SET n = 0 WHERE id = 8")
    with pytest.raises(SluiceError, match=r"SLC-090: .*public.kept on zurich: 0 missing, 0 extra, 1 changed"):
        world.verify("zurich")


@pytest.mark.full
def test_rows_of_the_slave_stay_among_those_that_come_in_blocks(updating):
    world = updating(DDL, TABLES, source={"blocks": {"rows": 500, "patience_s": 30}})
    zurich = refused(world, mode=ONLINE)
    zurich.execute(
        "TRUNCATE apart; INSERT INTO kept SELECT g, 0, 'of nobody', 'mine' FROM generate_series(900, 2100) AS g"
    )
    world.inhibit("zurich")
    world.dump("zurich", mode=ONLINE)
    world.release("zurich")
    writing = world.session()
    with background(lambda: writing.execute(WRITES), pause_s=0.1), world.running("zurich"):
        load_online(world.context, SOURCE, ["zurich"], blocks_here)
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    assert world.status("zurich") is Status.NORMAL
    assert zurich.execute("SELECT id, n, note FROM kept WHERE id < 0").fetchall() == [(-1, -1, "alone")]
    assert zurich.execute("SELECT count(*) FROM kept WHERE id > 2000 AND own = 'mine'").fetchone() == (100,)
    assert zurich.execute("SELECT count(*) FROM kept WHERE id BETWEEN 900 AND 1500 AND own = 'mine'").fetchone() == (
        601,
    )
    assert sum(world.rows("zurich", "public.gone").values()) == 1


TOLD_APART_BY_MORE = [
    "(id int, n int)",
    "(id int NOT NULL UNIQUE, n int)",
    "(id int PRIMARY KEY, n int UNIQUE)",
    "(id int PRIMARY KEY DEFERRABLE, n int)",
    "(id int PRIMARY KEY, n int GENERATED ALWAYS AS IDENTITY)",
]


def test_rows_stay_only_where_the_masters_key_alone_tells_them_apart(updating, tmp_path):
    world = updating(DDL, ["public.gone"])
    world.infos["lake"] = ConnectionInfo("fs", extra={"path": str(tmp_path)})
    world.configure(lambda settings: settings["slaves"]["zurich"].update(on_existing_rows="merge"))
    for columns in TOLD_APART_BY_MORE:
        world.reader("zurich").execute(f"DROP TABLE IF EXISTS gone; CREATE TABLE gone {columns}".encode())
        with pytest.raises(SluiceError, match=r"SLC-210: .*public.gone"):
            world.inhibit("zurich")
    with pytest.raises(SluiceError, match=r"SLC-210: .*nothing tells which"):
        world.inhibit("zurich", mode=ONLINE)
    world.reader("zurich").execute("DROP TABLE gone")
    with pytest.raises(SluiceError, match=r"SLC-204: .*are the slave's own: public.gone"):
        world.inhibit("zurich", mode=EXTERNAL)

    def into_files(settings):
        settings["slaves"]["zurich"] = {"connection": "lake", "vendor": "parquet", "on_existing_rows": "merge"}
        settings["replications"][0]["statements"] = False

    world.configure(into_files)
    with pytest.raises(SluiceError, match=r"SLC-438: .*public.gone"):
        world.inhibit("zurich")


OBJECTS = """
CREATE TABLE egg (id int PRIMARY KEY);
CREATE TABLE hen (id int PRIMARY KEY REFERENCES egg);
ALTER TABLE egg ADD FOREIGN KEY (id) REFERENCES hen DEFERRABLE;
CREATE TABLE gone (id serial PRIMARY KEY, n int, other text) PARTITION BY RANGE (id);
CREATE TABLE "gone Low" PARTITION OF gone FOR VALUES FROM (0) TO (9);
CREATE SEQUENCE numbers;
CREATE FUNCTION next_number() RETURNS bigint LANGUAGE sql AS $$ SELECT nextval('public.numbers') $$;
CREATE AGGREGATE latest (int) (sfunc = int4larger, stype = int);
CREATE PROCEDURE nothing() LANGUAGE sql AS $$ SELECT 1 $$;
CREATE FUNCTION fires() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE VIEW outer_view AS SELECT public.latest(id) AS id, public.next_number() AS n FROM hen;
CREATE MATERIALIZED VIEW stored AS SELECT * FROM outer_view;
CREATE VIEW on_top AS SELECT * FROM stored;
CREATE TRIGGER fires INSTEAD OF INSERT ON on_top FOR EACH ROW EXECUTE FUNCTION fires();
CREATE INDEX ON stored (id);
CREATE SCHEMA elsewhere;
CREATE VIEW elsewhere.looks AS SELECT * FROM public.hen;
"""
LEFT = """
SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
UNION SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
"""


@pytest.mark.full
def test_a_schema_is_wiped_out_before_the_tables_are_made_if_nothing_else_depends_on_it(updating, caplog):
    world = updating(DDL, ["public.gone"])
    zurich = world.reader("zurich")
    zurich.execute(OBJECTS)

    def refused(error, **more):
        wiped = {"schema": "public", **more}
        world.configure(lambda settings: settings["slaves"]["zurich"].update(wipe_out=wiped))
        with pytest.raises(SluiceError, match=error):
            world.inhibit("zurich")
        assert sum(world.rows("zurich", "public.gone").values()) == 0
        assert zurich.execute("SELECT count(*) FROM pg_class WHERE relname = 'on_top'").fetchone() == (1,)

    refused(r"SLC-215: .*others are connected .*\(unnamed\)", if_connected="refuse")
    refused("SLC-215: .*depends on table .*view elsewhere.looks depends on table public.hen")
    zurich.execute("DROP SCHEMA elsewhere CASCADE")
    (said,) = (one.text for one in check.findings(world.context) if one.subject == "slave zurich")
    assert "an initial update drops 13 objects of public: " in said
    assert all(one in said for one in ("function public.next_number()", "materialized view public.stored"))
    caplog.set_level(logging.INFO)
    world.inhibit("zurich")
    world.dump("zurich")
    assert {name for (name,) in zurich.execute(LEFT)} == {
        *("gone", "gone_pkey", "sluice_position", "sluice_position_pkey", "sluice_loaded", "sluice_loaded_pkey"),
        *("sluice_ranges", "sluice_ranges_pkey", "sluice_indexes", "sluice_indexes_pkey"),
        *("sluice_references", "sluice_references_pkey"),
    }
    assert world.rows("zurich", "public.gone") == world.rows("master", "public.gone")
    assert "wipes out kind=view name=public.on_top" in caplog.text


def test_each_kind_goes_by_a_switch_of_its_own(updating):
    world = updating(DDL, ["public.gone"])
    world.reader("zurich").execute(OBJECTS)
    slave = world.context.slave(world.pair("zurich"))
    of_kinds = {
        "tables": ["table public.egg", "table public.gone", "table public.hen"],
        "views": ["materialized view public.stored", "view public.on_top", "view public.outer_view"],
        "sequences": ["sequence public.numbers"],
        "functions": ["aggregate public.latest(integer)", "function public.fires()", "function public.next_number()"],
        "procedures": ["procedure public.nothing()"],
        "indexes": ["index public.stored_id_idx"],
        "triggers": ["trigger fires on public.on_top"],
    }
    for kind, expected in of_kinds.items():
        switches = dict.fromkeys(of_kinds, False) | {kind: True}
        assert sorted(slave.wiped(WipeOut(schema="public", **switches))) == expected
    slave.close()


def test_what_an_extension_has_brought_stays(updating):
    world = updating(DDL, ["public.gone"])
    world.reader("zurich").execute("CREATE EXTENSION vector; CREATE FUNCTION own() RETURNS int RETURN 1")
    slave = world.context.slave(world.pair("zurich"))
    assert slave.wiped(WipeOut(schema="public")) == ["function public.own()"]
    slave.close()


@pytest.mark.full
def test_what_is_the_servers_or_a_masters_is_not_wiped_out(updating, tmp_path):
    world = updating(DDL, ["public.gone"])
    world.infos["lake"] = ConnectionInfo("fs", extra={"path": str(tmp_path)})
    for error, entry in {
        "SLC-214: .* the server's own": {"connection": "zurich", "wipe_out": {"schema": "pg_catalog"}},
        "SLC-438: .* is a directory of files": {
            "connection": "lake",
            "vendor": "parquet",
            "wipe_out": {"schema": "public"},
        },
        "SLC-214: .* its database is that of": {
            "connection": "master",
            "schemas": {"public": "copy"},
            "wipe_out": {"schema": "copy"},
        },
    }.items():
        world.configure(lambda settings, entry=entry: settings["slaves"].update(zurich=entry))
        world.configure(lambda settings: settings["replications"][0].update(statements=False))
        found = {one.subject: one for one in check.findings(world.context)}["slave zurich"]
        assert not found.good
        assert re.match(error, found.text)
