"""What a directory of Parquet files offers to the core."""

from __future__ import annotations

from functools import partial

from sluice.vendors.parquet.load.tables import LakeReceiver
from sluice.vendors.parquet.slave import ParquetSlave
from sluice.vendors.parquet.write.mode import KINDS
from sluice.vendors.registry import Vendor
from sluice.verify.bucket_compare import compare_table

VENDOR = Vendor(
    partial(ParquetSlave, KINDS["rows"]), LakeReceiver, compare_table, history=partial(ParquetSlave, KINDS["history"])
)
