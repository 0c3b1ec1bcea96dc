"""Sessions on PostgreSQL: how they are opened, which settings they pin, and what its errors mean to us."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from sluice import sqlfiles
from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError, TransientError

Connection = psycopg.Connection[tuple[Any, ...]]

# Every text that leaves or enters a database is written under these, so that it means the same on both sides (R7).
PINNED = {
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "timezone": "UTC",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "lc_monetary": "C",
    "search_path": "pg_catalog",
    "client_encoding": "UTF8",
    "idle_in_transaction_session_timeout": "0",
    "statement_timeout": "0",
}

# SQLSTATE class or code -> (error code, transient?, hint). Source: PostgreSQL manual, appendix "Error Codes".
_STATES: dict[str, tuple[int, bool, str]] = {
    "08": (30, True, "the database closed the connection; the run tries again by itself"),
    "40": (34, True, "the run tries again by itself"),
    "53": (35, True, "the server is out of connections, memory or disk; free some, the run tries again by itself"),
    "55P03": (36, True, "another session holds the lock; the run tries again by itself"),
    "57P": (30, True, "the server is starting or stopping; the run tries again by itself"),
    "57014": (37, True, "the statement was cancelled; the run tries again by itself"),
    "25006": (38, False, "this server is read-only, perhaps a standby: point the connection at the primary"),
    "28": (31, False, "mend login and password of the Airflow connection"),
    "3D000": (32, False, "mend the database name (schema) of the Airflow connection"),
    "3F000": (29, False, "create the schema, or mend `schema` in the configuration"),
    "42501": (
        33,
        False,
        "grant the role what is missing: `./sluice grants SOURCE` prints it; for slaves see configuration.md",
    ),
}


def connect(info: ConnectionInfo, application: str, *, autocommit: bool = False) -> Connection:
    """A session with pinned settings. Raises TransientError SLC-030 if unreachable, SLC-031 if it is not let in."""
    options = " ".join(f"-c {name}={_escaped(value)}" for name, value in PINNED.items())
    tls: dict[str, Any] = {key: str(value) for key, value in info.extra.items() if key.startswith("ssl")}
    with translated(f"connecting to {info.host}:{info.port or 5432}/{info.database}"):
        connection = psycopg.connect(
            host=info.host,
            port=info.port or 5432,
            dbname=info.database,
            user=info.login,
            password=info.password,
            connect_timeout=10,
            application_name=f"sluice {application}"[:63],
            options=options,
            autocommit=autocommit,
            **tls,
        )
        connection.prepare_threshold = 5
        return connection


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turn a driver's error into one of ours, with its class: transient or terminal."""
    try:
        yield
    except psycopg.Error as error:
        raise explained(error, doing) from error


def explained(error: psycopg.Error, doing: str) -> SluiceError:
    """What a driver's error means: the longest matching SQLSTATE prefix decides."""
    state = error.sqlstate or _state_of_refusal(str(error))
    message = (error.diag.message_primary or str(error)).strip()
    if error.diag.message_detail:
        message = f"{message} ({error.diag.message_detail})"
    for length in (5, 3, 2):
        if known := _STATES.get(state[:length]):
            code, transient, hint = known
            return (TransientError if transient else SluiceError)(code, f"{doing}: {message}", hint)
    return SluiceError(
        39,
        f"{doing}: {message} [SQLSTATE {state}]",
        "mend the cause; a slave that was stopped goes on when its drain DAG is unpaused",
    )


def refuse_standby(connection: Connection) -> None:
    """Say at once what the first write would say. Raises psycopg's ReadOnlySqlTransaction, which becomes SLC-038."""
    read_only = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean"
    if connection.execute(read_only).fetchone() == (True,):
        raise psycopg.errors.ReadOnlySqlTransaction("it takes no writes")


def composed(name: str, /, **parts: sql.Composable | str) -> sql.Composed:
    """The statement of that name with its placeholders filled; a plain text stands for an identifier."""
    filled = {key: sql.Identifier(part) if isinstance(part, str) else part for key, part in parts.items()}
    return sql.SQL(sqlfiles.statement("postgresql", name)).format(**filled)


def _state_of_refusal(message: str) -> str:
    """A refused connection carries no SQLSTATE; its text tells a wrong password from a server that is down."""
    if re.search(r"password|authentication failed|pg_hba|role .* does not exist|no password", message):
        return "28000"
    if "permission denied for database" in message:
        return "42501"
    if re.search(r"database .* does not exist", message):
        return "3D000"
    return "08006"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace(" ", "\\ ")
