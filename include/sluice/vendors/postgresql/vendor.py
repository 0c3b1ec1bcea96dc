"""What PostgreSQL offers to the core."""

from __future__ import annotations

from collections.abc import Callable

from sluice.model.content import BOOLEAN_WORDS, Cell
from sluice.vendors.postgresql import capturing, granting
from sluice.vendors.postgresql.activity import active
from sluice.vendors.postgresql.comparing import compare_table
from sluice.vendors.postgresql.copying import PostgresReceiver
from sluice.vendors.postgresql.definition import TableDefinition
from sluice.vendors.postgresql.external import EXPORTING, IMPORTING, size
from sluice.vendors.postgresql.foreseeing import foresee
from sluice.vendors.postgresql.giving_way import GivingWay
from sluice.vendors.postgresql.ranges import PostgresBlocks, PostgresRanges
from sluice.vendors.postgresql.reading import reading
from sluice.vendors.postgresql.slave import PostgresSlave
from sluice.vendors.postgresql.source import PostgresSource
from sluice.vendors.registry import Master, Online, Vendor


def _message_values(type_name: str) -> Callable[[str], Cell] | None:
    return _MESSAGE_VALUES.get(type_name)


def _of_hex(text: str) -> bytes:
    return bytes.fromhex(text[2:])


_MESSAGE_VALUES: dict[str, Callable[[str], Cell]] = {"bytea": _of_hex, "boolean": BOOLEAN_WORDS.__getitem__}

VENDOR = Vendor(
    PostgresSlave,
    PostgresReceiver,
    compare_table,
    Master(
        PostgresSource,
        capturing.resources,
        reading,
        _message_values,
        TableDefinition.from_json,
        EXPORTING,
        active,
        foresee,
    ),
    importing=IMPORTING,
    size=size,
    online=Online(PostgresRanges, PostgresBlocks),
    grants=granting.for_slave,
    giving_way=GivingWay,
)
