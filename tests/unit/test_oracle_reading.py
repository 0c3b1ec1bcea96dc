"""Reading an Oracle master as of a change number: pieces of tables, and Arrow batches of the driver."""

from __future__ import annotations

import oracledb
import pyarrow as pa
import pytest
from support.oracle import COLUMNS, running
from support.oracle_session import NAME, TABLE, catalog_of, source

from sluice.errors import SluiceError
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.recorded import layout_of
from sluice.vendors.oracle.read.rows import bounds, cuts_of, selecting, texts, written_as
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
    assert bounds(Chunk(0, leaf, 0, None, since="700"))[1] == {"since": 700}
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
    assert error.value.code == 493
