"""The vendor PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Collection

from sluice.config.logical_decoding import Decoding
from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError
from sluice.libpq import PORT, database_id
from sluice.messages.column_literal import BOOLEAN_WORDS, PRINTED, Cell
from sluice.model.lineage import Dataset
from sluice.model.names import Pair, TableName
from sluice.tls import Transport
from sluice.vendors.postgresql import grants, leftovers, migrations
from sluice.vendors.postgresql.capture import install
from sluice.vendors.postgresql.capture.by_triggers import TriggerCapture
from sluice.vendors.postgresql.capture.log.capture import LogCapture
from sluice.vendors.postgresql.catalog.definition import PostgresTable
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.load.blocks import PostgresBlocks, PostgresRanges
from sluice.vendors.postgresql.load.keys import PostgresRepair
from sluice.vendors.postgresql.load.receiver import PostgresReceiver
from sluice.vendors.postgresql.load.versioned_keys import VERSION, PostgresVersionedRepair
from sluice.vendors.postgresql.master import PostgresMaster
from sluice.vendors.postgresql.programs import EXPORTING, IMPORTING, size
from sluice.vendors.postgresql.read.activity import active
from sluice.vendors.postgresql.read.compare import compare_table
from sluice.vendors.postgresql.read.cut_tables import cut
from sluice.vendors.postgresql.read.digests import digests
from sluice.vendors.postgresql.read.estimate import foresee
from sluice.vendors.postgresql.read.lock_yield import LockYield
from sluice.vendors.postgresql.read.rows import reading
from sluice.vendors.postgresql.read.sizes import sizes
from sluice.vendors.postgresql.removal import remove
from sluice.vendors.postgresql.session import connect
from sluice.vendors.postgresql.slave import PostgresSlave
from sluice.vendors.postgresql.source_session import SourceSession
from sluice.vendors.postgresql.visibility import read_snapshot
from sluice.vendors.protocol.capabilities import TRIGGERS, CaptureWay
from sluice.vendors.protocol.capture import Capture, expect_no_decoding
from sluice.vendors.protocol.master import Source
from sluice.vendors.registry import BlockLoading, Master, Vendor


def _source(
    info: ConnectionInfo,
    schema: str | None,
    prefix: str,
    trusted: Collection[str] = (),
    capture: str = "triggers",
    decoding: Decoding | None = None,
    standby: ConnectionInfo | None = None,
) -> Source:
    if capture not in _CAPTURES:
        raise ConfigError(
            438,
            f"a PostgreSQL master cannot be captured by {capture}",
            f"nothing was changed; set `capture` of the source to {' or '.join(_CAPTURES)}",
        )
    expect_no_decoding(decoding)
    session = SourceSession(info, schema, prefix, trusted, standby)
    return Source(PostgresMaster(session), _CAPTURES[capture](session))


def _dataset(info: ConnectionInfo, pair: Pair, name: TableName) -> Dataset:
    return Dataset.on_server("postgres", info.host, info.port or PORT, info.database, name.schema, name.table)


def _transport(info: ConnectionInfo) -> Transport:
    with translated("looking at the way there"), connect(info, "check", autocommit=True) as session:
        return Transport.from_session(session)


def message_values(type_name: str) -> Callable[[str], Cell] | None:
    """What a message has for what the database prints of a type; None if it is the same."""
    return _MESSAGE_VALUES.get(type_name)


_CAPTURES: dict[str, Callable[[SourceSession], Capture]] = {"triggers": TriggerCapture, "log": LogCapture}
SLOT = CaptureWay("the slot", "and fill the master's disk", from_log=True, says_kept=True)
_MESSAGE_VALUES: dict[str, Callable[[str], Cell]] = {**PRINTED, "boolean": BOOLEAN_WORDS.__getitem__}

VENDOR = Vendor(
    slave=PostgresSlave,
    receive=PostgresReceiver,
    compare_table=compare_table,
    dataset=_dataset,
    master=Master(
        source=_source,
        resources=install.resources,
        read=reading,
        message_values=message_values,
        read_snapshot=read_snapshot,
        definition=PostgresTable.from_json,
        exporting=EXPORTING,
        active=active,
        foresee=foresee,
        captures={"triggers": TRIGGERS, "log": SLOT},
        digests=digests,
        version=VERSION,
        leftovers=leftovers.of_source,
    ),
    database_id=database_id,
    remove=remove,
    importing=IMPORTING,
    size=size,
    sizes=sizes,
    online=BlockLoading(ranges=PostgresRanges, receive=PostgresBlocks),
    grants=grants.for_slave,
    leftovers=leftovers.of_slave,
    silencing=grants.silencing,
    giving_way=LockYield,
    is_ours=migrations.is_ours,
    cut=cut,
    repair=PostgresRepair,
    repair_versions=PostgresVersionedRepair,
    transport=_transport,
)
