"""The vendor Parquet: a directory of files as a slave."""

from __future__ import annotations

from functools import partial

from sluice.connections import ConnectionInfo
from sluice.model.lineage import Dataset
from sluice.model.names import Pair, TableName
from sluice.vendors.parquet.compare import compare_table
from sluice.vendors.parquet.directory import replication_directory
from sluice.vendors.parquet.load.tables import LakeReceiver
from sluice.vendors.parquet.removal import remove
from sluice.vendors.parquet.slave import ParquetSlave
from sluice.vendors.parquet.write.mode import MODES
from sluice.vendors.registry import Vendor


def _dataset(info: ConnectionInfo, pair: Pair, name: TableName) -> Dataset:
    return Dataset("file", str(replication_directory(info, pair).folder(name)))


VENDOR = Vendor(
    conn_type="fs",
    slave=partial(ParquetSlave, MODES["rows"]),
    receive=LakeReceiver,
    compare_table=compare_table,
    dataset=_dataset,
    remove=remove,
    is_one_piece=True,
    history=partial(ParquetSlave, MODES["history"]),
)
