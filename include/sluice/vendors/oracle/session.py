"""Sessions on an Oracle database: settings that are pinned and read back, TLS, and the driver's two modes (R7)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import oracledb

from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError, SluiceError
from sluice.vendors.oracle.errors import explained, unreached
from sluice.vendors.oracle.names import LONGEST, LONGEST_BEFORE, composed, literal

Row = tuple[Any, ...]

OLDEST = (12, 1)
# That of servers where a connection names none, and that of TLS.
PORT = 1521
_TLS_PORT = 2484
# Every text that leaves the database in a session of ours is written under these; texts are compared by their bytes.
PINNED: Mapping[str, str] = {
    "NLS_LANGUAGE": "AMERICAN",
    "NLS_TERRITORY": "AMERICA",
    "NLS_CALENDAR": "GREGORIAN",
    "NLS_NUMERIC_CHARACTERS": ".,",
    "NLS_DATE_FORMAT": "SYYYY-MM-DD HH24:MI:SS",
    "NLS_DATE_LANGUAGE": "AMERICAN",
    "NLS_TIMESTAMP_FORMAT": "SYYYY-MM-DD HH24:MI:SS.FF9",
    "NLS_TIMESTAMP_TZ_FORMAT": "SYYYY-MM-DD HH24:MI:SS.FF9 TZR",
    "NLS_SORT": "BINARY",
    "NLS_COMP": "BINARY",
    "NLS_LENGTH_SEMANTICS": "BYTE",
    "NLS_NCHAR_CONV_EXCP": "TRUE",
    "TIME_ZONE": "+00:00",
}
# In the extra of a connection, under the driver's own names.
_EXTRA = (
    "ssl_server_dn_match",
    "ssl_server_cert_dn",
    "https_proxy",
    "https_proxy_port",
    "config_dir",
    "wallet_location",
)
_PROTOCOLS = ("tcp", "tcps")
# The driver refuses a program whose name has blanks, brackets or letters beyond ASCII.
_NO_PROGRAM = re.compile(r"[^A-Za-z0-9_.>-]")


def parameters(info: ConnectionInfo, application: str) -> dict[str, Any]:
    """What the driver is given to connect, but for the password.

    In the extra: `service_name` or `sid`, if the schema of the connection is not the service; or `dsn`, which says it
    all; `protocol` `tcps` for TLS, and what TLS needs.

    Raises:
        ConfigError: SLC-017, nothing says which database it is, or `protocol` is none; `dsn` has a login.
    """
    extra = info.extra
    program = _NO_PROGRAM.sub("-", f"sluice-{application}")[:48]
    how: dict[str, Any] = {"user": info.login, "program": program, "tcp_connect_timeout": 10.0}
    how |= {name: extra[name] for name in _EXTRA if extra.get(name) is not None}
    if dsn := str(extra.get("dsn") or "").strip():
        _expect_no_login(dsn)
        return {**how, "dsn": dsn}
    protocol = str(extra.get("protocol", "tcp")).lower()
    service = extra.get("service_name") or (info.database if not extra.get("sid") else None)
    if protocol not in _PROTOCOLS or not (service or extra.get("sid")):
        raise ConfigError(
            17,
            f"the connection to {info.host or 'nowhere'} "
            + (f"has `protocol` {protocol}" if protocol not in _PROTOCOLS else "names no database"),
            "fix it: its schema is the service name; or set `service_name`, `sid` or `dsn` in its extra, and "
            "`protocol` to tcp or tcps",
        )
    named = {"sid": str(extra["sid"])} if not service else {"service_name": str(service)}
    default = _TLS_PORT if protocol == "tcps" else PORT
    return {**how, "host": info.host, "port": info.port or default, "protocol": protocol, **named}


def _expect_no_login(dsn: str) -> None:
    """See that a `dsn` is an address alone: errors and lineage say addresses. Raises ConfigError SLC-017."""
    # In a descriptor it may be in the name of a certificate.
    if "@" in dsn and not dsn.startswith("("):
        raise ConfigError(
            17,
            "the `dsn` in the extra of the connection has an @, so there may be a login and a password before it",
            "set the login and the password of the Airflow connection, and `dsn` to what follows the @; the name of a "
            "certificate is `ssl_server_cert_dn` in the extra. Change that password, since extras are shown",
        )


def connect(info: ConnectionInfo, application: str) -> oracledb.Connection:
    """A session with pinned settings, that commits when it is told to.

    Raises:
        TransientError: SLC-030, it cannot be reached.
        ConfigError: SLC-017.
        SluiceError: SLC-031, it is not let in; SLC-373, it has other settings; SLC-430, the server is too old.
    """
    how = parameters(info, application)
    address = f"{info.host}:{info.port or PORT}"
    try:
        _choose_mode(info)
        secret = {"wallet_password": info.extra["wallet_password"]} if info.extra.get("wallet_password") else {}
        session = oracledb.connect(password=info.password, **secret, **how)
        found = _pinned(session)
    except oracledb.Error as error:
        raise explained(error, f"connecting to {address}") from error
    except OSError as error:
        # The driver lets the error of a name that cannot be resolved pass.
        raise unreached(error, f"connecting to {address}") from error
    if others := [
        f"{name} is {found.get(name)}, not {value}" for name, value in PINNED.items() if found.get(name) != value
    ]:
        session.close()
        raise SluiceError(
            373,
            f"a session at {address} does not have the settings that it was given: {', '.join(others)}",
            "nothing was read or written. A trigger AFTER LOGON, or a pooler in between, sets others: let it leave "
            "this user alone",
        )
    expect_new_enough(session.version, address)
    return session


def expect_new_enough(version: str, address: str) -> None:
    """See that a server has what the DbResources need. Raises SluiceError SLC-430."""
    if numbers(version) < OLDEST:
        raise SluiceError(
            430,
            f"the server at {address} is Oracle {version}",
            f"nothing was read or written; point the connection at Oracle {OLDEST[0]}.{OLDEST[1]} or later",
        )


def longest_name(version: str) -> int:
    """The most bytes of an identifier."""
    return LONGEST if numbers(version) >= (12, 2) else LONGEST_BEFORE


def pinning() -> str:
    """The statement that pins the settings of a session."""
    settings = " ".join(f"{name} = {literal(value)}" for name, value in PINNED.items())
    return composed("session/pin", settings=settings)


def execute(session: oracledb.Connection, statement: str, values: Mapping[str, object] | None = None) -> list[Row]:
    """The rows of a statement, if it gives some.

    Raises:
        DatabaseError: PL/SQL that does not compile is one, too.
    """
    with session.cursor() as cursor:
        cursor.execute(statement, dict(values or {}))
        if cursor.warning:
            raise oracledb.DatabaseError(cursor.warning)
        return list(cursor.fetchall()) if cursor.description else []


def changed(session: oracledb.Connection, statement: str, values: Mapping[str, object] | None = None) -> int:
    """How many rows a statement has changed."""
    with session.cursor() as cursor:
        cursor.execute(statement, dict(values or {}))
        return int(cursor.rowcount)


def changed_by_all(session: oracledb.Connection, statement: str, rows: Sequence[Row]) -> int:
    """How many rows a statement has changed, that is executed for each of these."""
    with session.cursor() as cursor:
        cursor.executemany(statement, list(rows))
        return int(cursor.rowcount)


@contextmanager
def transaction(session: oracledb.Connection) -> Iterator[None]:
    """Commit at the end of the block, unless that fails."""
    try:
        yield
    except BaseException:
        # A session that has ended has rolled back.
        if session.is_healthy():
            session.rollback()
        raise
    session.commit()


def whole_values(cursor: oracledb.Cursor, column: oracledb.FetchInfo) -> oracledb.Var | None:
    """Large objects come as texts and bytes, and not as places to read them from."""
    kind = _WHOLE.get(column.type_code)
    return cursor.var(kind, arraysize=cursor.arraysize) if kind else None


_WHOLE = {
    oracledb.DB_TYPE_CLOB: oracledb.DB_TYPE_LONG,
    oracledb.DB_TYPE_NCLOB: oracledb.DB_TYPE_LONG,
    oracledb.DB_TYPE_BLOB: oracledb.DB_TYPE_LONG_RAW,
}


def _choose_mode(info: ConnectionInfo) -> None:
    # For the whole process: a thick client cannot be left again.
    if info.extra.get("thick_mode") in (True, "true", "True") and oracledb.is_thin_mode():
        directory = info.extra.get("thick_mode_lib_dir")
        oracledb.init_oracle_client(**({"lib_dir": str(directory)} if directory else {}))


def _pinned(session: oracledb.Connection) -> dict[str, str]:
    execute(session, pinning())
    return dict(execute(session, composed("session/settings")))


def numbers(version: str) -> tuple[int, ...]:
    """The first two numbers of a version, to compare."""
    return tuple(int(part) for part in version.split(".")[:2])
