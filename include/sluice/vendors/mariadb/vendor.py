"""The vendor MariaDB: a slave."""

from __future__ import annotations

from sluice.vendors.mariadb.load.receiver import MariaReceiver
from sluice.vendors.mariadb.read.compare import compare_table
from sluice.vendors.mariadb.slave import MariaSlave
from sluice.vendors.registry import Vendor

VENDOR = Vendor(MariaSlave, MariaReceiver, compare_table)
