"""The vendor Parquet: a directory of files as a slave."""

from __future__ import annotations

from functools import partial

from sluice.vendors.parquet.compare import compare_table
from sluice.vendors.parquet.load.tables import LakeReceiver
from sluice.vendors.parquet.removal import remove
from sluice.vendors.parquet.slave import ParquetSlave
from sluice.vendors.parquet.write.mode import MODES
from sluice.vendors.registry import Vendor

VENDOR = Vendor(
    partial(ParquetSlave, MODES["rows"]),
    LakeReceiver,
    compare_table,
    remove=remove,
    is_one_piece=True,
    history=partial(ParquetSlave, MODES["history"]),
)
