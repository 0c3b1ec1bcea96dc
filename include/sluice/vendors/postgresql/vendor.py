"""What PostgreSQL offers to the core."""

from __future__ import annotations

from sluice.vendors.postgresql.comparing import compare_table
from sluice.vendors.postgresql.copying import load_chunk
from sluice.vendors.postgresql.slave import PostgresSlave
from sluice.vendors.postgresql.source import PostgresSource
from sluice.vendors.protocol import Vendor

VENDOR = Vendor(PostgresSource, PostgresSlave, load_chunk, compare_table)
