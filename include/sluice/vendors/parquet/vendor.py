"""What a directory of Parquet files offers to the core."""

from __future__ import annotations

from functools import partial

from sluice.vendors.parquet.comparing import compare_table
from sluice.vendors.parquet.kinds import KINDS
from sluice.vendors.parquet.loading import LakeReceiver
from sluice.vendors.parquet.slave import ParquetSlave
from sluice.vendors.registry import Vendor

VENDOR = Vendor(
    partial(ParquetSlave, KINDS["rows"]), LakeReceiver, compare_table, history=partial(ParquetSlave, KINDS["history"])
)
