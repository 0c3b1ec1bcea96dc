"""A comparison of rows changed since a position finds all of these that differ, and looks at no others."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from support.updating import UpdatingWorld, background, compare_here
from support.world import SOURCE

from sluice.changelog import changed_keys
from sluice.connections import SEALED_ENV, seal
from sluice.errors import SluiceError
from sluice.model.key_range import KeyInterval
from sluice.model.log_place import LogPlace
from sluice.model.names import TableName
from sluice.model.position import START
from sluice.monitor import comparison_status
from sluice.repair.run import RepairRequest, repair
from sluice.store import activities, comparisons
from sluice.vendors.postgresql.read import given_keys
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE DOMAIN word AS text;
CREATE TABLE legs (year int, carrier text, note text, seats int, PRIMARY KEY (year, carrier));
CREATE TABLE prices (id numeric PRIMARY KEY, note text);
CREATE TABLE names (id word PRIMARY KEY, note text);
CREATE TABLE quiet (id int PRIMARY KEY, note text);
CREATE TABLE heap (a int);
INSERT INTO legs SELECT y, c, 'note', 7 FROM generate_series(2001, 2100) AS y, unnest('{AA,"B, ''B",UA}'::text[]) AS c;
INSERT INTO prices SELECT g, 'note' FROM generate_series(1, 9) AS g;
INSERT INTO names VALUES ('Ann', 'note'), ('Bob', 'note');
INSERT INTO quiet SELECT g, 'note' FROM generate_series(1, 9) AS g;
"""
TABLES = ("legs", "prices", "names", "quiet")
LEGS, PRICES, NAMES, QUIET = (TableName("public", name) for name in TABLES)
KEYED = (LEGS, PRICES, NAMES, QUIET)
# What the slaves other than zurich get: computed rows, and some of them alone.
SHAPED = {"public.legs": {"where": "seats < 100", "compute": {"note": "upper(note)"}}}


