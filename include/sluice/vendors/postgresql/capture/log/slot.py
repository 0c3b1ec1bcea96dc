"""The slot and the publications of a source whose changes are read from the server's log."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus

from sluice.errors import AGAIN, ConfigError, StrangeSource, TransientError
from sluice.model.kept_log import KeptLog
from sluice.model.names import Resources
from sluice.vendors.postgresql.capture.log import standbys
from sluice.vendors.postgresql.capture.log.slot_server import SlotServer
from sluice.vendors.postgresql.capture.log.stream import Place
from sluice.vendors.postgresql.capture.log.unprinted import expect_printed
from sluice.vendors.postgresql.session import Connection, composed

T = TypeVar("T")

PLUGIN = "pgoutput"
_LONGEST = 63
# How long a slot that is made waits for transactions that are open.
_WAIT = "60s"
# A slot is read by one session at a time. Ours look for moments: the publisher, and `status` beside it.
_PATIENCE_S, _PAUSE_S = 15.0, 0.05
# The server notes its place when more than this is decoded again.
_APART_BYTES = 2 * 1024 * 1024
# How the server calls a slot whose log it may remove at the next checkpoint.
_UNRESERVED = "unreserved"
# The end of the name of a slot that was made on a standby.
_ON_STANDBY = "_standby"
# Why a standby ends a slot. Source: PostgreSQL manual, "pg_replication_slots".
_ENDED = {
    "wal_removed": "max_slot_wal_keep_size",
    "rows_removed": "rows_removed: `hot_standby_feedback` was off, or the standby was away and has no slot there",
}
_REBASE = (
    "what was published stays in the change log. Trigger the DAG bootstrap with rebase, which makes the slot anew, "
    "then initial_update for all slaves of this source"
)


@dataclass(frozen=True)
class Recorded:
    """What the source keeps of its slot: its name, what of it is published, and whether the queue comes first."""

    slot: str
    place: Place
    is_behind_queue: bool = False


def publications(resources: Resources) -> sql.Literal:
    """The names of both, as the plugin takes them."""
    return sql.Literal(",".join(f'"{name}"' for name in (rows_name(resources), commands_name(resources))))


def rows_name(resources: Resources) -> str:
    """The name of the publication of watched tables."""
    return resources.everywhere("rows")


def commands_name(resources: Resources) -> str:
    """The name of the publication of the queue."""
    return resources.everywhere("commands")


def recorded(connection: Connection, parts: Mapping[str, sql.Composable]) -> Recorded | None:
    """What is recorded of the slot; None before it is made."""
    row = connection.execute(composed("capture/log/known", **parts)).fetchone()
    return Recorded(row[0], Place(int(row[1]), frozenset(row[2]), frozenset(row[3])), row[4]) if row else None


def make(at: SlotServer, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Make the slot, and record that nothing behind it is published.

    Raises:
        TransientError: SLC-408, transactions stay open, and the slot would begin behind them.
    """
    connection, name = at.master(), name_of(at, resources)
    while True:
        layouts = newest(connection, parts)
        lsn = make_anew(at, name)
        # Of a table that was altered meanwhile nobody knows on which side of the slot.
        if layouts == newest(connection, parts):
            break
    connection.execute(composed("capture/log/begin", **parts), {"slot": name, "lsn": lsn, "layouts": layouts})


def make_anew(at: SlotServer, name: str) -> int:
    """Make a slot, in the place of one that is there, and record nothing; where in the log it begins.

    Raises:
        TransientError: SLC-408, transactions stay open.
    """
    expect_trusted_owners(at, name)
    drop(at.open(), name)
    return make_first(at, name)


def make_first(at: SlotServer, name: str) -> int:
    """Make a slot where there is none of this name, and record nothing; where in the log it begins.

    Raises:
        psycopg.errors.DuplicateObject: there is one.
        TransientError: SLC-408, transactions stay open.
    """
    # A standby would begin the slot before what is committed by now, the publications among it.
    at.catch_up()
    connection = at.open()
    try:
        connection.execute(sql.SQL("SET statement_timeout = {}").format(sql.Literal(_WAIT)))
        is_copied = connection.info.server_version >= standbys.SINCE and not at.is_standby
        making = composed(f"capture/log/{'make_failover_slot' if is_copied else 'make_slot'}", slot=sql.Literal(name))
        (lsn,) = at.made(lambda session: session.execute(making).fetchone()) or (0,)
    except psycopg.errors.QueryCanceled:
        raise at.unmade(name, _WAIT) from None
    finally:
        # Within a transaction that failed, its end takes the setting back.
        if connection.info.transaction_status is not TransactionStatus.INERROR:
            connection.execute("SET statement_timeout = 0")
    return int(lsn)


