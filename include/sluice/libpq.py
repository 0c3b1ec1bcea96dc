"""Connections to PostgreSQL, their parameters, and the SQLSTATE of a refusal, which the driver does not report.

A connection is what its parameters say. libpq takes what they leave open from variables that a shell has for other
clients: of these only a password's file, TLS and the like count.

The words are in the server's language, and quote names that anybody may choose. So where a connection failed without a
SQLSTATE, it is tried once more while libpq writes down what the server says, and the SQLSTATE is read from that. The
notes are in memory, of this process alone, and gone when this returns.
"""

from __future__ import annotations

import os
import re
import select
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import psycopg
from psycopg import pq
from psycopg.conninfo import make_conninfo

from sluice import passwords, shell
from sluice.connections import ConnectionInfo, given_extras
from sluice.errors import ConfigError
from sluice.tls import VERIFYING, client_error, is_far

# The port of a connection that names none.
PORT = 5432
# A pooler may leave the severity V out, as servers before 9.6 do.
_REFUSED = re.compile(rb'\tErrorResponse\t S "[^"]*" (?:V "[A-Z]+" )?C "([0-9A-Z]{5})"')
# An older libpq, such as 15, writes a refusal down so.
_UNREAD = b"\tUnknown message"
_NO_PASSWORD = "28000"
# With this one PgBouncer refuses whatever it refuses.
_PROTOCOL = "08P01"
_WAIT_S = 10.0
# How we prove who we are, and what we accept as a proof, by the beginnings of libpq's parameters.
_PROOF = ("passfile", "ssl", "gss", "krb", "channel_binding", "require")
# Variables without a parameter. Source: PostgreSQL manual, "Environment Variables" of libpq.
_SETTINGS = frozenset({"PGTZ", "PGDATESTYLE", "PGGEQO"})
# The parameters of libpq that a connection's extra cannot set: other fields of the connection do, or we do.
_NOT_BY_EXTRA = {"host", "port", "dbname", "user", "password", "service"}
_NOT_BY_EXTRA |= {"options", "application_name", "fallback_application_name", "client_encoding", "replication"}
# A file that libpq would write to with the rights of jobs, and one that names other servers.
_NOT_BY_EXTRA |= {"sslkeylogfile", "servicefile"}
# The extras that are no parameters of libpq.
_OF_OURS = {"write_timeout", *passwords.EXTRAS}
# What holds of proofs if neither the extra nor a variable says it: a server that is not verified gets no password that
# it could read. Source: PostgreSQL manual, "require_auth"; libpq has it since this version.
REQUIRED_SINCE = 16
_REQUIRED = "require_auth"
_NOT_IN_CLEAR = "!password"


