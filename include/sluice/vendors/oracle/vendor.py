"""The vendor Oracle: a slave, and a master that is captured by triggers."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import closing

import oracledb

from sluice.config.logical_decoding import Decoding
from sluice.connections import ConnectionInfo
from sluice.messages.column_literal import PRINTED
from sluice.model.lineage import Dataset
from sluice.model.names import Pair, TableName
from sluice.tls import VERIFYING, Transport
from sluice.vendors.oracle import grants
from sluice.vendors.oracle.capture.queue.capture import QueueCapture
from sluice.vendors.oracle.errors import NO_RIGHT, code_of, translated
from sluice.vendors.oracle.fence import is_ours
from sluice.vendors.oracle.load.receiver import OracleReceiver
from sluice.vendors.oracle.master import OracleMaster
from sluice.vendors.oracle.names import composed, resources
from sluice.vendors.oracle.read.compare import compare_table
from sluice.vendors.oracle.read.rows import reading
from sluice.vendors.oracle.refusals import expect_triggers, no_activity
from sluice.vendors.oracle.removal import remove
from sluice.vendors.oracle.session import PORT, connect, execute
from sluice.vendors.oracle.slave import OracleSlave
from sluice.vendors.oracle.source_session import SourceSession
from sluice.vendors.oracle.visibility import read_snapshot
from sluice.vendors.oracle.write.repair import OracleRepair
from sluice.vendors.protocol.capabilities import TRIGGERS
from sluice.vendors.protocol.capture import expect_no_decoding, expect_no_standby
from sluice.vendors.protocol.master import Source
from sluice.vendors.protocol.plain_table import PlainTable
from sluice.vendors.protocol.read import Foreseen, KeyRange
from sluice.vendors.registry import Master, Vendor


def _source(
    info: ConnectionInfo,
    schema: str | None,
    prefix: str,
    trusted: Collection[str] = (),
    capture: str = "triggers",
    decoding: Decoding | None = None,
    standby: ConnectionInfo | None = None,
) -> Source:
    expect_triggers(capture)
    expect_no_decoding(decoding)
    expect_no_standby(standby)
    session = SourceSession(info, schema, prefix)
    return Source(OracleMaster(session), QueueCapture(session))


def _dataset(info: ConnectionInfo, pair: Pair, name: TableName) -> Dataset:
    """By the address alone: what else a `dsn` says may be a secret."""
    host, port, service = info.host, info.port, info.extra.get("service_name") or info.database or info.extra.get("sid")
    if found := _easy(info):
        host, port, service = found["host"], int(found["port"] or 0), found["service"]
    return Dataset.on_server("oracle", host, port or PORT, str(service or ""), name.schema, name.table)


def _easy(info: ConnectionInfo) -> re.Match[str] | None:
    return _EASY.fullmatch(str(info.extra.get("dsn") or "").strip())


def _transport(info: ConnectionInfo) -> Transport:
    easy = _easy(info)
    with translated("looking at the way there"), closing(connect(info, "check")) as session:
        ((protocol, client),) = execute(session, composed("session/transport"))
    encrypted = str(protocol).lower() == "tcps"
    # The driver has no TLS that does not verify the server.
    return Transport(easy["host"] if easy else info.host, client or "", encrypted, encrypted, VERIFYING[-1], _TCPS)


def _database_id(info: ConnectionInfo) -> str:
    """By what the driver is given, in which case does not count; it is compared, and never shown."""
    extra = info.extra
    if not (dsn := str(extra.get("dsn") or "")):
        service = extra.get("service_name") or extra.get("sid") or info.database
        return f"{info.host}:{info.port or PORT}/{service}".casefold()
    if easy := _EASY.fullmatch(dsn):
        return f"{easy['host']}:{easy['port'] or PORT}/{easy['service'] or ''}".casefold()
    return dsn.casefold()


def _active(info: ConnectionInfo) -> int:
    with translated("looking at what others do"), closing(connect(info, "load")) as session:
        try:
            ((count,),) = execute(session, composed("read/active"))
        except oracledb.DatabaseError as error:
            raise no_activity() if code_of(error) in NO_RIGHT else error from None
    return int(count)


def _foresee(info: ConnectionInfo, ranges: Sequence[KeyRange], trusted: Collection[str] = ()) -> list[Foreseen]:
    """Nothing: statistics know the whole table alone, and EXPLAIN PLAN writes into a table."""
    return []


# HOST,...:PORT/SERVICE:SERVER/INSTANCE?MORE, or the name of an entry in tnsnames.ora; no login, which ends with an @.
_EASY = re.compile(
    r"(?:(?:\w+:)?//)?(?P<host>[\w.-]+)(?:,[\w.,-]+)?(?::(?P<port>\d+))?(?:/(?P<service>[\w.$#-]+))?"
    r"(?::\w+)?(?:/\w+)?(?:\?[^@]*)?"
)

_TCPS = "`protocol` tcps in the extra of its Airflow connection"

VENDOR = Vendor(
    conn_type="oracle",
    slave=OracleSlave,
    receive=OracleReceiver,
    compare_table=compare_table,
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
        foresee=_foresee,
        captures={"triggers": TRIGGERS},
    ),
    database_id=_database_id,
    remove=remove,
    repair=OracleRepair,
    grants=grants.for_slave,
    is_ours=is_ours,
    transport=_transport,
)
