"""The time for which a provider's server keeps its binary log, where no variable of the server tells it (R2).

Sources: Amazon RDS User Guide, "mysql.rds_set_configuration", "mysql.rds_show_configuration"; Azure Database for MySQL,
"Server parameters", `binlog_expire_logs_seconds`.
"""

from __future__ import annotations

import pymysql

from sluice import shell
from sluice.vendors.mariadb.errors import number_of
from sluice.vendors.mariadb.session import Connection, execute

_HOURS = "binlog retention hours"
SET_HOURS = f"CALL mysql.rds_set_configuration('{_HOURS}', 72)"
# There is no such procedure; it is not for this account; the server does not say which.
_UNTOLD = {1044, 1305, 1370}
# Where servers of RDS and Aurora have their data.
_OF_RDS = "/rdsdbdata/"
_AT_ONCE = "its files are deleted as soon as the server itself needs them no more"


def for_loss(session: Connection) -> tuple[str, str] | None:
    """Why the log may be gone before it is read, and what to type; None if nothing says so."""
    hours = _settings(session).get(_HOURS, "")
    if hours is None or hours == "0":
        return (
            f"{_AT_ONCE}: `{_HOURS}` is {hours or 'NULL'}",
            f"{SET_HOURS}, or more hours than a publisher may be away",
        )
    ((version,),) = execute(session, "SELECT VERSION()")
    if "azure" in version.lower() and execute(session, "SELECT @@GLOBAL.binlog_expire_logs_seconds") == [("0",)]:
        return (
            f"{_AT_ONCE}: binlog_expire_logs_seconds is 0",
            "set the server parameter binlog_expire_logs_seconds = 259200, or to more seconds than a publisher may be "
            "away",
        )
    return None


def remarks(session: Connection) -> list[str]:
    """A remark if the server may delete its log at once, and does not say it to this account."""
    ((place,),) = execute(session, "SELECT @@GLOBAL.datadir")
    if not place.startswith(_OF_RDS) or _HOURS in _settings(session):
        return []
    return [
        f"the server does not say to this account how long it keeps its binary log: run the script of "
        f"{shell.sluice('grants', 'SOURCE')} again, and see that the hours are set: {SET_HOURS}"
    ]


def _settings(session: Connection) -> dict[str, str | None]:
    """The provider's settings, by their names; none on another server."""
    try:
        rows = execute(session, "CALL mysql.rds_show_configuration()")
    except pymysql.Error as error:
        if number_of(error) not in _UNTOLD:
            raise
        return {}
    return {str(name): value for name, value, *_ in rows}
