"""A server and its binary log: who it is, how far its log is, and whether the log tells all that is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pymysql

from sluice.errors import ConfigError
from sluice.vendors.managed import SETTING
from sluice.vendors.mariadb.capture.binlog import retention
from sluice.vendors.mariadb.capture.binlog.reader import LogPlace
from sluice.vendors.mariadb.errors import number_of
from sluice.vendors.mariadb.session import Connection, Row, composed, execute

# What a setting has to be, and what to type.
_WANTED = {
    "log_bin": ("1", "[mysqld] log_bin = binlog, and start the server again"),
    "binlog_format": ("ROW", "SET GLOBAL binlog_format = ROW"),
    "binlog_row_image": ("FULL", "SET GLOBAL binlog_row_image = FULL"),
    "binlog_row_metadata": ("FULL", "SET GLOBAL binlog_row_metadata = FULL"),
    "sync_binlog": ("1", "SET GLOBAL sync_binlog = 1"),
    "innodb_flush_log_at_trx_commit": ("1", "SET GLOBAL innodb_flush_log_at_trx_commit = 1"),
    "log_bin_compress": ("0", "SET GLOBAL log_bin_compress = OFF"),
    "binlog_transaction_compression": ("0", "SET GLOBAL binlog_transaction_compression = OFF"),
    "innodb_native_foreign_keys": (
        "0",
        "[mysqld] innodb_native_foreign_keys = OFF, and start the server again",
    ),
    "binlog_row_value_options": ("", "SET GLOBAL binlog_row_value_options = ''"),
    "log_replica_updates": ("1", "[mysqld] log_replica_updates = ON, and start the server again"),
}
# What is in the end of the log's status, behind its place.
_FILTERS = ("binlog_do_db", "binlog_ignore_db")
_NO_RIGHT = {1227, 1142, 1044, 1045}
_NO_STATEMENT = 1064


def server(session: Connection) -> str:
    """Which server this is, by the number that no two servers with one log have."""
    *_, found = _settings(session)
    return found


def end_of_log(session: Connection) -> LogPlace:
    """How far the log is now. Raises SluiceError SLC-400, it is off, it leaves databases out, or we may not ask."""
    try:
        rows = _status(session)
    except pymysql.Error as error:
        if number_of(error) in _NO_RIGHT:
            raise _missing("REPLICATION CLIENT", session) from None
        raise
    if not rows:
        raise _unfit("log_bin is 0", _WANTED["log_bin"][1])
    return end_of(rows[0])


def _status(session: Connection) -> list[Row]:
    """The end of the log, by the newest statement that the server knows, which the session remembers."""
    first, *others = session.server.log_status
    try:
        return execute(session, first)
    except pymysql.Error as error:
        if number_of(error) != _NO_STATEMENT or not others:
            raise
    session.server = replace(session.server, log_status=tuple(others))
    return _status(session)


def end_of(status: Sequence[str]) -> LogPlace:
    """The end of the log, as the server tells it. Raises SluiceError SLC-400, databases are left out of it."""
    name, offset, *filters = status
    # Any of them is refused: what they mean hangs on the database of the session, and for rows on the table's.
    if found := [f"{option} is {value}" for option, value in zip(_FILTERS, filters, strict=False) if value]:
        hint = f"[mysqld] without {' and '.join(_FILTERS)}, and start the server again"
        raise _unfit(f"{'; '.join(found)}, so that changes may be missing in it", hint)
    return LogPlace.of(name, int(offset))


def expect_telling(session: Connection) -> None:
    """See that the log tells every change, and that we may read it.

    Raises:
        ConfigError: SLC-400, it does not, or we may not.
    """
    found = zip(session.server.log_settings, _settings(session), strict=False)
    wrong = [(f"{name} is {value}", _WANTED[name][1]) for name, value in found if value.upper() != _WANTED[name][0]]
    if wrong:
        raise _unfit("; ".join(fact for fact, _ in wrong), "; ".join(hint for _, hint in wrong))
    expect_applied(session)
    if loss := retention.for_loss(session):
        raise _unfit(*loss)
    end_of_log(session)
    rights = " ".join(str(row[0]) for row in execute(session, "SHOW GRANTS"))
    if not any(right in rights for right in ("REPLICATION SLAVE", "ALL PRIVILEGES ON *.*")):
        raise _missing("REPLICATION SLAVE", session)


def expect_applied(session: Connection) -> None:
    """See that the log has what comes to the server from another one. It may become a replica whenever it runs.

    Raises:
        ConfigError: SLC-400, it has not.
    """
    if session.server.leaves_applied and execute(session, composed("capture/loses_applied")):
        raise _unfit(
            "log_slave_updates is 0, and the server takes changes over from another one, which are not in it",
            "[mysqld] log_slave_updates = ON, and start the server again; or, if it is a replica no longer, RESET "
            "REPLICA ALL (on RDS: CALL mysql.rds_reset_external_master), and SET GLOBAL gtid_slave_pos = ''. Slaves "
            "that were filled before lack what it took over: `initial_update` fills them again",
        )


def _settings(session: Connection) -> list[str]:
    """The values of its `log_settings`, and at the end who it is."""
    names = (*session.server.log_settings, session.server.identity)
    (found,) = execute(session, composed("capture/settings", settings=", ".join(f"@@GLOBAL.{one}" for one in names)))
    return [str(one) for one in found]


def account(session: Connection) -> str:
    """The account of a session, as a GRANT names it."""
    ((found,),) = execute(session, "SELECT CURRENT_USER()")
    name, _, host = str(found).rpartition("@")
    return f"'{name}'@'{host}'"


def _missing(right: str, session: Connection) -> ConfigError:
    return _unfit(f"the account may not read it: {right} is missing", f"GRANT {right} ON *.* TO {account(session)}")


def _of_settings(hint: str) -> str:
    """The end of a HINT that has settings."""
    if "SET GLOBAL" not in hint and "[mysqld]" not in hint:
        return ""
    kept = "What is set by SET GLOBAL also belongs into its file, and sessions that are open keep what they had"
    return f"; or, {SETTING}. {kept}"


def _unfit(why: str, hint: str) -> ConfigError:
    return ConfigError(
        400,
        f"the master's binary log does not tell all that is needed: {why}",
        f"nothing was changed. As an administrator of the server, set or type: {hint}{_of_settings(hint)}",
    )
