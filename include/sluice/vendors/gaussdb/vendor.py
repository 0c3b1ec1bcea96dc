"""The vendor GaussDB, and openGauss: a source that is captured by its log."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sluice.config.logical_decoding import Decoding
from sluice.connections import ConnectionInfo
from sluice.libpq import PORT, database_id
from sluice.model.lineage import Dataset
from sluice.model.names import Pair, TableName
from sluice.tls import Transport
from sluice.vendors.gaussdb.capture.capture import SlotCapture
from sluice.vendors.gaussdb.capture.settings import MPPDB, CaptureSettings
from sluice.vendors.gaussdb.master import GaussMaster
from sluice.vendors.gaussdb.read.rows import no_blocks, reading
from sluice.vendors.gaussdb.session import connect
from sluice.vendors.gaussdb.source_session import SourceSession
from sluice.vendors.postgresql.capture.install import resources
from sluice.vendors.postgresql.catalog.definition import PostgresTable
from sluice.vendors.postgresql.load.receiver import PostgresReceiver
from sluice.vendors.postgresql.programs import EXPORTING
from sluice.vendors.postgresql.read.compare import compare_table
from sluice.vendors.postgresql.slave import PostgresSlave
from sluice.vendors.postgresql.vendor import message_values
from sluice.vendors.postgresql.visibility import read_snapshot
from sluice.vendors.protocol.capabilities import CaptureWay
from sluice.vendors.protocol.capture import expect_no_standby
from sluice.vendors.protocol.master import Source
from sluice.vendors.protocol.read import Foreseen, KeyRange
from sluice.vendors.registry import Master, Vendor

# Another one that prints the same is set by tests, whose server has not this one.
PLUGIN = MPPDB


def _source(
    info: ConnectionInfo,
    schema: str | None,
    prefix: str,
    trusted: Collection[str] = (),
    capture: str = "log",
    decoding: Decoding | None = None,
    standby: ConnectionInfo | None = None,
) -> Source:
    expect_no_standby(standby)
    settings = CaptureSettings.of(capture, decoding, PLUGIN)
    session = SourceSession(info, schema, prefix)
    return Source(GaussMaster(session), SlotCapture(session, settings))


def _dataset(info: ConnectionInfo, pair: Pair, name: TableName) -> Dataset:
    # OpenLineage has no rule for it: that of the nearest system, under a scheme of its own.
    return Dataset.on_server("gaussdb", info.host, info.port or PORT, info.database, name.schema, name.table)


def _active(info: ConnectionInfo) -> int:
    raise no_blocks()


def _foresee(info: ConnectionInfo, ranges: Sequence[KeyRange], trusted: Collection[str]) -> list[Foreseen]:
    raise no_blocks()


def _transport(info: ConnectionInfo) -> Transport:
    with connect(info, "check") as session:
        return Transport.from_our_end(session)


# As a slave no configuration can name it.
VENDOR = Vendor(
    slave=PostgresSlave,
    receive=PostgresReceiver,
    compare_table=compare_table,
    dataset=_dataset,
    master=Master(
        source=_source,
        resources=resources,
        read=reading,
        message_values=message_values,
        read_snapshot=read_snapshot,
        definition=PostgresTable.from_json,
        exporting=EXPORTING,
        active=_active,
        foresee=_foresee,
        captures={"log": CaptureWay("the slot", "and fill the master's disk", from_log=True, says_kept=False)},
    ),
    database_id=database_id,
    transport=_transport,
)
