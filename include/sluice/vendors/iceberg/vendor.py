"""The vendor Iceberg: a directory of Parquet files with Iceberg's metadata."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sluice.vendors.iceberg.slave import IcebergSlave
from sluice.vendors.parquet.vendor import VENDOR as FILES
from sluice.vendors.parquet.write.mode import MODES

VENDOR = replace(FILES, slave=partial(IcebergSlave, MODES["rows"]), history=partial(IcebergSlave, MODES["history"]))
