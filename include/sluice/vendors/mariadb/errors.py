"""Errors of the server and of its driver, as errors of ours: a code, transient or terminal, and a hint (R8)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pymysql

from sluice.errors import AGAIN, VALUES_ENV, LockTimeout, RolledBack, SluiceError, TransientError, UnclassifiedError

_QUOTED = re.compile(r"'.*'", re.DOTALL)
# Errors whose text quotes a value of a row; what those of a range and a length quote is a column.
_TELLING = {1062, 1292, 1366, 1367}
_GONE = f"start the database, or fix the way to it; nothing is lost, {AGAIN}"
_FULL = f"the server is out of connections, memory or disk; free some, {AGAIN}"
_LOGIN = "fix login and password of the Airflow connection, or its `sslmode` if the server demands TLS"
_RIGHTS = 'grant the account of the connection what is missing; see mariadb.md, "Rights"'
_PRIMARY = "point the connection at the primary, or set `read_only` off there"
_VALUE = "alter the column so that it takes the value, or make it a `longtext`; then unpause"
_CHECK = (
    "the row fits the master, and not a constraint of the table there: take it away (ALTER TABLE ... DROP CONSTRAINT), "
    "or let it hold for rows of the master, too; then unpause"
)

# Number -> (code, kind, hint). Sources: MariaDB Knowledge Base, "MariaDB Error Codes"; MySQL Reference Manual,
# "Server Error Message Reference".
_NUMBERS: dict[int, tuple[int, type[SluiceError], str]] = {
    **dict.fromkeys(
        (1053, 1152, 1158, 1159, 1160, 1161, 1927, 2002, 2003, 2006, 2013, 2055, 4031), (30, TransientError, _GONE)
    ),
    **dict.fromkeys((1021, 1037, 1038, 1040, 1041, 1114, 1203, 1226), (658, TransientError, _FULL)),
    **dict.fromkeys((1045, 1130, 1251, 1698, 1820, 1862, 2061, 3118, 3159), (31, SluiceError, _LOGIN)),
    **dict.fromkeys((1044, 1142, 1143, 1227, 1370), (33, SluiceError, _RIGHTS)),
    **dict.fromkeys((1290, 1792, 1836), (38, SluiceError, _PRIMARY)),
    **dict.fromkeys((1264, 1265, 1292, 1366, 1367, 1406), (431, SluiceError, _VALUE)),
    1049: (3, SluiceError, "create the database, or fix `schema` and `schemas` of the slave in the configuration"),
    1153: (
        431,
        SluiceError,
        "raise `max_allowed_packet` on the server above the size of the largest row; then unpause",
    ),
    **dict.fromkeys((3819, 4025), (72, UnclassifiedError, _CHECK)),
    1205: (36, LockTimeout, f"another session holds the lock; {AGAIN}. SHOW ENGINE INNODB STATUS says which one"),
    1213: (34, RolledBack, AGAIN),
    # The snapshot of a session is older than the table.
    1412: (95, TransientError, f"somebody altered a table while it was read; {AGAIN}"),
    1317: (34, TransientError, f"the statement was cancelled; {AGAIN}"),
    3024: (34, TransientError, f"the statement was cancelled; {AGAIN}"),
    1969: (34, TransientError, f"the statement was cancelled; {AGAIN}"),
}


def number_of(error: BaseException | None) -> int:
    """The server's number of an error; 0 if it has none."""
    found = error.args[0] if isinstance(error, pymysql.Error) and error.args else 0
    return found if isinstance(found, int) else 0


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turn a driver's error into one of ours, with its class: transient or terminal."""
    try:
        yield
    except pymysql.Error as error:
        raise explained(error, doing) from error


def explained(error: pymysql.Error, doing: str) -> SluiceError:
    """The SluiceError for a driver's error, by its number."""
    number = number_of(error)
    message = str(error.args[-1] if error.args else error)
    if number in _TELLING and not os.environ.get(VALUES_ENV):
        message = _QUOTED.sub("'...'", message)
    if isinstance(error, pymysql.err.InterfaceError) and not number:
        # What the driver says of a session that has ended.
        number = 2013
    if known := _NUMBERS.get(number):
        code, kind, hint = known
        return kind(code, f"{doing}: {message}", hint)
    return UnclassifiedError(
        39,
        f"{doing}: {message} [error {number}]",
        "fix the cause; a slave that was stopped goes on when its drain DAG is unpaused",
    )