@pytest.fixture(scope="module")
def world(server, tmp_path_factory):
    """Two slaves that are equal to their master, one of them to what it is to get."""
    directory = tmp_path_factory.mktemp("since") / "world"
    world = UpdatingWorld(server, directory, DDL, [f"public.{name}" for name in (*TABLES, "heap")], {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SEALED_ENV, seal(world.infos))
        world.configure(lambda settings: settings["slaves"]["geneva"].update(tables=SHAPED))
        world.update()
        world.end_update()
        yield world
    world.close()
    server.drop_databases(world.infos.values())


def now(world):
    """Where the log ends, with all that was written."""
    world.catch_up()
    return world.context.manifest(SOURCE).end()


def told(world, since, *tables, slave="zurich", **asked):
    """The result of a comparison."""
    request = VerifyRequest(SOURCE, (slave,), tables or KEYED, since=str(since), **asked)
    with world.running():
        return verify(world.context, request, compare_here, 60)


def found(world, since, *tables, slave="zurich"):
    """The keys that differ, by table and kind; the report as well."""
    with pytest.raises(SluiceError, match=r"SLC-090"):
        told(world, since, *tables, slave=slave)
    pair = world.pair(slave)
    reports = comparisons.tables_of(world.context.store, comparisons.last(world.context.store, pair), pair)
    rows = [(one, row) for one in reports for _, row in comparisons.rows_of(world.context.store, one.id)]
    return sorted((one.table.table, row.kind, *row.key) for one, row in rows), {one.table: one for one in reports}


@pytest.mark.full(but=["geneva"])
@pytest.mark.parametrize("slave", ["zurich", "geneva"])
def test_rows_that_were_changed_since_are_compared_and_no_others(world, slave, monkeypatch):
    monkeypatch.setattr(given_keys, "_AT_ONCE", 2)
    world.master.execute(
        "DELETE FROM prices WHERE id > 9; DELETE FROM legs WHERE year = 2009; UPDATE legs SET seats = 7"
    )
    world.master.execute("INSERT INTO legs SELECT 2009, c, 'note', 7 FROM unnest('{AA,BB,UA}'::text[]) AS c")
    since = now(world)
    world.master.execute(
        """
        UPDATE legs SET note = 'x' WHERE year IN (2005, 2006) AND carrier <> 'UA';
        UPDATE legs SET year = 3000 WHERE year = 2007 AND carrier = 'AA';
        UPDATE legs SET year = 2007 WHERE year = 3000 AND carrier = 'AA';
        UPDATE legs SET seats = 200 WHERE year = 2008 AND carrier = 'AA';
        DELETE FROM legs WHERE year = 2009;
        INSERT INTO legs SELECT 2009, c, 'new', 7 FROM unnest('{AA,UA,ZZ}'::text[]) AS c;
        INSERT INTO legs VALUES (2101, 'AA', 'gone', 7);
        DELETE FROM legs WHERE year = 2101;
        INSERT INTO prices VALUES (10.0, 'x');
        DELETE FROM prices WHERE id = 10;
        INSERT INTO prices VALUES (10.00, 'y'), (11, 'x');
        UPDATE prices SET id = 10.000 WHERE id = 10;
        """
    )
    world.catch_up()
    reader = world.reader(slave)
    quiet = "UPDATE quiet SET note = 'nobody looks' WHERE id = 3; UPDATE legs SET note = 'nor here' WHERE year = 2050"
    reader.execute(quiet)
    clean = told(world, since, LEGS, PRICES, QUIET, slave=slave)
    result = clean["slaves"][slave]
    # Two texts of one key are one row.
    rows = 5 + 1 + 3 + 2 - (slave == "geneva")
    assert (result["compared"], result["keys"], result["whole"], result["since"]) == (rows, 16, {}, str(since))
    assert clean["note"].startswith(
        f"{slave}: {rows} rows compared (those changed since {since} alone: 16 keys), 0 diff"
    )
    reader.execute(
        """
        UPDATE legs SET note = 'harm' WHERE year = 2005 AND carrier = 'B, ''B';
        DELETE FROM legs WHERE year = 2009 AND carrier = 'ZZ';
        INSERT INTO legs (year, carrier, note, seats) VALUES (2101, 'AA', 'extra', 7);
        UPDATE prices SET note = 'harm' WHERE id = 10;
        """
    )
    keys, reports = found(world, since, LEGS, PRICES, QUIET, slave=slave)
    assert keys == [
        ("legs", "changed", "2005", "B, 'B"),
        ("legs", "extra", "2101", "AA"),
        ("legs", "missing", "2009", "ZZ"),
        ("prices", "changed", "10.000"),
    ]
    assert {table: (one.only.keys, one.only.since) for table, one in reports.items()} == {
        LEGS: (12, str(since)),
        PRICES: (4, str(since)),
        QUIET: (0, str(since)),
    }
    page = comparison_status.read_comparison(world.context, world.pair(slave), reports[LEGS].report)
    newest = comparison_status.list_comparisons(world.context, SOURCE, slave, None).comparisons[0]
    assert (page.since, page.keys) == (newest.since, newest.keys) == (str(since), 16)
    with world.running():
        fixed = repair(world.context, RepairRequest(SOURCE, slave, report=page.report), compare_here, 60)
    assert (fixed["deleted"], fixed["written"]) == (1, 3)
    assert "compared again: equal" in fixed["note"]
    if slave == "zurich":
        # It says nothing of other rows: the last whole comparison counts.
        with pytest.raises(SluiceError, match=r"SLC-090: .*legs on zurich: 0 missing, 0 extra, 3 changed"):
            world.verify("zurich", tables=(LEGS,))
        assert told(world, now(world), LEGS)["slaves"]["zurich"]["compared"] == 0
        assert activities.comparisons(world.context.store, SOURCE)["zurich", "public.legs"].different == 3
    reader.execute("UPDATE quiet SET note = 'note'; UPDATE legs SET note = 'note' WHERE year = 2050")


def test_a_place_is_a_position_a_segment_or_a_time(world):
    since = now(world)
    before = datetime.now(UTC)
    world.master.execute("UPDATE quiet SET note = 'again' WHERE id < 4")
    end = now(world)
    assert told(world, end.segment, QUIET)["slaves"]["zurich"]["keys"] == 3
    manifest = world.context.manifest(SOURCE)
    for place in (f" {since} ", str(end.segment), before.isoformat(), str(before.replace(tzinfo=None))):
        assert changed_keys.position(manifest, LogPlace.parse(place)) == since, place
    assert changed_keys.position(manifest, LogPlace.parse("0/0")) == START
    assert changed_keys.position(manifest, LogPlace(at=before - timedelta(hours=1))) == START
    assert changed_keys.position(manifest, LogPlace(at=datetime.now(UTC))) == end


REFUSED = {
    "yesterday": "SLC-620: .*'yesterday': it is no position",
    "99999": "SLC-620: .*there is no segment 99999: the log ends at",
    "0": "SLC-620",
    "99999/1": "SLC-620: .*beyond the end of the log",
    "{}/0": "SLC-620: .*that segment ends at",
    "2999-01-01": "SLC-620: .*is still to come",
}


@pytest.mark.full
def test_what_is_no_place_or_cannot_be_compared_so_is_refused(world):
    end = now(world)
    for since, match in REFUSED.items():
        with pytest.raises(SluiceError, match=match):
            told(world, since.format(end.segment))
    legs = (KeyInterval(LEGS, None, None),)
    for more in ({"percent": 5}, {"at_most": 0.1}, {"ranges": legs, "tables": ()}, {"initial": True}):
        with pytest.raises(SluiceError, match=r"SLC-620: .*something else says"):
            verify(world.context, VerifyRequest(SOURCE, ("zurich",), since=str(end), **more), compare_here, 60)
    with world.running(), pytest.raises(SluiceError, match=r"SLC-622: .* on slave zurich: public\.heap: .* no key"):
        verify(world.context, VerifyRequest(SOURCE, ("zurich",), since=str(end)), compare_here, 60)


@pytest.mark.full
def test_a_table_is_compared_as_a_whole_where_the_log_does_not_tell_its_rows(world, monkeypatch):
    harm = "UPDATE quiet SET note = 'far' WHERE id = 9; UPDATE names SET note = 'far' WHERE id = 'Bob'"
    world.reader("zurich").execute(harm)
    since = now(world)
    told(world, since, QUIET)
    world.master.execute("INSERT INTO names VALUES ('Eve', 'x')")
    for change, why in (
        ("", "values of its key may be equal"),
        ("ALTER TABLE quiet ADD more int", "created, altered or dropped|definition"),
        ("BEGIN; TRUNCATE quiet; INSERT INTO quiet VALUES (1, 'x'); COMMIT", "emptied"),
    ):
        world.master.execute(change or "SELECT 1")
        world.catch_up()
        table = QUIET if change else NAMES
        if "TRUNCATE" in change:
            world.reader("zurich").execute("UPDATE quiet SET note = 'far'")
        keys, reports = found(world, since, table)
        assert len(keys) == 1, why
        assert reports[table].only is None
        since = now(world)
    world.reader("zurich").execute("UPDATE quiet SET note = 'x'; UPDATE names SET note = 'note' WHERE id = 'Bob'")
    world.master.execute("INSERT INTO quiet SELECT g, 'x' FROM generate_series(2, 9) AS g")
    monkeypatch.setattr(changed_keys, "MOST_OF_A_TABLE", 7)
    note = told(world, since, QUIET, NAMES)
    assert note["slaves"]["zurich"]["whole"] == {"public.quiet": "so many of its rows were changed since"} | {
        "public.names": "values of its key may be equal on one side alone"
    }
    assert "; public.quiet as a whole: so many of its rows" in note["note"]


@pytest.mark.full
def test_there_is_no_false_alarm_while_the_rows_are_written_to(world):
    since, session, turns = now(world), world.session(), itertools.count()

    def write():
        n = next(turns)
        session.execute("UPDATE legs SET seats = %s WHERE year = %s", [n % 150, 2001 + n * 7 % 40])
        session.execute("DELETE FROM legs WHERE year = %s AND carrier = 'AA'", [2001 + n % 40])
        session.execute("INSERT INTO legs VALUES (%s, 'AA', 'again', 7) ON CONFLICT DO NOTHING", [2001 + (n + 20) % 40])

    with background(write, pause_s=0.005):
        for _ in range(2):
            assert world.verify(tables=(LEGS,), since=str(since)) == {"zurich": 0, "geneva": 0}
    assert next(turns) > 20


@pytest.mark.full
def test_what_the_log_has_no_longer_is_refused_with_the_oldest_position_that_it_has(world):
    since = now(world)
    before = datetime.now(UTC)
    world.master.execute("UPDATE prices SET note = 'z'")
    oldest = now(world)
    world.master.execute("UPDATE prices SET note = 'zz'")
    world.catch_up()
    trim = "UPDATE segment SET trimmed_at = clock_timestamp() WHERE number <= %s"
    world.reader("control").execute(trim, [oldest.segment])
    for place in (since, oldest.segment, before.isoformat(), "0/0", "1"):
        with pytest.raises(SluiceError, match=f"SLC-620: .*the oldest position that it has is {oldest}\n"):
            told(world, place, PRICES)
    assert told(world, oldest, PRICES)["slaves"]["zurich"]["keys"] == 11
