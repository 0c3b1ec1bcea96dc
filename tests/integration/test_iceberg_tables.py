"""What Iceberg lists is what a version lists, whoever tells it, however often and however late."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import replace

import pyarrow as pa
import pytest
from pyiceberg.expressions import EqualTo
from pyiceberg.table import StaticTable

from sluice.errors import SluiceError
from sluice.model.layout import Column
from sluice.model.names import TableName
from sluice.model.position import Position, Snapshot
from sluice.vendors.iceberg.metadata import Metadata
from sluice.vendors.iceberg.tables import IcebergTables
from sluice.vendors.parquet.directory import ReplicationDirectory
from sluice.vendors.parquet.types import typed
from sluice.vendors.parquet.versions import Table, Version
from sluice.vendors.parquet.write.data_files import TableFiles
from sluice.vendors.parquet.write.mode import MODES

NAME = TableName("public", "t")
COLUMNS = (Column("id", "integer"), Column("v", "text"))
EMPTY = Version(1, "rows", epoch=1, position=Position(1, 1), tables={NAME: Table(NAME, COLUMNS)})


@pytest.fixture
def place(tmp_path):
    made = ReplicationDirectory(tmp_path / "slave" / "source")
    made.make()
    return made


def rows(columns, *texts):
    return typed(columns, [pa.array(list(column), pa.string()) for column in zip(*texts, strict=True)])


def then(place, version, *added, columns=COLUMNS, name=NAME, without=(), epoch=None):
    """The version that follows when rows are added, and files taken out."""
    before = version.tables.get(name) or Table(name, columns)
    files = TableFiles(place, name, version.epoch, [file for file in before.files if file not in without])
    for texts in added:
        files.append(rows(columns, *texts))
    table = Table(name, columns, tuple(files.listed))
    number, position = version.number + 1, Position(1, version.position.ordinal + 1)
    tables = {**version.tables, name: table}
    return replace(version, number=number, position=position, tables=tables, epoch=epoch or version.epoch)


def opened(place, folder="public/t"):
    return StaticTable.from_metadata(str(place.root / "iceberg" / folder))


def values(place, folder="public/t", **scan):
    return sorted(row["v"] for row in opened(place, folder).scan(**scan).to_arrow().to_pylist())


def metadata(place):
    return sorted(path.name for path in (place.root / "iceberg/public/t/metadata").iterdir())


def test_each_version_is_a_snapshot_and_older_ones_can_be_read(place):
    tables = IcebergTables(place)
    assert tables.commit(EMPTY)
    assert values(place) == []
    first = then(place, EMPTY, [("1", "a"), ("2", "b")], [("3", "c")])
    second = then(place, first, [("4", "d")], without=first.tables[NAME].files[:1])
    third = then(place, second, without=second.tables[NAME].files)
    for version in (first, second, third):
        assert tables.commit(version)
    snapshots = opened(place).snapshots()
    said = [(one.summary["sluice.version"], one.summary["sluice.position"]) for one in snapshots]
    assert said == [("1", "1/1"), ("2", "1/2"), ("3", "1/3"), ("4", "1/4")]
    found = [values(place, snapshot_id=one.snapshot_id) for one in snapshots]
    assert found == [[], ["a", "b", "c"], ["c", "d"], []]
    assert [one.summary.operation.value for one in snapshots] == ["append", "append", "overwrite", "overwrite"]


def test_what_was_told_is_not_told_again_and_who_was_overtaken_tells_nothing(place):
    first = then(place, EMPTY, [("1", "a")])
    assert IcebergTables(place).commit(first)
    before = metadata(place)
    assert not IcebergTables(place).commit(first)
    second = then(place, first, [("2", "b")], epoch=2)
    assert not IcebergTables(place).commit(replace(first, number=2, epoch=2))
    assert metadata(place) == before
    assert IcebergTables(place).commit(second)
    assert not IcebergTables(place).commit(then(place, first, [("3", "late")]))
    assert values(place) == ["a", "b"]


def test_a_table_that_is_gone_is_found_by_nobody_and_goes_when_no_version_has_it(place):
    first = then(place, EMPTY, [("1", "a")])
    IcebergTables(place).commit(first)
    found = opened(place)
    gone = replace(first, number=3, snapshot=Snapshot("1:1:"), tables={})
    tables = IcebergTables(place)
    assert tables.commit(gone)
    assert not tables.commit(gone)
    with pytest.raises(FileNotFoundError):
        opened(place)
    tables.expire(2)
    assert found.scan().to_arrow()["v"].to_pylist() == ["a"], "who has found it reads on"
    tables.expire(3)
    assert not list((place.root / "iceberg/public").iterdir())


def test_who_finds_no_versions_drops_nothing(place):
    IcebergTables(place).commit(then(place, EMPTY, [("1", "a")]))
    assert not IcebergTables(place).commit(Version(1, epoch=2))
    assert values(place) == ["a"]


def test_neither_a_successors_table_goes_nor_one_of_somebody_else(place):
    first = then(place, EMPTY, [("1", "a")])
    IcebergTables(place).commit(replace(first, epoch=2))
    mine = Metadata(place, TableName("public", "mine"))
    mine.make()
    mine.anew().transaction().set_properties(mine="x").commit_transaction()
    tables = IcebergTables(place)
    assert not tables.commit(replace(first, number=3, snapshot=Snapshot("1:1:"), tables={}))
    tables.expire(3)
    assert values(place) == ["a"]
    assert opened(place, "public/mine").properties["mine"] == "x"


def test_two_who_tell_at_once_leave_what_the_newer_one_told(place, monkeypatch):
    """The older one has read what is there, and commits when the newer one has."""
    from sluice.vendors.iceberg import metadata as module

    first = then(place, EMPTY, [("1", "a")])
    newest = then(place, then(place, first, [("2", "b")]), [("3", "c")], epoch=2)
    IcebergTables(place).commit(EMPTY)
    create, meanwhile = module.create, [newest]

    def slow(path, text):
        if meanwhile:
            IcebergTables(place).commit(meanwhile.pop())
        return create(path, text)

    monkeypatch.setattr(module, "create", slow)
    assert not IcebergTables(place).commit(first)
    assert values(place) == ["a", "b", "c"]
    assert not [name for name in metadata(place) if name.startswith(".")]


def test_what_only_old_versions_had_is_forgotten(place):
    """Whatever the clock said when it was written."""
    tables = IcebergTables(place)
    version = EMPTY
    tables.commit(version)
    for number in range(4):
        version = then(place, version, [(str(number), str(number))])
        tables.commit(version)
    for path in (place.root / "iceberg").rglob("*-m0.avro"):
        os.utime(path, (0, 0))
    tables.expire(version.number - 1)
    left = opened(place).snapshots()
    assert [one.summary["sluice.version"] for one in left] == ["4", "5"]
    assert [values(place, snapshot_id=one.snapshot_id) for one in left] == [["0", "1", "2"], ["0", "1", "2", "3"]]
    there = metadata(place)
    assert len([name for name in there if name.startswith("snap-")]) == 2
    assert len([name for name in there if name.endswith("-m0.avro")]) == 4, "each still lists a file"
    tables.expire(version.number - 1)
    assert metadata(place) == there


def test_what_lists_no_file_any_more_is_not_read_any_more(place):
    tables = IcebergTables(place)
    version = EMPTY
    for number in range(5):
        version = then(place, version, [("1", str(number))], without=version.tables[NAME].files)
        tables.commit(version)
    found = opened(place)
    counts = [(one.added_files_count, one.deleted_files_count) for one in found.current_snapshot().manifests(found.io)]
    assert sorted(counts) == [(0, 1), (1, 0)]


def test_files_with_other_columns_begin_a_table_anew_unless_some_stay(place):
    tables = IcebergTables(place)
    first = then(place, EMPTY, [("1", "a")])
    tables.commit(first)
    wider = (Column("id", "bigint"), Column("v", "text"), Column("w", "numeric(5,2)"))
    second = then(place, first, [("5000000000", "b", "1.5")], columns=wider)
    tables.commit(second)
    for _ in ("followed", "made anew out of both kinds of files"):
        assert values(place) == ["a", "b"]
        assert values(place, row_filter=EqualTo("id", 1)) == ["a"]
        shutil.rmtree(place.root / "iceberg")
        assert IcebergTables(place).commit(second)
    assert [str(field.field_type) for field in opened(place).schema().fields][:3] == [
        "long",
        "string",
        "map<string, string>",
    ]
    other = (Column("id", "text"), Column("v", "text"))
    with pytest.raises(SluiceError, match=r"SLC-432: Iceberg cannot keep public\.t .*id: long -> string"):
        tables.commit(then(place, second, [("x", "c")], columns=other))
    tables.commit(then(place, second, [("x", "c")], columns=other, without=second.tables[NAME].files))
    assert values(place) == ["c"]
    assert [field.name for field in opened(place).schema().fields] == ["id", "v", "sluice_text"]
    assert len(opened(place).snapshots()) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [("numeric(9,2)", "numeric(12,3)"), ("text", "bytea"), ("bytea", "text"), ("date", "timestamp without time zone")],
)
def test_no_column_of_a_history_takes_values_that_it_does_not_hold(place, before, after):
    """Nor does what the library takes for wider."""

    def schema(kind):
        return MODES["history"].schema([Column("a", kind)])

    tables = IcebergTables(place)
    version = replace(EMPTY, keeps="history", tables={NAME: Table(NAME, (Column("a", before),))})
    tables.commit(version)
    with pytest.raises(SluiceError, match=r"SLC-432: .*\ba\b"):
        tables.admit(NAME, schema(after), beside=NAME)
    tables.admit(NAME, schema(after), beside=None)


def test_a_directory_that_was_moved_is_told_anew(place, tmp_path):
    version = then(place, EMPTY, [("1", "a")])
    IcebergTables(place).commit(version)
    moved = ReplicationDirectory(tmp_path / "elsewhere")
    shutil.move(place.root, moved.root)
    assert IcebergTables(moved).commit(version)
    assert values(moved) == ["a"]


@pytest.mark.parametrize("spoilt", ["v*.metadata.json", "snap-*.avro", "*-m0.avro"])
@pytest.mark.parametrize("gone", [True, False])
def test_damaged_metadata_stops_its_slave_until_it_is_removed(place, spoilt, gone):
    version = then(place, EMPTY, [("1", "a")])
    IcebergTables(place).commit(version)
    for path in (place.root / "iceberg/public/t/metadata").glob(spoilt):
        path.unlink() if gone and path.suffix == ".avro" else path.write_text("spoilt")
    with pytest.raises(
        SluiceError, match=r"SLC-199: Iceberg's metadata of public\.t is not as it was written"
    ) as stopped:
        IcebergTables(place).commit(version)
    (named,) = re.findall(r"remove (\S+):", str(stopped.value))
    shutil.rmtree(named)
    assert IcebergTables(place).commit(version)
    assert values(place) == ["a"]


NAMES = {"..": "%2E%2E", "a b": "a%20b", "Ä/ö": "%C3%84%2F%C3%B6", "v1.2": "v1%2E2", "x#?%": "x%23%3F%25"}


@pytest.mark.parametrize("name", NAMES)
def test_tables_and_columns_bear_any_names(place, name):
    table = TableName(name, name)
    columns = (Column("v", "text"), Column(name, "integer"), Column("V", "text"))
    version = then(place, Version(1, "rows"), [("a", "1", "b")], columns=columns, name=table)
    IcebergTables(place).commit(version)
    (row,) = opened(place, f"{NAMES[name]}/{NAMES[name]}").scan().to_arrow().to_pylist()
    assert row == {"v": "a", name: 1, "V": "b", "sluice_text": None}
