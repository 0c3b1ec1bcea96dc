"""Sessions on GaussDB and openGauss, which descend from PostgreSQL 9.2: nothing that came later is asked of them."""

from __future__ import annotations

import psycopg
from psycopg import sql

from sluice import libpq, passwords, pooler, sqlfiles, tls
from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError
from sluice.libpq import PORT, is_login_refused, parameters, refusal_sqlstate
from sluice.vendors.postgresql.errors import explained
from sluice.vendors.postgresql.session import PRINTED, Connection

# Every text that leaves the database is written under these, and what we send is read under them. Settings that came
# later than 9.2 are not among them: a server refuses who names what it does not know.
PINNED = {
    **PRINTED,
    # Before version 12 this adds digits, and fewer of them lose some.
    "extra_float_digits": "3",
    "search_path": "pg_catalog, pg_temp",
    "client_encoding": "UTF8",
    "array_nulls": "on",
    "xmloption": "content",
    "default_transaction_isolation": "read committed",
    "statement_timeout": "0",
}
_SETTINGS = "SELECT name, current_setting(name) FROM unnest(%s::text[]) AS pinned (name)"


def options() -> str:
    """The pinned settings, as a connection asks for them when it begins."""
    return " ".join(f"-c {name}={value.replace(' ', chr(92) + ' ')}" for name, value in PINNED.items())


def connect(info: ConnectionInfo, application: str) -> Connection:
    """A session with pinned settings, in autocommit.

    Raises:
        TransientError: SLC-030, it cannot be reached.
        SluiceError: SLC-031, it is not let in; SLC-373, it has other settings than those that were asked for; SLC-311,
            TLS cannot be set up as the connection asks for it; SLC-690, a pooler is in between.
    """
    how = {**parameters(info, application), "options": options()}
    address = f"{info.host}:{info.port or PORT}/{info.database}"
    try:
        connection = libpq.open_session(info, how)
        has = dict(connection.execute(_SETTINGS, [list(PINNED)]).fetchall())
    except psycopg.Error as error:
        if insecure := tls.trouble(error, address):
            raise insecure from error
        state = refusal_sqlstate(error, how)
        if state in pooler.REFUSALS:
            raise pooler.refusal(address, "does not take what a session begins with", always=True) from error
        failure = explained(error, f"connecting to {address}", state)
        raise passwords.login_error(info, failure, is_refused=is_login_refused(state)) from error
    if others := [f"{name} is {has[name]}, not {value}" for name, value in PINNED.items() if has[name] != value]:
        connection.close()
        raise SluiceError(
            373,
            f"{address} has other settings than those that were asked for: {'; '.join(others)}",
            "let the connection lead to the server itself, or to a pooler that hands `options` on",
        )
    return connection


def composed(name: str, /, **parts: sql.Composable | str) -> sql.Composed:
    """The statement of that name with its placeholders filled; a plain text stands for an identifier."""
    filled = {key: sql.Identifier(part) if isinstance(part, str) else part for key, part in parts.items()}
    return sql.SQL(sqlfiles.statement("gaussdb", name)).format(**filled)
