"""Standbys of a source's server that copy its slot, so that one which is promoted goes on with it (PostgreSQL 17)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

import psycopg
from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.errors import AGAIN, TransientError
from sluice.libpq import open_session, parameters
from sluice.log import event
from sluice.vendors.postgresql.session import Connection, composed

# From this version on standbys can have a copy of a slot.
SINCE = 170000
# Somebody may read the slot at this moment.
_WAIT = "10s"


def let_copy(connection: Connection, info: ConnectionInfo, slot: str) -> bool:
    """Let standbys copy a slot that is older than this could be said of it; whether they may.

    The server takes that over the replication protocol alone, which knows no comments, and to which not every way
    leads. Then all else goes on.
    """
    if connection.info.server_version < SINCE:
        return False
    found = _look(connection, slot)
    if found is None or found[0]:
        return found is not None
    options = f"-c statement_timeout={_WAIT}"
    try:
        how = parameters(info, "slot")
        with closing(open_session(info, how, replication="database", options=options)) as session:
            session.execute(composed("capture/log/let_copy", slot=slot))
    except psycopg.Error as error:
        event("standbys cannot copy the slot", slot=slot, why=str(error).strip())
        return False
    event("standbys may copy the slot", slot=slot)
    return True


def remarks(connection: Connection, slot: str) -> Iterator[str]:
    """What keeps a standby from going on if it is promoted, in sentences; nothing where there is none."""
    if connection.info.server_version < SINCE or (found := _look(connection, slot)) is None:
        return
    is_copied, waits, standbys = found
    if not standbys:
        return
    if not is_copied:
        yield f"standbys cannot copy the slot {slot}: trigger the DAG bootstrap"
    elif not waits:
        yield (
            f"a standby that is promoted may lack what is published: name its slot ({', '.join(standbys)}) in "
            "`synchronized_standby_slots`, and set `sync_replication_slots` and `hot_standby_feedback` there"
        )


def settings(standby: Connection) -> Iterator[str]:
    """What a standby on which the log is decoded lacks to keep its slot, in sentences."""
    how = "set there {}, by ALTER SYSTEM SET and SELECT pg_reload_conf(), or as a parameter at the provider"
    lost = "the slot there is lost as soon as the master removes old rows of its catalog"
    feedback, name = standby.execute(composed("capture/log/follows")).fetchone() or (True, "")
    if not feedback:
        yield f"`hot_standby_feedback` is off on the standby: {lost}; {how.format('hot_standby_feedback = on')}"
    if not name:
        yield (
            f"the standby has no `primary_slot_name`: while it is away, {lost}; make one on the master by "
            f"pg_create_physical_replication_slot, and {how.format('primary_slot_name to its name')}"
        )


def away(slot: str, standbys: Sequence[str]) -> TransientError:
    """The server gives nothing of a slot until these standbys have it, too, and they are away."""
    return TransientError(
        554,
        f"the server gives nothing of the slot {slot} before the standbys of `synchronized_standby_slots` have it, and "
        f"nobody reads the server's log by {', '.join(standbys)}",
        f"nothing was published, and nothing is lost; start that standby, and {AGAIN}. If it is gone, take it out "
        "by ALTER SYSTEM SET synchronized_standby_slots, and SELECT pg_reload_conf(), or at the provider",
    )


def _look(connection: Connection, slot: str) -> tuple[bool, bool, list[str]] | None:
    row = connection.execute(composed("capture/log/standbys", slot=sql.Literal(slot))).fetchone()
    return (row[0], row[1], list(row[2])) if row else None