def expect_trusted_owners(at: SlotServer, name: str) -> None:
    """See that no slot of this name is one that Sluice never makes. Raises ConfigError SLC-594."""
    row = at.open().execute(composed("capture/log/owner", slot=sql.Literal(name))).fetchone()
    if row and (row[0] != PLUGIN or not row[1]):
        raise ConfigError(
            594,
            f"the server has a slot {name} that is not of Sluice: {row[0] or 'a physical one'}",
            "nothing was changed. See in pg_replication_slots who reads it. If nobody needs it, type "
            f"SELECT pg_drop_replication_slot('{name}'); then trigger the DAG bootstrap again",
        )


def drop(server: Connection, name: str) -> bool:
    """Drop a slot of this database and of our plugin, if it is there; whether it was."""
    return server.execute(composed("capture/log/drop_slot", slot=sql.Literal(name))).rowcount > 0


def has_waiting(at: SlotServer, resources: Resources, known: Recorded, until: int | None = None) -> bool:
    """Whether a transaction with changes waits in the slot; committed before a place of the log, if one is given.

    Raises:
        psycopg.errors.ObjectInUse: somebody else reads the slot.
        StrangeSource: SLC-404, see `expect_printed`.
    """
    waits = composed(
        "capture/log/waiting",
        slot=sql.Literal(known.slot),
        until=sql.Literal(until),
        publications=publications(resources),
    )
    with expect_printed():
        (waiting,) = at.open().execute(waits).fetchone() or (False,)
    return bool(waiting)


def is_published(at: SlotServer, resources: Resources, parts: Mapping[str, sql.Composable], until: int) -> bool | None:
    """Whether all is published that was committed before a place of the server's log; None if there is no slot.

    Raises:
        StrangeSource: SLC-404, see `catch_up`.
    """
    if (known := recorded(at.master(), parts)) is None:
        return None
    if known.place.lsn >= until:
        return True
    try:
        ready = at.has(until) and not expect_whole(at, parts, known)
        return ready and not has_waiting(at, resources, known, until)
    except psycopg.errors.ObjectInUse:
        # The publisher is at it.
        return False


def catch_up(at: SlotServer, parts: Mapping[str, sql.Composable]) -> Recorded:
    """See that the slot is there and begins where the record says, or before: then it is moved there.

    Raises:
        ConfigError: SLC-406, it was made on another server than the configuration names.
        StrangeSource: SLC-404, it is gone, of somebody else, or changes were taken out of it.
        TransientError: SLC-450, somebody else reads it; SLC-554, a standby that is to have all first is away.
    """
    if (known := recorded(at.master(), parts)) is None:
        raise _lost("no slot was made")
    end = time.monotonic() + _PATIENCE_S
    while hindrance := expect_whole(at, parts, known):
        if time.monotonic() > end:
            raise hindrance
        time.sleep(_PAUSE_S)
    return known


def expect_whole(at: SlotServer, parts: Mapping[str, sql.Composable], known: Recorded) -> TransientError | None:
    """See that nothing was taken out of the slot, and move it to where it is published; or what keeps it from being
    read now: somebody else does, or a standby that is to have all first is away.

    Raises:
        ConfigError: SLC-406, see `catch_up`.
        StrangeSource: SLC-404, see `catch_up`.
    """
    row = at.open().execute(composed("capture/log/slot", slot=sql.Literal(known.slot))).fetchone()
    expect_here(at, known.slot, is_there=row is not None)
    if row is None:
        raise _lost(f"the slot {known.slot} is not there")
    plugin, is_here, status, lsn, away, ended, *reader = row
    if plugin != PLUGIN or not is_here:
        raise _lost(f"the slot {known.slot} is one of somebody else, by {plugin}")
    if status == "lost":
        why = _ENDED.get(ended or "wal_removed", ended)
        raise _lost(f"the server has given up what the slot {known.slot} still needs ({why})")
    # A publisher that goes on meanwhile records what it took before it moves the slot.
    known = recorded(at.master(), parts) or known
    if lsn is None or lsn > known.place.lsn:
        raise _lost(f"changes were taken out of the slot {known.slot}, which nobody published")
    if reader[0] is not None:
        return _taken(known.slot, "session {} of {} ({})".format(*reader))
    if away:
        return standbys.away(known.slot, away)
    # A slot is never ahead of what is recorded on its own server: so one that is promoted goes on with it.
    here = recorded(at.open(), parts) if at.is_standby else known
    if here and here.slot == known.slot and lsn < here.place.lsn <= known.place.lsn:
        advance(at, known.slot, here.place.lsn)
    return None


