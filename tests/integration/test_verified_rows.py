"""A comparison keeps every row that differs, up to a limit, until housekeeping deletes it."""

from __future__ import annotations

import pytest
from support.updating import UpdatingWorld

from sluice.connections import SEALED_ENV, seal
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.model.row_difference import RowDifference
from sluice.store import comparisons

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE legs (day date, nr int, note text, score float8, PRIMARY KEY (day, nr));
INSERT INTO legs SELECT date '2013-01-01' + g % 7, g, 'leg, ' || g, g / 10.0 FROM generate_series(1, 2000) AS g;
"""
LEGS = TableName("public", "legs")


@pytest.fixture(scope="module")
def world(server, tmp_path_factory):
    """A slave that differs from its master in about a thousand rows."""
    made = UpdatingWorld(server, tmp_path_factory.mktemp("rows") / "world", DDL, ["public.legs"], {}, slaves=["zurich"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SEALED_ENV, seal(made.infos))
        made.update()
        made.reader("zurich").execute(
            "DELETE FROM legs WHERE nr % 4 = 1; UPDATE legs SET note = NULL, score = 0 WHERE nr % 8 = 2;"
            "INSERT INTO legs VALUES ('2014-01-01', 1, 'x', 1)"
        )
        yield made
    made.close()
    server.drop_databases(made.infos.values())


def compared(world):
    """The report of one more comparison, and the rows that it keeps."""
    with pytest.raises(SluiceError, match=r"SLC-090"):
        world.verify()
    store, pair = world.context.store, world.pair("zurich")
    (table,) = comparisons.tables_of(store, comparisons.last(store, pair), pair)
    return table, [row for _, row in comparisons.rows_of(store, table.id)]


def day(nr):
    return f"2013-01-0{nr % 7 + 1}"


def test_every_row_is_kept_with_the_columns_that_differ(world):
    table, rows = compared(world)
    wanted = {RowDifference("missing", (day(nr), str(nr))) for nr in range(1, 2001, 4)}
    wanted |= {RowDifference("changed", (day(nr), str(nr)), ("note", "score")) for nr in range(2, 2001, 8)}
    wanted |= {RowDifference("extra", ("2014-01-01", "1"))}
    assert set(rows) == wanted
    assert len(rows) == len(wanted) == table.different == 751
    assert (table.table, table.compared, table.more) == (LEGS, 2001, 0)
    assert table.position == world.position("zurich")


def test_values_and_the_number_of_rows_are_as_the_configuration_says(world):
    world.configure(
        lambda settings: settings["sources"]["flights"].update(verification={"max_rows": 5, "keep_values": True})
    )
    table, rows = compared(world)
    assert len(rows) == 5
    assert table.columns == ("day", "nr", "note", "score")
    assert (table.more, len(table.ranges)) == (746, 1)
    one = next(row for row in rows if row.kind == "missing")
    assert one.ours == (
        day(int(one.key[1])),
        one.key[1],
        f"leg, {one.key[1]}",
        str(int(one.key[1]) / 10).removesuffix(".0"),
    )


def test_housekeeping_deletes_the_rows_and_leaves_the_counts(world):
    table, rows = compared(world)
    store = world.context.store
    assert comparisons.trim(store, days=1) == 0
    world.reader("control").execute("UPDATE comparison SET at = at - interval '2 days'")
    assert comparisons.trim(store, days=1) >= len(rows)
    assert comparisons.rows_of(store, table.id) == []
    (left,) = comparisons.tables_of(store, table.report, world.pair("zurich"))
    assert left.different == table.different


def test_a_row_is_kept_whatever_its_texts_have_and_a_value_that_cannot_be_is_no_crash(world):
    report, pair, store = compared(world)[0].report, world.pair("zurich"), world.context.store
    odd = ("a\0", "a\u2400", "\ufdd00", r"\u0000")
    rows = [RowDifference("changed", odd, odd, odd, (*odd[1:], None)), RowDifference("extra", ("a\u2400", "a"))]
    values = {"compared": 2, "different": 2, "sample": [("extra", "a\0")], "body": {"ranges": [[["a\0"], None]]}}
    comparisons.record(store, report, pair, "public.odd", values, rows)
    table = next(one for one in comparisons.tables_of(store, report, pair) if one.ranges == [[["a\0"], None]])
    assert [row for _, row in comparisons.rows_of(store, table.id)] == rows
    with pytest.raises(SluiceError, match=r"SLC-558: the control store cannot hold a value"):
        comparisons.record(store, report, pair, "public.odder", {**values, "sample": ["\ud800"]})
