"""Sessions on a MariaDB server: settings that are pinned and read back, names that are quoted, numbered locks by which
a later job finds the sessions of an earlier one (R6, R7).
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any, NewType
from zlib import crc32

import pymysql
from pymysql import converters
from pymysql.constants import CLIENT

from sluice import passwords, sqlfiles
from sluice.connections import ConnectionInfo, given_extras
from sluice.errors import ConfigError, SluiceError
from sluice.model.names import Pair, TableName
from sluice.tls import VERIFYING, Transport
from sluice.vendors.managed import SETTING
from sluice.vendors.mariadb.errors import explained, number_of, translated
from sluice.vendors.mariadb.guarded import Guarded
from sluice.vendors.mariadb.server import Server, server_of

# A piece of SQL, whose names are quoted.
Sql = NewType("Sql", str)
Row = tuple[Any, ...]

# That of servers where a connection names none.
PORT = 3306
_EXTRAS = ("sslmode", "sslrootcert", "sslcert", "sslkey", "cleartext_password", *passwords.EXTRAS)
# A login that is refused, by the server's number of the error.
_NOT_LET_IN = 1045
_TLS = ("disable", "prefer", "require", "verify-ca", "verify-full")
# How many sessions of one slave may be found by their locks.
_LOCKS = 64
# Without its decoders the driver gives texts as they are, and bytes for what is binary.
_ENCODERS = dict(converters.encoders)
_NO_RIGHT = 1227
# TLS without a proof of who the server is. One that the driver makes reads all certificates of the machine, for 70 ms.
_UNVERIFIED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_UNVERIFIED.check_hostname = False
_UNVERIFIED.verify_mode = ssl.CERT_NONE
_LOST = (2013, "the session has ended")


class Connection(Guarded):
    """A session, which knows what its server can do, and says so if it has ended."""

    server: Server

    def _create_ssl_ctx(self, sslp: Any) -> Any:
        # The driver asks for this by itself where TLS is a wish.
        return super()._create_ssl_ctx(sslp or _UNVERIFIED)

    def _read_bytes(self, num_bytes: int) -> bytes:
        # The driver reads on in a session that it has closed, to leave no rows behind.
        if not self.open:
            if self._result:
                self._result.unbuffered_active = False
            raise pymysql.err.OperationalError(*_LOST)
        read: bytes = super()._read_bytes(num_bytes)
        return read


def connect(info: ConnectionInfo, application: str, *, fills: bool = True) -> Connection:
    """A session with pinned settings, each transaction of which is begun by `transaction`.

    Args:
        fills: it makes tables as a master has them.

    Raises:
        TransientError: SLC-030, it cannot be reached; SLC-691, its password expired, or cannot be fetched.
        ConfigError: SLC-311, its `sslmode` is none; it does not hold; SLC-017, an extra is unknown.
        SluiceError: SLC-031, it is not let in; SLC-684, it asks for the password in clear; SLC-430, the server is
            another one; SLC-373, settings do not hold; SLC-400, it does not make tables as they are meant.
    """
    address = f"{info.host}:{info.port or PORT}"
    given_extras(info, _EXTRAS)
    tls = _tls(info)
    password = passwords.password_of(info, PORT)
    try:
        try:
            session = _open(info, application, password, tls)
        except pymysql.Error as error:
            again = passwords.password_of(info, PORT, refused=password) if number_of(error) == _NOT_LET_IN else password
            if again == password:
                raise
            session = _open(info, application, again, tls)
        _pin(session, address, fills=fills)
        _expect_encrypted(session, address, str(info.extra.get("sslmode", "prefer")))
    except (pymysql.Error, OSError) as error:
        known = error if isinstance(error, pymysql.Error) else pymysql.err.OperationalError(2003, str(error))
        failure = explained(known, f"connecting to {address}")
        raise passwords.login_error(info, failure, is_refused=number_of(known) == _NOT_LET_IN) from error
    return session


def _open(info: ConnectionInfo, application: str, password: str, tls: Mapping[str, Any]) -> Connection:
    session = Connection(
        host=info.host,
        port=info.port or PORT,
        user=info.login,
        password=password,
        charset="utf8mb4",
        conv=_ENCODERS,
        connect_timeout=10,
        autocommit=True,
        # The driver itself sends no file, since `local_infile` is not set.
        client_flag=CLIENT.LOCAL_FILES,
        program_name=f"sluice {application}"[:63],
        defer_connect=True,
        **tls,
    )
    session.verifies = info.extra.get("sslmode") in VERIFYING
    session.in_clear = str(info.extra.get("cleartext_password")).lower() == "true"
    session.connect()
    return session


def connect_to_master(info: ConnectionInfo, application: str) -> Connection:
    """The same on a server whose log can be read. Raises SluiceError SLC-430 if that is another one."""
    session = connect(info, application, fills=False)
    if not session.server.is_captured:
        session.close()
        raise SluiceError(
            430,
            f"the server at {info.host}:{info.port or PORT} is {session.server.name} of an old version, which can be a "
            "slave, and no master: changes are not read from its binary log",
            "nothing was read or written; point the source's connection at MySQL 8.0.26 or later, or at MariaDB 10.6 "
            "or later",
        )
    return session


def composed(name: str, /, **parts: str) -> str:
    """The statement of that name with its placeholders filled; a plain text stands for a piece of SQL."""
    return sqlfiles.statement("mariadb", name).format(**parts)


def execute(session: Connection, statement: str, values: Mapping[str, object] | None = None) -> list[Row]:
    """The rows of a statement."""
    with session.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def changed(session: Connection, statement: str | bytes, values: Mapping[str, object] | None = None) -> int:
    """How many rows a statement has changed."""
    with session.cursor() as cursor:
        return int(cursor.execute(statement, values))


@contextmanager
def transaction(session: Connection) -> Iterator[None]:
    """A transaction, committed at the end of the block unless that fails."""
    session.begin()
    try:
        yield
    except BaseException:
        # A session that has ended has rolled back.
        if session.open:
            try:
                session.rollback()
            except pymysql.Error:
                session.close()
        raise
    session.commit()


def quoted(name: str) -> Sql:
    """A name as an identifier."""
    return Sql(f"`{name.replace('`', '``')}`")


def qualified(name: TableName) -> Sql:
    """A table: a schema is a database here."""
    return Sql(f"{quoted(name.schema)}.{quoted(name.table)}")


def our_tables(schema: str) -> dict[str, str]:
    """Our tables in a slave, for the statements that name them."""
    return {name: qualified(TableName(schema, f"sluice_{name}")) for name in ("position", "loaded", "intent")}


def hold_lock(session: Connection, pair: Pair) -> None:
    """Let a later job find this session, which writes to a slave: by one of the numbered locks of that."""
    for number in range(_LOCKS):
        if execute(session, "SELECT GET_LOCK(%(lock)s, 0)", {"lock": _lock(pair, number)}) == [("1",)]:
            return


def end_others(session: Connection, pair: Pair) -> None:
    """End the sessions that write to a slave. Those of other accounts, which the server does not let us end, stay."""
    for number in range(_LOCKS):
        ((holder,),) = execute(session, "SELECT IS_USED_LOCK(%(lock)s)", {"lock": _lock(pair, number)})
        if holder is not None and int(holder) != session.thread_id():
            end_session(session, int(holder))


def command_lock(pair: Pair, word: str) -> str:
    """The name of the lock under which commands are executed on a slave.

    Args:
        word: no account that may not read the slave's position knows it. A lock needs no right, so whichever could make
            the name could hold it against us for ever.
    """
    return _lock(pair, word)


def end_session(session: Connection, number: int) -> None:
    """End a session by its number, unless it is gone, or of another account, which the server does not let us end."""
    try:
        execute(session, f"KILL CONNECTION {number}")
    except pymysql.Error as error:
        if error.args[0] not in (1094, 1095):
            raise


def _lock(pair: Pair, number: int | str) -> str:
    return f"sluice {pair.slave[:30]} {crc32(str(pair).encode()):08x} {number}"


def _pin(session: Connection, address: str, *, fills: bool) -> None:
    # What a server begins sessions with may refuse the first question.
    execute(session, "SET SESSION sql_big_selects = 1")
    ((version, comment, folding, engine),) = execute(
        session,
        "SELECT VERSION(), @@version_comment, @@lower_case_table_names, "
        "(SELECT support FROM information_schema.engines WHERE engine = 'InnoDB')",
    )
    server = server_of(version, comment)
    if (
        server is None
        or folding not in ("0", "1")
        or engine not in ("YES", "DEFAULT")
        or not _has(session, server.collation)
    ):
        session.close()
        raise SluiceError(
            430,
            f"the server at {address} is {version} ({comment}), lower_case_table_names = {folding}, InnoDB: "
            f"{engine or 'no'}",
            "nothing was read or written; point the connection at MariaDB 10.6 or later, or at MySQL 8.0.26 or later "
            "(8.0.17 for a slave), with InnoDB, whose lower_case_table_names is 0 or 1",
        )
    session.server = replace(server.with_variables(_optional(session, server.optional)), folds=folding == "1")
    if fills:
        _expect_off(session, address)
    execute(session, f"SET NAMES utf8mb4 COLLATE {server.collation}")
    given = {
        name: int(value.partition(".")[0]) if value.replace(".", "", 1).isdecimal() else value
        for name, value in server.pinned
        if not name.startswith(("character_set", "collation"))
    }
    execute(session, "SET " + ", ".join(f"SESSION {name} = %({name})s" for name in given), given)
    expect_pinned(session, address)


def _has(session: Connection, collation: str) -> bool:
    asked = "SELECT 1 FROM information_schema.collations WHERE collation_name = %(name)s"
    return bool(execute(session, asked, {"name": collation}))


def _optional(session: Connection, names: Sequence[str]) -> set[str]:
    """The variables among these that the server has."""
    if not names:
        return set()
    rows = execute(session, "SHOW GLOBAL VARIABLES WHERE variable_name IN %(names)s", {"names": names})
    return {str(name) for name, _ in rows}


def _expect_off(session: Connection, address: str) -> None:
    names = session.server.adds_keys
    if not names:
        return
    (values,) = execute(session, "SELECT " + ", ".join(f"@@SESSION.{name}" for name in names))
    on = [name for name, value in zip(names, values, strict=True) if value != "0"]
    if held := [name for name in on if not _turns_off(session, name)]:
        session.close()
        raise SluiceError(
            400,
            f"the server at {address} has {' and '.join(held)} on: it would refuse tables without a primary key, or "
            "give them a column that the master has not",
            f"nothing was written; set them off, as an administrator: "
            f"{'; '.join(f'SET PERSIST {name} = 0' for name in held)}; or, {SETTING}. Or let Sluice set them off in "
            "its own sessions: GRANT SESSION_VARIABLES_ADMIN ON *.* TO its account",
        )


def _turns_off(session: Connection, name: str) -> bool:
    """Set a variable off for this session; whether the account may."""
    try:
        execute(session, f"SET SESSION {name} = 0")
    except pymysql.Error as error:
        if number_of(error) != _NO_RIGHT:
            raise
        return False
    return True


def expect_kept(session: Connection, what: str, *names: str) -> None:
    """See that the server calls databases as they are written here. Raises ConfigError SLC-400 if not."""
    if not session.server.keeps(*names):
        session.close()
        raise ConfigError(
            400,
            f"the server writes names in lower case (lower_case_table_names = 1), and {what} is {', '.join(names)}",
            f"nothing was changed; write {', '.join(map(session.server.fold, names))} in the configuration",
        )


def expect_pinned(session: Connection, address: str = "") -> None:
    """See that a session has the settings that it was given. Raises SluiceError SLC-373 if not."""
    (found,) = execute(session, "SELECT " + ", ".join(f"@@SESSION.{name}" for name, _ in session.server.pinned))
    others = [
        f"{name} is {has}, not {value}"
        for (name, value), has in zip(session.server.pinned, found, strict=True)
        if has != value
    ]
    if others:
        session.close()
        raise SluiceError(
            373,
            f"a session {address and f'at {address} '}has not the settings that it was given: {', '.join(others)}",
            "nothing was written. A pooler in between drops them: let the connection lead to the server itself",
        )


def _tls(info: ConnectionInfo) -> dict[str, Any]:
    mode = str(info.extra.get("sslmode", "prefer"))
    files = {
        "ssl_ca": info.extra.get("sslrootcert"),
        "ssl_cert": info.extra.get("sslcert"),
        "ssl_key": info.extra.get("sslkey"),
    }
    named = {name: str(path) for name, path in files.items() if path}
    if mode not in _TLS or (mode.startswith("verify") and "ssl_ca" not in named):
        raise ConfigError(
            311,
            f"the connection to {info.host} has `sslmode` {mode}{'' if 'ssl_ca' in named else ' and no `sslrootcert`'}",
            f"set `sslmode` in its extra to one of {', '.join(_TLS)}; the last two need `sslrootcert`",
        )
    if mode == "disable":
        return {"ssl_disabled": True}
    if mode == "prefer":
        return {}
    how = {"ssl_verify_cert": mode.startswith("verify"), "ssl_verify_identity": mode == "verify-full"}
    # Without anything that is true the driver would go on without TLS.
    return {**named, **how} if any(named.values()) or any(how.values()) else {"ssl": _UNVERIFIED}


def transport(info: ConnectionInfo) -> Transport:
    """Describe how a session of this connection travels. Raises what `connect` does."""
    with closing(connect(info, "check", fills=False)) as session, translated("looking at the way there"):
        ((client,),) = execute(session, "SELECT SUBSTRING_INDEX(USER(), '@', -1)")
        mode = str(info.extra.get("sslmode", "prefer"))
        return Transport(session.peer, client, session.encrypts, _arrives_encrypted(session), mode)


def _arrives_encrypted(session: Connection) -> bool:
    ((_, cipher),) = execute(session, "SHOW SESSION STATUS LIKE 'Ssl_cipher'")
    return bool(cipher)


def _expect_encrypted(session: Connection, address: str, mode: str) -> None:
    if mode not in ("disable", "prefer") and not _arrives_encrypted(session):
        session.close()
        raise ConfigError(
            311,
            f"the session at {address} is not encrypted, and its `sslmode` is {mode}",
            "nothing was read or written; give the server a certificate (`ssl_cert`, `ssl_key`)",
        )