def expect_here(at: SlotServer, name: str, *, is_there: bool) -> None:
    """See that the configuration names the server that a slot was made on. Raises ConfigError SLC-406.

    Args:
        is_there: whether that server has a slot of this name. A standby that was promoted has it.
    """
    on_standby = name.endswith(_ON_STANDBY)
    # A standby that lacks it may be another one than before, and slaves that are INCONSISTENT have to be filled anew.
    elsewhere = not is_there if on_standby else at.is_standby
    if elsewhere:
        named = "leads to a server that has none" if at.is_standby else "is not set"
        raise ConfigError(
            406,
            f"the slot {name} was made on {'a standby' if on_standby else 'the master'}, and `standby_connection` "
            f"{named}",
            "nothing was published, and nothing is lost as long as the slot is there. Set it back. To read the log on "
            "another server, change over to `capture: triggers` first, and then to `capture: log` with the other "
            "setting. If the slot is gone, trigger the DAG bootstrap with rebase, then initial_update for all slaves "
            "of this source",
        )


def exists(connection: Connection, name: str) -> bool:
    """Whether a server has a slot that can be read. Of slots the catalog knows no transactions."""
    return connection.execute(composed("capture/log/exists", slot=sql.Literal(name))).fetchone() == (True,)


def advance(at: SlotServer, name: str, lsn: int) -> None:
    """Let the server forget what is published, and recorded as that; another time if a session reads the slot now."""
    with suppress(psycopg.errors.ObjectInUse):
        at.open().execute(composed("capture/log/advance", slot=sql.Literal(name), lsn=sql.Literal(lsn)))


class Beginning:
    """Where decoding begins. Each look at the slot reads the log from there on. By itself the server notes a place for
    it every fifteen seconds: with much to publish, much of the log is read thirty times.
    """

    def __init__(self) -> None:
        self._at, self._apart = -1, _APART_BYTES

    def look(self, at: SlotServer, name: str) -> None:
        """Let the server note where it is, if much is read again; less often while that helps nothing, since an old
        transaction is open.
        """
        row = at.open().execute(composed("capture/log/restarts", slot=sql.Literal(name))).fetchone()
        if row is None:
            return
        begins, read = row
        if begins != self._at:
            self._at, self._apart = begins, _APART_BYTES
        if read > self._apart and at.master().execute(composed("capture/log/may_note")).fetchone() == (True,):
            at.master().execute(composed("capture/log/note_running"))
            self._apart = read + _APART_BYTES


def patiently(connection: Connection, name: str, read: Callable[[], Iterator[T]]) -> Iterator[T]:
    """Read a slot within a transaction, as soon as no other session does.

    Raises:
        StrangeSource: SLC-404, see `expect_printed`.
        TransientError: SLC-450, somebody else reads it.
    """
    end = time.monotonic() + _PATIENCE_S
    while True:
        connection.execute("SAVEPOINT reading")
        try:
            with expect_printed():
                yield from read()
            return
        except psycopg.errors.ObjectInUse as error:
            # The server says so before it gives anything.
            while connection.pgconn.get_result():
                pass
            connection.execute("ROLLBACK TO reading")
            if time.monotonic() > end:
                raise _taken(name, str(error.diag.message_primary)) from None
        time.sleep(_PAUSE_S)


def kept(at: SlotServer, name: str) -> KeptLog | None:
    """How much of its log the server keeps for a slot; None if it has none of that name."""
    row = at.open().execute(composed("capture/log/kept", slot=sql.Literal(name))).fetchone()
    if row is None:
        return None
    size, state, left = row
    most = None if left is None else max(int(left), 0)
    return KeptLog(name, int(size), state, most, state == _UNRESERVED, at.behind())


def newest(connection: Connection, parts: Mapping[str, sql.Composable]) -> list[int]:
    """The layouts that tables have now."""
    (layouts,) = connection.execute(composed("capture/log/newest", **parts)).fetchone() or ([],)
    return list(layouts)


def name_of(at: SlotServer, resources: Resources) -> str:
    """Slots of all databases have names of one kind: lower case letters, digits and underscores. One on a standby says
    so: what is recorded on the master is its name alone.
    """
    (number,) = at.master().execute(composed("capture/log/database")).fetchone() or (0,)
    digest = hashlib.sha256(f"{resources.schema}.{resources.folded}".encode()).hexdigest()[:8]
    tail = f"_{number}_{digest}{_ON_STANDBY if at.is_standby else ''}"
    return re.sub("[^a-z0-9_]", "_", resources.folded.rstrip("_"))[: _LONGEST - len(tail)] + tail


def _taken(name: str, by: str) -> TransientError:
    return TransientError(
        450,
        f"the slot {name} is read by somebody else: {by}",
        "nothing was published, and nothing is lost as long as he takes nothing out of it. To end him, type: "
        f"SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = '{name}'; {AGAIN}",
    )


def _lost(why: str) -> StrangeSource:
    return StrangeSource(404, f"the server's log does not lead on from where it was published: {why}", _REBASE)
