"""The files of a table: rows are found by their keys, whatever type these have, and looked for where they may be."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

from sluice.errors import FencedError
from sluice.model.layout import Column
from sluice.model.names import Pair, TableName
from sluice.vendors.parquet.directory import ReplicationDirectory
from sluice.vendors.parquet.types import tokens, typed
from sluice.vendors.parquet.versions import Version, Versions
from sluice.vendors.parquet.write.data_files import TableFiles

KEYS = {
    "smallint": ["1", "-2", "3"],
    "bigint": ["1", "2", "9223372036854775807"],
    "boolean": ["t", "f"],
    "numeric(9,2)": ["1.00", "-2.50", "3.25", "NaN"],
    "numeric": ["1", "1.0", "NaN"],
    "text": ["a", "", "é", "\U0001f600", "a\tb", "a\\tb", "zz"],
    "bytea": ["\\x00", "\\xff", "\\x"],
    "date": ["2024-01-01", "0001-01-01", "infinity", "0044-03-15 BC"],
    "timestamp with time zone": ["2024-01-01 00:00:00+00", "1999-01-01 00:00:00.123+00", "-infinity"],
    "timestamp without time zone": ["2024-01-01 00:00:00", "1999-01-01 00:00:00.123"],
    "double precision": ["1", "NaN", "-0", "0", "Infinity"],
    "uuid": ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
}


@pytest.fixture
def place(tmp_path):
    made = ReplicationDirectory(tmp_path / "slave" / "source")
    made.make()
    return made


def rows_of(kind, texts):
    return typed([Column("k", kind), Column("v", "text")], [pa.array(texts, pa.string())] * 2)


def values(files):
    return [row["v"] for rows in files.read() for row in rows.to_pylist()]


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_of_any_type_is_found_alone_and_no_other_file_is_touched(place, kind):
    texts = KEYS[kind]
    for gone in texts:
        together, apart = (TableFiles(place, TableName("public", kind), 1, []) for _ in range(2))
        together.append(rows_of(kind, texts))
        for text in texts:
            apart.append(rows_of(kind, [text]))
        before = list(apart.listed)
        for files in (together, apart):
            assert files.remove_keys(rows_of(kind, [gone]), ["k"]) == 1
            assert values(files) == [text for text in texts if text != gone]
        assert apart.listed == [file for file, text in zip(before, texts, strict=True) if text != gone]


def test_as_many_rows_that_look_alike_go_as_are_to_go(place):
    files = TableFiles(place, TableName("public", "t"), 1, [])
    for _ in range(3):
        files.append(rows_of("text", ["a", "b", "a", None]))
    wanted = rows_of("text", ["a", None])
    image, nothing = tokens(wanted, ["k", "v"]).to_pylist()
    assert files.count(wanted, ["k", "v"]) == {image: 6, nothing: 3}
    files.remove_rows(Counter({image: 4, nothing: 1}), ["k", "v"])
    assert Counter(values(files)) == {"a": 2, "b": 3, None: 2}


def test_a_number_is_given_out_once_and_never_to_one_who_slept(place):
    """Old versions are removed, so the number of one who slept for long is free again."""
    awake, asleep = (Versions(place, Pair("flights", "lake")) for _ in range(2))
    first = asleep.commit(Version(), Version(epoch=1))
    newest = first
    for epoch in (2, 3, 4):
        newest = awake.commit(newest, Version(epoch=epoch))
    with pytest.raises(FencedError, match="somebody took over"):
        asleep.commit(first, first)
    awake.tidy(awake.oldest())
    assert [path.stem for path in place.versions.iterdir()] == ["000000000004"]
    with pytest.raises(FencedError, match="somebody took over"):
        asleep.commit(first, first)
    assert awake.current() == newest