class HiddenVariables:
    """Variables that are not in the environment while connections are opened, by however many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._values: dict[str, str] = {}

    @contextmanager
    def hide(self, names: Collection[str]) -> Iterator[None]:
        """Hide variables until the block ends, and until no other one hides any."""
        with self._lock:
            self._users += 1
            self._values |= {name: os.environ.pop(name) for name in names if name in os.environ}
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    os.environ.update(self._values)
                    self._values.clear()


_hidden = HiddenVariables()


def connect(conninfo: str = "", *, autocommit: bool = True, **how: Any) -> psycopg.Connection[tuple[Any, ...]]:
    """A session that is what these parameters say, as libpq names them. Raises psycopg.Error."""
    with _hidden.hide(ignored_variables(how)):
        return psycopg.connect(conninfo, autocommit=autocommit, **how)


def open_session(info: ConnectionInfo, how: dict[str, Any], **more: Any) -> psycopg.Connection[tuple[Any, ...]]:
    """A session of a connection. A password that was fetched, and is refused, is fetched again, once.

    Args:
        how: its `parameters`, which then have the new password.
        more: further ones, by libpq's keywords.

    Raises:
        psycopg.Error: it is not opened.
        PasswordExpired: SLC-691, the password cannot be fetched.
    """
    try:
        return connect(**how, **more)
    except psycopg.OperationalError as error:
        if not passwords.is_fetched(info) or not is_login_refused(refusal_sqlstate(error, {**how, **more})):
            raise
        if (again := passwords.password_of(info, PORT, refused=how["password"])) == how["password"]:
            raise
        how["password"] = again
    return connect(**how, **more)


def ignored_variables(how: Collection[str] = ()) -> frozenset[str]:
    """The variables of the environment that say nothing of our connections, without those of these parameters."""
    return _SETTINGS.union(variable for keyword, variable in _variables().items() if keyword not in how)


@cache
def _variables() -> dict[str, str]:
    """The variables for parameters that are not given, without those of `_PROOF`."""
    known = {option.keyword.decode(): option.envvar.decode() for option in pq.Conninfo.get_defaults() if option.envvar}
    return {keyword: variable for keyword, variable in known.items() if not keyword.startswith(_PROOF)}


def database_id(info: ConnectionInfo) -> str:
    """A text for the database of a connection, by its address."""
    return f"{info.host}:{info.port or PORT}/{info.database}"


def name_session(application: str) -> str:
    """The name of a session as its server has it."""
    return f"sluice {application}"[:63]


def parameters(info: ConnectionInfo, application: str) -> dict[str, Any]:
    """The parameters of a connection, by libpq's keywords.

    Raises:
        ConfigError: SLC-017, an extra is unknown, or leads what is secret to this machine elsewhere.
        SluiceError: SLC-684, libpq is too old to keep the password from a server that is not verified.
        PasswordExpired: SLC-691, the password cannot be fetched.
    """
    known = {option.keyword.decode() for option in pq.Conninfo.get_defaults()} - _NOT_BY_EXTRA
    given = given_extras(info, known | _OF_OURS | {_REQUIRED})
    _expect_own_password(info, given)
    proofs = _proofs(info)
    return {
        "host": info.host,
        "port": info.port or PORT,
        "dbname": info.database,
        "user": info.login,
        "password": passwords.password_of(info, PORT),
        "connect_timeout": 10,
        "application_name": name_session(application),
        **proofs,
        **{key: str(int(value) if isinstance(value, bool) else value) for key, value in given.items() if key in known},
    }


def _expect_own_password(info: ConnectionInfo, given: Mapping[str, Any]) -> None:
    """See that `hostaddr` leads no password elsewhere that this machine has for the name of a host: a token that it
    signs, or one in its password file. Who edits a connection need not know those.
    """
    is_own = info.password and not passwords.is_fetched(info)
    if "hostaddr" in given and given.get("sslmode") != "verify-full" and not is_own:
        raise ConfigError(
            17,
            f"the extra of the connection to {info.host} has `hostaddr`, and the password is this machine's for that "
            "name: another server would get it",
            "nothing was sent; set `sslmode` verify-full, take `hostaddr` out, or give the connection a password: "
            f"{shell.connect('ID')}",
        )


def _proofs(info: ConnectionInfo) -> dict[str, str]:
    version = pq.version() // 10_000
    if version < REQUIRED_SINCE and is_refused_by_client(info):
        raise client_error(
            database_id(info),
            f"libpq {version}",
            'type pip install "sluice[postgresql]" wherever jobs and their tasks run, which brings a newer one',
        )
    return {} if version < REQUIRED_SINCE or _asked_proof(info) or _verifies(info) else {_REQUIRED: _NOT_IN_CLEAR}


def is_refused_by_client(info: ConnectionInfo) -> bool:
    """Whether it is for the client to refuse a server that asks for the password in clear."""
    hosts = str(info.extra.get("hostaddr") or info.host or "").split(",")
    if asked := _asked_proof(info):
        return "password" not in asked.split(",")
    return not _verifies(info) and any(map(is_far, hosts))


def _asked_proof(info: ConnectionInfo) -> str:
    return str(info.extra.get(_REQUIRED) or os.environ.get("PGREQUIREAUTH") or "")


def _verifies(info: ConnectionInfo) -> bool:
    return str(info.extra.get("sslmode") or os.environ.get("PGSSLMODE")) in VERIFYING


def refusal_sqlstate(error: psycopg.Error, how: Mapping[str, object]) -> str | None:
    """The SQLSTATE with which a server refused a connection; None if it sent none.

    Args:
        error: what the driver raised.
        how: the connection's parameters, as libpq names them.
    """
    if error.sqlstate or isinstance(error, psycopg.errors.ConnectionTimeout):
        return error.sqlstate
    if error.pgconn is not None and error.pgconn.needs_password:
        # It asked for a password and there is none, which libpq says by itself.
        return _NO_PASSWORD
    try:
        notes = os.memfd_create("sluice")
    except (AttributeError, OSError):
        return _by_words(str(error))
    try:
        with _hidden.hide(ignored_variables(how)):
            output = _notices(notes, make_conninfo(**{key: str(value) for key, value in how.items()}))
    except psycopg.NotSupportedError:
        return _by_words(str(error))
    except psycopg.Error:
        return None
    finally:
        os.close(notes)
    # The last one: libpq may have asked again without TLS.
    states = _REFUSED.findall(output)
    if not states and _UNREAD in output:
        return _by_words(str(error))
    if states[-1:] == [_PROTOCOL.encode()]:
        return _by_words(str(error)) or _PROTOCOL
    return states[-1].decode() if states else None


def is_login_refused(state: str | None) -> bool:
    """Whether an SQLSTATE says that a login is not let in."""
    return (state or "").startswith("28")


def _by_words(message: str) -> str | None:
    """The SQLSTATE by the English text of a message, where libpq cannot trace it, or a pooler has but one."""
    if re.search(r"authentication failed|pg_hba|valid client certificate|role .* does not exist", message):
        return _NO_PASSWORD
    if "unsupported startup parameter" in message:
        return _PROTOCOL
    return "3D000" if re.search(r"database .* does not exist|no such database", message) else None


def _notices(notes: int, conninfo: str) -> bytes:
    """The messages between libpq and a server while it connects, as `PQtrace` writes it.

    Log it nowhere: a server may ask for a password in clear.
    """
    connection = pq.PGconn.connect_start(conninfo.encode())
    try:
        connection.trace(notes)
        connection.set_trace_flags(pq.Trace.SUPPRESS_TIMESTAMPS | pq.Trace.REGRESS_MODE)
        end = time.monotonic() + _WAIT_S
        waits: dict[int, int] = {pq.PollingStatus.READING: select.POLLIN, pq.PollingStatus.WRITING: select.POLLOUT}
        while (wait := waits.get(connection.connect_poll())) and (left := end - time.monotonic()) > 0:
            ready = select.poll()
            ready.register(connection.socket, wait)
            ready.poll(left * 1000)
        connection.untrace()
        return os.pread(notes, 1 << 20, 0)
    finally:
        connection.finish()
