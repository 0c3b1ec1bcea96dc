"""The slot of a source on its server: made, looked at, moved on, dropped; and what the source has recorded of it."""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import dataclass

import psycopg
from psycopg import sql

from sluice import shell
from sluice.errors import AGAIN, ConfigError, StrangeSource, TransientError
from sluice.model.names import Resources
from sluice.vendors.gaussdb.capture.settings import CaptureSettings
from sluice.vendors.gaussdb.capture.slot import lsn
from sluice.vendors.gaussdb.capture.slot.options import slot_name
from sluice.vendors.gaussdb.capture.slot.stream import Place
from sluice.vendors.gaussdb.session import composed
from sluice.vendors.postgresql.session import Connection

_LONGEST = 63
# How long a slot that is made waits for transactions that are open.
_WAIT = "60s"
_FREE_S = 10.0
# How servers of this kind call the place up to which a slot was read.
_READ_UP_TO = ("confirmed_flush_lsn", "confirmed_flush")
_REBASE = (
    "what was published stays in the change log. Trigger the DAG bootstrap with rebase, which makes the slot anew, "
    "then initial_update for all slaves of this source"
)


@dataclass(frozen=True)
class Recorded:
    """What the source keeps of its slot: its name, and what of it is published."""

    slot: str
    place: Place


def expect_possible(connection: Connection, settings: CaptureSettings) -> None:
    """See that the server and the role allow it.

    Raises:
        ConfigError: SLC-400, they do not; SLC-438, an option takes too much of the server's memory.
    """
    row = connection.execute(composed("capture/log/server")).fetchone()
    assert row is not None
    level, most, used, may, is_standby, memory_kb = row
    role = sql.Identifier(connection.info.user).as_string()
    missing = []
    if level != "logical":
        missing.append(f"wal_level is {level}: set wal_level = logical in postgresql.conf, and restart the server")
    if used >= most:
        missing.append(
            f"all {most} replication slots are taken: drop one that nobody needs, or raise max_replication_slots in "
            "postgresql.conf, and restart the server"
        )
    if not may:
        missing.append(f"the role may not replicate: an administrator types ALTER ROLE {role} REPLICATION")
    if is_standby:
        missing.append("the connection leads to a standby, where nothing can be installed: let it lead to the primary")
    if missing:
        raise ConfigError(
            400,
            f"changes cannot be captured from the server's log: {'; '.join(missing)}",
            f"nothing was changed; {shell.sluice('grants', 'SOURCE')}, with the name of the source, prints what gives "
            "the role its rights; then trigger the DAG bootstrap",
        )
    if memory_kb is not None:
        settings.options.expect_memory(memory_kb)


def name(connection: Connection, resources: Resources, settings: CaptureSettings) -> str:
    """The name of the slot: that of the configuration, or one by database and prefix."""
    if settings.slot:
        return settings.slot
    (database,) = connection.execute(composed("capture/log/database")).fetchone() or (0,)
    digest = hashlib.sha256(f"{resources.schema}.{resources.folded}".encode()).hexdigest()[:8]
    tail = f"_{database}_{digest}"
    return slot_name(re.sub("[^a-z0-9_]", "_", resources.folded.rstrip("_"))[: _LONGEST - len(tail)] + tail)


def make(connection: Connection, slot: str, settings: CaptureSettings) -> int:
    """Make the slot; where it begins.

    Raises:
        TransientError: SLC-408, transactions stay open, and the slot would begin behind them.
    """
    made = composed("capture/log/make_slot", slot=sql.Literal(slot), plugin=sql.Literal(settings.plugin.name))
    connection.execute(sql.SQL("SET statement_timeout = {}").format(sql.Literal(_WAIT)))
    try:
        (place,) = connection.execute(made).fetchone() or ("0/0",)
    except psycopg.errors.QueryCanceled:
        raise TransientError(
            408,
            f"the slot {slot} cannot be made: transactions on this server stay open for longer than {_WAIT}",
            f"see pg_stat_activity which, and end those that were forgotten; {AGAIN}",
        ) from None
    finally:
        connection.execute("SET statement_timeout = 0")
    return lsn.number(place)


def drop(connection: Connection, slot: str, settings: CaptureSettings) -> bool:
    """Drop a slot of ours, if it is there; whether it was.

    Raises:
        ConfigError: SLC-594, it is somebody else's.
    """
    found = _found(connection, slot)
    if found is None:
        return False
    if fault := _foreign(connection, found, settings):
        raise ConfigError(
            594,
            f"the slot {slot} is one of somebody else: {fault}",
            "nothing was changed; choose another `slot` in `decoding` of the source, or another `prefix`",
        )
    connection.execute(composed("capture/log/drop_slot", slot=sql.Literal(slot)))
    return True


def catch_up(connection: Connection, known: Recorded | None, settings: CaptureSettings) -> Recorded:
    """See that the slot is there and begins where the record says, or before: then it is moved there.

    Raises:
        StrangeSource: SLC-404, it is gone, of somebody else, or changes were taken out of it.
    """
    if known is None:
        raise _lost("no slot was made")
    found = _found(connection, known.slot)
    if found is None:
        raise _lost(f"the slot {known.slot} is not there")
    if fault := _foreign(connection, found, settings):
        raise _lost(f"the slot {known.slot} is one of somebody else: {fault}")
    if found.get("wal_status") == "lost":
        raise _lost(f"the server has dropped what the slot {known.slot} still needs")
    # Some versions do not tell.
    read = next((found[column] for column in _READ_UP_TO if found.get(column)), None)
    at = lsn.number(str(read)) if read else 0
    if at > known.place.lsn:
        raise _lost(f"changes were taken out of the slot {known.slot}, which nobody published")
    if at < known.place.lsn:
        advance(connection, known.slot, known.place.lsn)
    return known


def advance(connection: Connection, slot: str, place: int) -> None:
    """Let the server forget what is published, and recorded as that."""
    connection.execute(composed("capture/log/advance", slot=sql.Literal(slot), lsn=sql.Literal(lsn.written(place))))


def await_free(connection: Connection, slot: str) -> None:
    """Wait for a moment until a stream that ended has let go of its slot."""
    until = time.monotonic() + _FREE_S
    while time.monotonic() < until:
        found = _found(connection, slot)
        if found is None or not found["active"]:
            return
        time.sleep(0.02)


def _found(connection: Connection, slot: str) -> dict[str, object] | None:
    cursor = connection.execute(composed("capture/log/slot", slot=sql.Literal(slot)))
    row = cursor.fetchone()
    return dict(zip((column.name for column in cursor.description or ()), row, strict=True)) if row else None


def _foreign(connection: Connection, found: dict[str, object], settings: CaptureSettings) -> str:
    if found["plugin"] != settings.plugin.name:
        return f"its plugin is {found['plugin']}, and not {settings.plugin.name}"
    if found["database"] != connection.info.dbname:
        return f"it reads the database {found['database']}"
    return ""


def _lost(why: str) -> StrangeSource:
    return StrangeSource(404, f"the server's log does not lead on from where it was published: {why}", _REBASE)
