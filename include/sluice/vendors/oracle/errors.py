"""Errors of the server and of its driver, as errors of ours: a code, transient or terminal, and a hint (R8)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import oracledb

from sluice.errors import (
    AGAIN,
    VALUES_ENV,
    AlteredMeanwhile,
    LockTimeout,
    RolledBack,
    SluiceError,
    TransientError,
    UnclassifiedError,
)

# Errors whose text may quote a value of a row.
_TELLING = {"ORA-00001", "ORA-01722", "ORA-12899", "ORA-01438"}
_VALUES = re.compile(r"row with column values .*|'[^']*'|\(actual: .*", re.DOTALL)
# Errors whose text quotes a `dsn`, which may have a password.
_QUOTING = {"DPY-2049", "DPY-4017", "DPY-4018"}
_GONE = f"start the database, or fix the way to it; nothing is lost, {AGAIN}"
_FULL = f"the server is out of sessions, memory or disk; free some, {AGAIN}"
_SERVICE = "fix the service name of the Airflow connection: its schema, or `service_name` or `sid` in its extra"
_LOGIN = "fix login and password of the Airflow connection; the DBA unlocks an account and renews a password"
_RIGHTS = 'grant the user of the connection what is missing; see oracle.md, "Rights"'
_LOCK = f"another session holds the lock; {AGAIN}. Look in V$LOCKED_OBJECT for whose it is"
_CANCELLED = f"the statement was cancelled; {AGAIN}"
_PRIMARY = "point the connection at the primary database"
_VALUE = "alter the column so that it takes the value, or make it a CLOB; then unpause"
_INDEX = (
    "give the table a shorter primary key on the master, or leave it out; larger blocks of the table space help, too"
)
_QUOTA = "let the DBA type ALTER USER ... QUOTA for the table space of the user; then run the DAG again"
_UNDO = (
    f"{AGAIN}, as of a later moment. If that fails, too, let the DBA type ALTER SYSTEM SET UNDO_RETENTION = <seconds>, "
    "more than all tables together take, with an undo table space that is large enough. An initial update ends sooner "
    "with more `bulk_tasks`, or while less is written"
)
_LOB = (
    f"{AGAIN}, as of a later moment. If that fails, too, let the DBA type ALTER TABLE ... MODIFY LOB (...) (RETENTION "
    "MIN <seconds>), more than all tables together take, for the table's large objects; (PCTVERSION <percent>) for a "
    "BASICFILE. UNDO_RETENTION alone may not keep them"
)
_ALTERED = f"{AGAIN}, as of a later moment. Alter no table until it ends"

Known = tuple[int, type[SluiceError], str]
# Source: Database Error Messages; python-oracledb's manual, "Error Handling".
_CODES: dict[str, Known] = {
    **dict.fromkeys(
        ("DPY-1001", "DPY-4011", "DPY-6000", "DPY-6005", "ORA-01033", "ORA-01034", "ORA-01089", "ORA-01090"),
        (30, TransientError, _GONE),
    ),
    **dict.fromkeys(
        ("ORA-03113", "ORA-03114", "ORA-03135", "ORA-12170", "ORA-12541", "ORA-12543", "ORA-12537", "ORA-12528"),
        (30, TransientError, _GONE),
    ),
    **dict.fromkeys(("DPY-4000", "DPY-4026", "DPY-4027", "DPY-6001", "DPY-6003"), (31, SluiceError, _SERVICE)),
    **dict.fromkeys(("ORA-12154", "ORA-12505", "ORA-12514"), (31, SluiceError, _SERVICE)),
    **dict.fromkeys(("ORA-01017", "ORA-28000", "ORA-28001", "ORA-01045", "DPY-4001"), (31, SluiceError, _LOGIN)),
    **dict.fromkeys(("ORA-00942", "ORA-01031", "ORA-01720", "ORA-41900"), (33, SluiceError, _RIGHTS)),
    **dict.fromkeys(("ORA-00060", "ORA-08176", "ORA-08177"), (34, RolledBack, AGAIN)),
    **dict.fromkeys(("ORA-00018", "ORA-00020", "ORA-12516", "ORA-12519", "ORA-12520"), (658, TransientError, _FULL)),
    **dict.fromkeys(("ORA-04030", "ORA-04031", "ORA-01652", "ORA-01653", "ORA-01654"), (658, TransientError, _FULL)),
    **dict.fromkeys(("ORA-00054", "ORA-04021", "ORA-30006"), (36, LockTimeout, _LOCK)),
    **dict.fromkeys(("ORA-01013", "DPY-4024"), (34, TransientError, _CANCELLED)),
    **dict.fromkeys(("ORA-16000", "ORA-01456"), (38, SluiceError, _PRIMARY)),
    **dict.fromkeys(("ORA-12899", "ORA-01438", "ORA-01400", "ORA-01461"), (431, SluiceError, _VALUE)),
    "ORA-01450": (432, SluiceError, _INDEX),
}
# Errors for what the user may not use: it looks as if it were not there.
NO_RIGHT = ("ORA-00904", "ORA-00942", "ORA-01031", "ORA-06550", "ORA-41900")
# A foreign key refers to a table that is to go.
REFERRED_TO = "ORA-02449"
# No room is left that the user may take; rows cannot be shown any more as they were.
_NO_QUOTA = ("ORA-01536", "ORA-01950", "ORA-30041")
_NOT_AS_IT_WAS = ("ORA-01555", "ORA-08180", "ORA-22924")
# By one of these the server says that it was a large object, whose older values are in a place of their own.
_OF_LOB = ("ORA-22924", 'with name ""')
_ALTERED_SINCE = "ORA-01466"


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turn a driver's error into one of ours, with its class: transient or terminal."""
    try:
        yield
    except oracledb.Error as error:
        raise explained(error, doing) from error


def code_of(error: oracledb.Error) -> str:
    """What the server or the driver calls an error, such as ``ORA-01017``; empty if it has no name."""
    return str(getattr(error.args[0], "full_code", "")) if error.args else ""


def unreached(error: OSError, doing: str) -> SluiceError:
    """The SluiceError of a server to which the machine finds no way."""
    number, kind, hint = _CODES["DPY-6005"]
    return kind(number, f"{doing}: {error}", hint)


def explained(error: oracledb.Error, doing: str) -> SluiceError:
    """The SluiceError for a driver's error, by its code."""
    code = code_of(error)
    message = str(error).partition("\nHelp: ")[0]
    if code in _QUOTING:
        message = f"{code}: the driver cannot read the `dsn` of the connection"
    if code in _TELLING and not os.environ.get(VALUES_ENV):
        message = _VALUES.sub("'...'", message)
    if code in _NO_QUOTA:
        return SluiceError(33, f"{doing}: {message}", _QUOTA)
    if code in _NOT_AS_IT_WAS:
        if any(sign in message for sign in _OF_LOB):
            return TransientError(482, f"{doing}: {message}", _LOB)
        return TransientError(482, f"{doing}: {message}", _UNDO)
    if code == _ALTERED_SINCE:
        return TransientError(95, f"{doing}: {message}", _ALTERED)
    if known := _CODES.get(code):
        number, kind, hint = known
        return kind(number, f"{doing}: {message}", hint)
    return UnclassifiedError(
        39,
        f"{doing}: {message} [error {code or 'without a code'}]",
        "fix the cause; a slave that was stopped goes on when its drain DAG is unpaused",
    )


def altered_meanwhile(fact: str) -> AlteredMeanwhile:
    """A table was altered, and the command is not known yet: another look comes at once."""
    return AlteredMeanwhile(95, fact, "nothing is lost, and it is tried again")
