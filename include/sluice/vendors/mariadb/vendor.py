"""The vendor MariaDB: a slave, and a master that is captured by its binary log."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing

from sluice.config.logical_decoding import Decoding
from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError
from sluice.messages.column_literal import PRINTED
from sluice.model.lineage import Dataset
from sluice.model.names import Pair, TableName
from sluice.vendors.mariadb import leftovers
from sluice.vendors.mariadb.capture.binlog.capture import BinlogCapture
from sluice.vendors.mariadb.grants import for_altering, for_slave
from sluice.vendors.mariadb.load.receiver import MariaReceiver
from sluice.vendors.mariadb.master import MariaMaster
from sluice.vendors.mariadb.read.compare import compare_table
from sluice.vendors.mariadb.read.estimate import foresee
from sluice.vendors.mariadb.read.master_digests import digests
from sluice.vendors.mariadb.read.rows import reading
from sluice.vendors.mariadb.removal import remove
from sluice.vendors.mariadb.session import PORT, composed, connect_to_master, execute, transport
from sluice.vendors.mariadb.slave import MariaSlave
from sluice.vendors.mariadb.source_session import SourceSession, resources
from sluice.vendors.mariadb.visibility import read_snapshot
from sluice.vendors.mariadb.write.repair import MariaRepair
from sluice.vendors.protocol.capabilities import CaptureWay
from sluice.vendors.protocol.capture import expect_no_decoding, expect_no_standby
from sluice.vendors.protocol.master import Source
from sluice.vendors.protocol.plain_table import PlainTable
from sluice.vendors.registry import Master, Vendor
from sluice.vendors.text_compare import whole


def _source(
    info: ConnectionInfo,
    schema: str | None,
    prefix: str,
    trusted: Collection[str] = (),
    capture: str = "binlog",
    decoding: Decoding | None = None,
    standby: ConnectionInfo | None = None,
) -> Source:
    if capture != "binlog":
        raise ConfigError(
            438,
            f"a MariaDB master cannot be captured by {capture}: its triggers do not see what foreign keys change, and "
            "know no number of their transaction that tells the order of commits",
            "nothing was changed; set `capture: binlog` for the source",
        )
    expect_no_decoding(decoding)
    expect_no_standby(standby)
    session = SourceSession(info, schema, prefix)
    return Source(MariaMaster(session), BinlogCapture(session))


def _dataset(info: ConnectionInfo, pair: Pair, name: TableName) -> Dataset:
    return Dataset.on_server("mysql", info.host, info.port or PORT, name.schema, name.table)


def _database_id(info: ConnectionInfo) -> str:
    """That of the server: every session reaches all of its databases, which are schemas here."""
    return f"{info.host}:{info.port or PORT}"


def _active(info: ConnectionInfo) -> int:
    """How many sessions of others execute something."""
    with closing(connect_to_master(info, "activity")) as session:
        ((count,),) = execute(session, composed("read/active"))
    return int(count)


VENDOR = Vendor(
    conn_type="mysql",
    slave=MariaSlave,
    receive=MariaReceiver,
    compare_table=compare_table,
    cut=whole,
    dataset=_dataset,
    master=Master(
        source=_source,
        resources=resources,
        read=reading,
        message_values=PRINTED.get,
        read_snapshot=read_snapshot,
        definition=PlainTable.from_json,
        exporting=None,
        active=_active,
        foresee=foresee,
        captures={"binlog": CaptureWay("the binary log", "until the server purges its files", from_log=True)},
        digests=digests,
        leftovers=leftovers.of_source,
    ),
    database_id=_database_id,
    remove=remove,
    repair=MariaRepair,
    grants=for_slave,
    leftovers=leftovers.of_slave,
    altering=for_altering,
    transport=transport,
)
