"""Reading an Oracle master as of a change number: pieces of tables, and Arrow batches of the driver."""

from __future__ import annotations

import re

import oracledb
import pyarrow as pa
import pytest
from support.oracle import COLUMNS, running
from support.oracle_session import ID, INFO, NAME, TABLE, catalog_of, source

from sluice.errors import VALUES_ENV, SluiceError
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.recorded import layout_of
from sluice.vendors.oracle.read import rows
from sluice.vendors.oracle.read.rows import bounds, cuts_of, reading, selecting, texts, written_as
from sluice.vendors.oracle.read.snapshot_id import SnapshotId
from sluice.vendors.protocol.read import Chunk, Leaf


def test_a_dump_reads_as_of_a_change_number_in_pieces_that_cover_a_table(monkeypatch):
    session, _, owner = source(
        monkeypatch, **catalog_of(TABLE), catalog__size=[(100_000, "NO")], capture__queue__unswept=[(0,)]
    )
    statement = running()["read/cuts"].replace("NTILE(4)", "NTILE(24)")
    session.answers[statement.replace("0.500000", "0.480000")] = [("AAA",), ("BBB",), ("CCC",)]
    with owner.dump_snapshot([[NAME]], lambda: "log end") as snapshot:
        (leaf,) = snapshot.leaves()
        assert snapshot.published()
        assert [one.layout.key_names for one in snapshot.definitions()] == [("ID",)]
    assert (snapshot.snapshot.text, snapshot.id) == ("900:1.2.3", "900@REPL_/REPL")
    assert leaf.extent == 3
    pieces = [bounds(Chunk(0, leaf, low, high)) for low, high in ((0, 1), (1, 2), (2, 3), (2, None))]
    assert [given for _, given in pieces] == [{"high": "BBB"}, {"low": "BBB", "high": "CCC"}, *[{"low": "CCC"}] * 2]
    # ORA_ROWSCN would tell newer rows, and no query as of a change number may ask for it.
    assert bounds(Chunk(0, leaf, 1, 2, since="700")) == bounds(Chunk(0, leaf, 1, 2))
    assert owner.shape(snapshot.id, NAME) == layout_of(TABLE)


@pytest.mark.parametrize("schema", ["REPL", "a b@c/d"])
def test_where_a_dump_reads_survives_on_its_way_to_a_task(schema):
    place = SnapshotId(900, "REPL_", schema)
    assert SnapshotId.parsed(str(place)) == place
    assert cuts_of(written_as(place, ["AAA+/", "BBB"])) == ["AAA+/", "BBB"]
    assert cuts_of(written_as(place, [])) == []
    assert Leaf(NAME, NAME, 1, 1, written_as(place, [])).written_as == str(place)


def test_arrow_batches_of_the_driver_become_canonical_texts():
    names = {"NUMBER(10,2)": [".5", None], "DATE": ["2024-02-29 12:00:00"] * 2, "RAW(16)": [b"\x00\xff", None]}
    table = CapturedTable(NAME, 7, tuple(OracleColumn(**{**vars(COLUMNS[one]), "name": one}) for one in names))
    statement, kinds = selecting(table, list(names), SnapshotId(900, "REPL_", "REPL"))
    assert statement.startswith("SELECT TO_CHAR(source.\"NUMBER(10,2)\", 'TM9'")
    assert statement.endswith('FROM "APP"."T" AS OF SCN :scn source WHERE 1 = 1')
    arrays = [pa.array(values) for values in names.values()]
    frame = oracledb.from_arrow(pa.table(arrays, names=["C0", "C1", "C2"]))
    found = texts(pa.table(frame), kinds)
    assert [one.to_pylist() for one in found] == [
        ["0.50", None],
        ["2024-02-29 12:00:00"] * 2,
        ["\\x00ff", None],
    ]
    with pytest.raises(SluiceError) as error:
        selecting(table, ["GONE"], SnapshotId(900, "REPL_", "REPL"))
    assert error.value.code == 95
    assert "cannot be read as it was" in error.value.fact


# As the driver gives ID, a CLOB, an NCLOB and a BLOB: of an empty one the same as of NULL.
GIVEN = {
    "C0": ["1", "2", "3"],
    "C1": [None, None, "a"],
    "C2": [None, None, "b"],
    "C3": [None, None, b"\n"],
    **{f"E{number}": ["E", None, None] for number in (1, 2, 3)},
}


def read_all(monkeypatch, *columns):
    """The lines of a table of these columns, and how many rows at a time were asked for."""
    session, *_ = source(monkeypatch, **catalog_of(CapturedTable(NAME, 7, columns, ("ID",))))
    monkeypatch.setattr(rows, "connect", lambda info, application: session)

    sizes = []

    def frames(statement, values, size):
        sizes.append(size)
        yield pa.table({name: GIVEN[name] for name in re.findall(r' AS "(\w+)"', statement)})

    session.fetch_df_batches = frames
    with reading(INFO, "900@REPL_/REPL") as found:
        lines = b"".join(found.table(NAME, [one.name for one in columns]))
    return lines.splitlines(), sizes


def test_an_empty_large_object_of_a_master_is_not_null(monkeypatch):
    large = [OracleColumn(f"L{kind}", kind, length=4000) for kind in ("CLOB", "NCLOB", "BLOB")]
    lines, sizes = read_all(monkeypatch, ID, *large)
    assert lines == [b"1\t\t\t\\\\x", b"2\t\\N\t\\N\t\\N", b"3\ta\tb\t\\\\x0a"]
    assert sizes == [500]


def test_rows_without_large_objects_are_read_many_at_a_time(monkeypatch):
    assert read_all(monkeypatch, ID) == ([b"1", b"2", b"3"], [10_000])


@pytest.mark.parametrize("kind", ["LONG", "LONG RAW", "XMLTYPE", "JSON", "VARCHAR2(32767 BYTE)", "RAW(32767)"])
def test_types_without_an_empty_value_are_not_measured(kind):
    """A LONG of no length is NULL, and so is a VARCHAR2; XML and JSON have a text."""
    table = CapturedTable(NAME, 7, (COLUMNS[kind],))
    statement, _ = selecting(table, ["C"], SnapshotId(900, "REPL_", "REPL"))
    assert "GETLENGTH" not in statement


@pytest.mark.parametrize("values", ["", "1"])
def test_a_value_that_is_none_of_its_type_is_said_only_on_request(monkeypatch, values):
    monkeypatch.setenv(VALUES_ENV, values)
    (kind,) = CapturedTable(NAME, 7, (COLUMNS["INTERVAL DAY(2) TO SECOND(6)"],)).kinds
    with pytest.raises(SluiceError, match="none of the type interval") as error:
        texts(pa.table({"C0": ["1 0", "1 canary"]}), [kind])
    assert error.value.code == 362
    assert "none of the type" in error.value.fact
    assert ("canary" in str(error.value)) == bool(values)
