"""A comparison of ranges of keys finds all that differs within them, and nothing else."""

from __future__ import annotations

import pytest
from support.updating import UpdatingWorld, compare_here
from support.world import SOURCE

from sluice.connections import SEALED_ENV, seal
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.monitor import comparison_status
from sluice.repair.run import RepairRequest, repair
from sluice.store import activities, comparisons
from sluice.vendors.postgresql.read import cut_tables
from sluice.verify.ranges import parse
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE legs (year int, carrier text, note text, PRIMARY KEY (year, carrier));
CREATE TABLE heap (a int);
CREATE TABLE days (day date PRIMARY KEY, note text);
CREATE TABLE texts (id int PRIMARY KEY);
CREATE TABLE keyless (id int PRIMARY KEY);
CREATE TABLE masked (id int PRIMARY KEY, note text);
INSERT INTO legs SELECT y, c, 'note' FROM generate_series(2001, 2100) AS y, unnest('{AA,"B, ''B",UA}'::text[]) AS c;
INSERT INTO days SELECT date '2013-01-01' + g, 'note' FROM generate_series(0, 99) AS g;
"""
HARM = """
DELETE FROM legs WHERE year = 2005 AND carrier = 'AA';
INSERT INTO legs VALUES (2010, 'ZZ', 'extra'), (1999, 'AA', 'extra');
UPDATE legs SET note = 'x' WHERE year = 2020;
UPDATE days SET note = 'x' WHERE day = '2013-02-01';
ALTER TABLE texts ALTER id TYPE text;
ALTER TABLE keyless DROP CONSTRAINT keyless_pkey, ALTER id DROP NOT NULL;
"""

# What is compared; rows that were, and what differs: (missing, extra, changed).
RANGES = {
    "nothing within": (["public.legs: 2006 .. 2009"], 12, (0, 0, 0)),
    "both bounds belong to it": (["public.legs: 2005 .. 2010"], 19, (1, 1, 0)),
    "whole keys": (["public.legs: 2020, 'B, ''B' .. 2020, UA"], 2, (0, 0, 2)),
    "another length": (["public.legs: 2010, UA .. 2011"], 5, (0, 1, 0)),
    "no first": (["public.legs: .. 2001"], 4, (0, 1, 0)),
    "no last": (["public.legs: 2021 .."], 240, (0, 0, 0)),
    "two that overlap": (["public.legs: 2004 .. 2005", "public.legs: 2005 .. 2006"], 9, (1, 0, 0)),
    "no bound": (["public.legs: .."], 302, (1, 2, 3)),
    "tables": (["public.legs: 2005 .. 2005", "public.days: 20130201 .. '2013-02-02'"], 5, (1, 0, 1)),
}


@pytest.fixture(scope="module", params=[True, False], ids=["checksums", "row by row"])
def world(request, server, tmp_path_factory):
    """A slave on which rows of some keys are wrong."""
    source = {"verification": {"checksums": request.param}}
    tables = [f"public.{one}" for one in ("legs", "heap", "days", "texts", "keyless", "masked")]
    directory = tmp_path_factory.mktemp("ranges") / "world"
    world = UpdatingWorld(server, directory, DDL, tables, {}, source=source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SEALED_ENV, seal(world.infos))
        masked = {"public.masked": {"mask": {"note": "redact"}}}
        world.configure(lambda settings: settings["slaves"]["zurich"].update(tables=masked))
        world.update()
        world.end_update()
        world.reader("zurich").execute(HARM)
        yield world
    world.close()
    server.drop_databases(world.infos.values())


# What does not depend on how rows are compared.
CHECKSUMS = pytest.mark.parametrize("world", [True], indirect=True, ids=["checksums"])


def told(world, texts, **asked):
    """The result of a comparison of ranges, or its error."""
    request = VerifyRequest(SOURCE, ("zurich",), ranges=parse(texts), **asked)
    with world.running():
        return verify(world.context, request, compare_here, 60)


@pytest.mark.full(but=["row by row-no last"])
@pytest.mark.parametrize(("texts", "rows", "counts"), RANGES.values(), ids=RANGES)
def test_rows_of_the_ranges_alone_are_compared(world, texts, rows, counts):
    if sum(counts):
        with pytest.raises(SluiceError, match="SLC-090"):
            told(world, texts)
    else:
        found = told(world, texts)
        assert found["slaves"]["zurich"]["ranges"] == texts
        shown = f"zurich: {rows} rows compared (no others than {texts[0]}), 0 different; "
        assert found["note"].startswith(shown)
        assert float(found["note"].removeprefix(shown).partition("%")[0]) <= 100
    pair = world.pair("zurich")
    tables = comparisons.tables_of(world.context.store, comparisons.last(world.context.store, pair), pair)
    assert sum(one.compared for one in tables) == rows
    assert tuple(sum(one.counts[kind] for one in tables) for kind in ("missing", "extra", "changed")) == counts
    assert sum(len(one.within) for one in tables) == len(texts)
    shown = comparison_status.read_comparison(world.context, pair, tables[0].report)
    newest = comparison_status.list_comparisons(world.context, SOURCE, "zurich", None).comparisons[0]
    assert shown.ranges == newest.ranges == len(texts)


@pytest.mark.full
@pytest.mark.parametrize("name", ["both bounds belong to it", "tables"])
def test_tables_that_are_cut_for_several_tasks_are_compared_alike(world, monkeypatch, name):
    monkeypatch.setattr(cut_tables, "_BLOCKS", 1)
    # A table of fewer rows than parts is not cut.
    monkeypatch.setattr(cut_tables, "_PARTS", 12)
    test_rows_of_the_ranges_alone_are_compared(world, *RANGES[name])


@pytest.mark.full
@CHECKSUMS
def test_a_repair_compares_the_ranges_of_its_report_again(world):
    zurich = world.reader("zurich")
    zurich.execute("UPDATE days SET note = 'y' WHERE day = '2013-03-01'")
    with pytest.raises(SluiceError, match="SLC-090"):
        told(world, ["public.days: 2013-02-01 .. 2013-02-02"])
    report = comparisons.last(world.context.store, world.pair("zurich"))
    with world.running():
        found = repair(world.context, RepairRequest(SOURCE, "zurich", report=report), compare_here, 60)
    assert found["note"].endswith("compared again: equal")
    notes = zurich.execute("SELECT day::text, note FROM days WHERE note <> 'note'").fetchall()
    assert notes == [("2013-03-01", "y")], "rows outside of the ranges were not looked at"
    zurich.execute("UPDATE days SET note = 'x' WHERE day = '2013-02-01'")
    zurich.execute("UPDATE days SET note = 'note' WHERE day = '2013-03-01'")


@CHECKSUMS
def test_ranges_that_are_equal_do_not_hide_that_others_differed(world):
    with pytest.raises(SluiceError, match="SLC-090"):
        told(world, ["public.legs: 2005 .. 2010"])
    told(world, ["public.legs: 2021 .."])
    assert activities.comparisons(world.context.store, SOURCE)["zurich", "public.legs"].different == 2


REFUSED = {
    "public.legs: 1 .. many": "SLC-640: no keys of",
    "public.legs: 2 .. 1": "SLC-640: no keys of",
    "public.legs: 1, 2, 3 ..": "SLC-640: no keys of",
    "public.heap: 1 .. 2": "SLC-622: .* its rows have no key",
    "public.masked: 1 .. 2": "SLC-622: .* the slave gets computed, masked or chosen rows",
    "public.texts: 1 .. 2": "SLC-622: .* its key id may be sorted otherwise there, or be NULL",
    "public.keyless: 1 .. 2": "SLC-622: .* its key id may be sorted otherwise there, or be NULL",
    "public.legs: 1": "SLC-640: .* cannot be compared",
    "public.unheard_of: 1 .. 2": "SLC-040: .* no table that is watched",
}


@pytest.mark.full
@CHECKSUMS
def test_what_cannot_be_compared_so_is_refused(world):
    for text, why in REFUSED.items():
        with pytest.raises(SluiceError, match=why):
            told(world, [text])


@CHECKSUMS
@pytest.mark.parametrize("asked", [{"percent": 5}, {"at_most": 0.1}, {"tables": (TableName("public", "legs"),)}])
def test_ranges_alone_say_which_rows_of_a_table_are_compared(world, asked):
    with pytest.raises(SluiceError, match="SLC-640"):
        told(world, ["public.legs: 1 .. 2"], **asked)
