"""What PostgreSQL offers to the core."""

from __future__ import annotations

from collections.abc import Callable

from sluice.vendors.postgresql import capturing
from sluice.vendors.postgresql.activity import active
from sluice.vendors.postgresql.comparing import compare_table
from sluice.vendors.postgresql.copying import PostgresReceiver
from sluice.vendors.postgresql.definition import TableDefinition
from sluice.vendors.postgresql.external import EXPORTING, IMPORTING, size
from sluice.vendors.postgresql.foreseeing import foresee
from sluice.vendors.postgresql.ranges import PostgresBlocks, PostgresRanges
from sluice.vendors.postgresql.reading import reading
from sluice.vendors.postgresql.slave import PostgresSlave
from sluice.vendors.postgresql.source import PostgresSource
from sluice.vendors.registry import Master, Online, Vendor


def _raw(type_name: str) -> Callable[[str], bytes] | None:
    return _of_hex if type_name == "bytea" else None


def _of_hex(text: str) -> bytes:
    return bytes.fromhex(text[2:])


VENDOR = Vendor(
    PostgresSlave,
    PostgresReceiver,
    compare_table,
    Master(PostgresSource, capturing.resources, reading, _raw, TableDefinition.from_json, EXPORTING, active, foresee),
    importing=IMPORTING,
    size=size,
    online=Online(PostgresRanges, PostgresBlocks),
)
