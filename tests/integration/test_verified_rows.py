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
RUNNING = """
CREATE TABLE own.ran (by name); GRANT ALL ON own.ran TO PUBLIC;
CREATE FUNCTION own.run(int) RETURNS int LANGUAGE sql AS 'INSERT INTO own.ran VALUES (current_user) RETURNING $1';
CREATE FUNCTION own.f(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN own.run($1); END'
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


@pytest.mark.parametrize(
    "made",
    [
        "CREATE VIEW b.t AS SELECT id FROM own.t WHERE own.f(id) > 0",
        "CREATE TABLE b.t (LIKE own.t INCLUDING ALL); CREATE INDEX ON b.t (own.f(1)) WHERE id > own.f(0)",
    ],
    ids=["view", "table"],
)
def test_nothing_is_read_that_others_put_in_the_place_of_a_table_of_a_slave(updating, weak, stranger, made):
    ddl = "CREATE SCHEMA b; CREATE TABLE b.t (id int PRIMARY KEY); INSERT INTO b.t VALUES (1)"
    world = updating(ddl, ["b.t"], {}, slaves=("zurich",), elsewhere={"zurich": weak})
    world.update()
    eve = stranger(world, "SELECT")
    eve.execute("RESET SESSION AUTHORIZATION")
    owner = f"eve_{world.infos['zurich'].database}"
    # As the owner of the schema, and with leave to make one, he needs nobody for this.
    eve.execute(f"DROP SCHEMA own; ALTER SCHEMA b RENAME TO own; CREATE SCHEMA b AUTHORIZATION {owner}")
    eve.execute(f"ALTER SCHEMA own OWNER TO {owner}; GRANT USAGE ON SCHEMA b, own TO PUBLIC")
    eve.execute(f"GRANT SELECT ON own.t TO {owner}; SET SESSION AUTHORIZATION {owner}")
    eve.execute(f"{RUNNING}; {made}; GRANT ALL ON b.t TO PUBLIC")
    eve.execute("RESET SESSION AUTHORIZATION; TRUNCATE own.ran")
    with pytest.raises(SluiceError, match=r"SLC-664: .* b\.t of eve_"):
        world.verify()
    assert eve.execute("SELECT by FROM own.ran").fetchall() == []


def compared(world):
    """The report of one more comparison, and the rows that it keeps."""
    with pytest.raises(SluiceError, match=r"SLC-090"):
        world.verify()
    store, pair = world.context.store, world.pair("zurich")
    (table,) = comparisons.tables_of(store, comparisons.last(store, pair), pair)
    return table, [row for _, row in comparisons.rows_of(store, table.id)]


def day(nr):
    return f"2013-01-0{nr % 7 + 1}"


@pytest.mark.full
def test_every_row_is_kept_with_the_columns_that_differ(world):
    table, rows = compared(world)
    wanted = {RowDifference("missing", (day(nr), str(nr))) for nr in range(1, 2001, 4)}
    wanted |= {RowDifference("changed", (day(nr), str(nr)), ("note", "score")) for nr in range(2, 2001, 8)}
    wanted |= {RowDifference("extra", ("2014-01-01", "1"))}
    assert set(rows) == wanted
    assert len(rows) == len(wanted) == table.different == 751
    assert (table.table, table.compared, table.more) == (LEGS, 2001, 0)
    assert table.position == world.position("zurich")


@pytest.mark.full
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


@pytest.mark.full
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
    with pytest.raises(SluiceError, match=r"SLC-028: the control store cannot hold a value"):
        comparisons.record(store, report, pair, "public.odder", {**values, "sample": ["\ud800"]})
