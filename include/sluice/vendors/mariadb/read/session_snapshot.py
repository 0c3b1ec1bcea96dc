"""The snapshot of one session, and its place in the log: told by the server, or that of a moment without writers."""

from __future__ import annotations

import time
from contextlib import closing

import pymysql

from sluice import shell
from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError, TransientError
from sluice.model.names import TableName
from sluice.vendors.mariadb.capture.binlog.reader import LogPlace
from sluice.vendors.mariadb.capture.binlog.server import account, end_of_log
from sluice.vendors.mariadb.catalog.master_tables import PLAIN, kind_of
from sluice.vendors.mariadb.errors import number_of
from sluice.vendors.mariadb.grants import all_of
from sluice.vendors.mariadb.session import Connection, composed, connect_to_master, execute, qualified

PATIENCE_S = 30.0
# So many seconds a table is held, or is waited for: others wait meanwhile.
_HELD_S = 3
# The server's numbers for a table, and a database, that is not there; for one that others hold; for a missing right.
_NO_TABLE = (1146, 1049)
_LOCKED, _NO_RIGHT = 1205, (1044, 1142)


def begun(session: Connection, place: LogPlace) -> LogPlace:
    """Begin a snapshot that shows at least what is in front of a place; its own place."""
    end = time.monotonic() + PATIENCE_S
    while True:
        execute(session, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        status = execute(session, "SHOW STATUS LIKE 'binlog_snapshot_%'")
        found = {str(name).lower(): value for name, value in status}
        here = LogPlace.of(found["binlog_snapshot_file"], int(found["binlog_snapshot_position"]))
        if here >= place:
            return here
        # A commit is in the log for a moment before it can be seen.
        execute(session, "ROLLBACK")
        if time.monotonic() > end:
            raise moved(f"the master shows its rows up to {here} of its log, and not up to {place}")
        time.sleep(0.01)


def begun_apart(info: ConnectionInfo, session: Connection, name: TableName, patience_s: float = 0) -> LogPlace | None:
    """Begin a snapshot while nobody writes to a table; its place, as far as that table goes. None: it is not there.

    Args:
        patience_s: how long others who hold the table are waited for, again and again; 0: once.

    Raises:
        TransientError: SLC-095, they hold it still.
        pymysql.Error: the same, if they were waited for once.
    """
    end = time.monotonic() + patience_s
    with closing(connect_to_master(info, "lock")) as beside:
        # A client that is gone holds it no longer, either.
        execute(beside, f"SET SESSION lock_wait_timeout = {_HELD_S}, wait_timeout = {_HELD_S}")
        while True:
            try:
                execute(beside, composed("read/lock", table=qualified(name)))
                break
            except pymysql.Error as error:
                if number_of(error) in _NO_TABLE:
                    return None
                if number_of(error) in _NO_RIGHT:
                    raise _may_not_lock(beside, name, error) from None
                if number_of(error) != _LOCKED or not patience_s:
                    raise
                if time.monotonic() > end:
                    raise moved(f"others held {name} for {patience_s:.0f} s by transactions or by locks") from None
        execute(session, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        here = end_of_log(beside)
        execute(beside, "UNLOCK TABLES")
    return here


def held(session: Connection, name: TableName) -> bool:
    """Keep a table as it is until the transaction ends; whether there is one. The catalog alone does not tell: it shows
    nothing to who may not read the table, and leaves out what somebody is altering.
    """
    try:
        # A slave may stand at a point meanwhile: nobody is waited for long.
        execute(session, f"SET SESSION lock_wait_timeout = {_HELD_S}")
        execute(session, composed("read/hold", table=qualified(name)))
    except pymysql.Error as error:
        if number_of(error) not in _NO_TABLE:
            raise
        return False
    return kind_of(session, name) in (None, PLAIN)


def differs(name: TableName, why: str) -> TransientError:
    """A table cannot be given as it was at a place."""
    return moved(f"{name} changed in another way than by rows since the place of the log that is read: {why}")


def moved(why: str) -> TransientError:
    return TransientError(95, why, "trigger the run again, if it is not tried again by itself; nothing was changed")


def _may_not_lock(session: Connection, name: TableName, error: BaseException) -> ConfigError:
    return ConfigError(
        33,
        f"the account may not lock {name} for the moment in which its snapshot is taken: {error}",
        f"nothing was read; as an administrator of the server: GRANT LOCK TABLES ON {all_of(name.schema)} "
        f"TO {account(session)}, or run the script that {shell.sluice('grants', 'SOURCE')} prints",
    )
