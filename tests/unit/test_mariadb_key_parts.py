"""A table of a MariaDB master that is cut at its keys: each row is in one part alone."""

from __future__ import annotations

import pytest

from sluice.initial_update.chunks.plan import CHUNK_BYTES, chunks
from sluice.model.names import TableName
from sluice.vendors.mariadb.catalog.master_tables import MasterTable
from sluice.vendors.mariadb.master_types import MasterColumn
from sluice.vendors.mariadb.read.key_parts import KeyAltered, numbered_by, part_of, written_as
from sluice.vendors.protocol.read import Leaf

NAME = TableName("shop", "t")


def column(name: str, kind: str) -> MasterColumn:
    return MasterColumn(name, kind, kind, 0, 10, 0, 0, not_null=True, is_generated=False)


TABLE = MasterTable(NAME, (column("a", "varchar"), column("i`d", "bigint")), (1,))


@pytest.mark.parametrize("first", [-50, 0, 7, 2**63])
def test_each_key_is_in_one_part_also_beyond_the_ends_that_the_table_had(first):
    leaf = Leaf(NAME, NAME, 10 * CHUNK_BYTES, 1_000, written_as("binlog.000001:4", first))
    parts = [part_of(chunk, TABLE) for chunk in chunks([leaf], 2)]
    assert len(parts) == 12
    for key in (first - 10**6, first - 1, first, first + 1, first + 83, first + 84, first + 999, first + 10**6):
        assert sum(part.has(["a", "i`d"], ["x", str(key)]) for part in parts if part) == 1
    low = sorted(part.condition for part in parts if part)
    assert f"`i``d` < {first + 84}" in low
    assert f"`i``d` >= {first + 84} AND `i``d` < {first + 168}" in low
    assert all(part is None for part in [part_of(chunks([Leaf(NAME, NAME, 1, 1)], 2)[0], TABLE)])


def test_a_table_whose_key_is_altered_meanwhile_is_not_read_by_parts_of_another():
    leaf = Leaf(NAME, NAME, 10 * CHUNK_BYTES, 1_000, written_as("binlog.000001:4", 1))
    (chunk, *_) = chunks([leaf], 2)
    altered = MasterTable(NAME, TABLE.columns, (0,))
    assert numbered_by(altered) is numbered_by(MasterTable(NAME, TABLE.columns, (0, 1))) is None
    with pytest.raises(KeyAltered):
        part_of(chunk, altered)
    part = part_of(chunk, TABLE)
    assert part
    with pytest.raises(KeyAltered):
        part.has(["a"], ["x"])
