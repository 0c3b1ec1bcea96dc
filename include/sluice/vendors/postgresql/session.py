"""Sessions on PostgreSQL: how they are opened, and which settings they pin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

import psycopg
from psycopg import sql

from sluice import libpq, passwords, pooler, sqlfiles, tls
from sluice.connections import ConnectionInfo
from sluice.errors import AGAIN, SluiceError, TransientError
from sluice.libpq import PORT, is_login_refused, parameters, refusal_sqlstate
from sluice.vendors.managed import OWNER
from sluice.vendors.postgresql.errors import explained

Connection = psycopg.Connection[tuple[Any, ...]]

# How values, defaults, checks and names are printed, also by functions of ours that run in the sessions of others.
PRINTED = {
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "timezone": "UTC",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "lc_monetary": "C",
    "standard_conforming_strings": "on",
    "quote_all_identifiers": "off",
}
# Every text that leaves or enters a database is written under these, so that it means the same on both sides (R7).
PINNED = {
    **PRINTED,
    # What code of others leaves in a session as a temporary object comes last: else it would come first.
    "search_path": "pg_catalog, pg_temp",
    "client_encoding": "UTF8",
    # How what we send is read, whatever the database says to everybody.
    "array_nulls": "on",
    "xmloption": "content",
    "default_transaction_isolation": "read committed",
    # What a policy would hide from us is an error, and not a copy that lacks rows.
    "row_security": "off",
    "idle_in_transaction_session_timeout": "0",
    "lock_timeout": "0",
    "statement_timeout": "0",
    # What we ask is short, and about catalogs, where estimates are wild: compiling takes longer than the answer.
    "jit": "off",
}

# What the server does not know is NULL. Nothing is pinned yet where a pooler is in between.
_SETTINGS = """
SELECT name, pg_catalog.current_setting(name, true)
FROM pg_catalog.unnest(%s::pg_catalog.text[]) AS pinned (name)
UNION ALL
SELECT 'process', pg_catalog.pg_backend_pid()::pg_catalog.text
UNION ALL
SELECT pg_catalog.split_part(setting, '=', 1), pg_catalog.split_part(setting, '=', 2)
FROM pg_catalog.pg_db_role_setting CROSS JOIN pg_catalog.unnest(setconfig) AS setting
WHERE setrole OPERATOR(pg_catalog.=) 0::pg_catalog.oid
    AND pg_catalog.split_part(setting, '=', 1) OPERATOR(pg_catalog.=) ANY (ARRAY['role', 'session_authorization'])
    AND setdatabase OPERATOR(pg_catalog.=) (
        SELECT oid FROM pg_catalog.pg_database WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
    )"""
_MARK = pooler.MARK
_LOOK = "SELECT pg_catalog.current_setting('sluice.session', true)"
# What was set in a session to its end, see `keep`.
_kept: WeakKeyDictionary[Connection, dict[str, str]] = WeakKeyDictionary()
# What a session was begun with by SET, since a pooler took no `options`: RESET brings back what was before.
_begun_by_set: WeakKeyDictionary[Connection, Mapping[str, str]] = WeakKeyDictionary()
# The server's process: what a pooler says to a client of it is no process.
_processes: WeakKeyDictionary[Connection, int] = WeakKeyDictionary()

# What else a session depends on, where its server knows it: some end a session, one keeps it from reading our views.
_IF_KNOWN = {"idle_session_timeout": "0", "transaction_timeout": "0", "restrict_nonsystem_relation_kind": ""}

# Said by a transaction that takes changes out of a queue; `capture/guard` refuses all others.
PURGE = "SET LOCAL sluice.purge = on"
# All that waits for the commit is done now: the second time what triggers of ours have put off once more (R1).
ALL_CHECKED = "SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL IMMEDIATE"
_READ_ONLY = (
    "SELECT pg_is_in_recovery(), current_setting('transaction_read_only')::boolean, source, "
    "quote_ident(current_user), quote_ident(current_database()) "
    "FROM pg_settings WHERE name = 'default_transaction_read_only'"
)
# How `pg_settings.source` calls the places of a setting. Source: PostgreSQL manual, "pg_settings".
_SET_FOR = {
    "user": "this role",
    "database": "this database",
    "database user": "this role in this database",
    "global": "all roles",
    "configuration file": "the whole server, in its configuration",
    "command line": "the whole server, where it is started",
    "client": "this session, by a connection pooler",
}


def connect(
    info: ConnectionInfo, application: str, *, autocommit: bool = False, lock_wait: str = PINNED["lock_timeout"]
) -> Connection:
    """A session with pinned settings.

    Args:
        lock_wait: how long it waits for a lock, if nothing else is said; as the server prints it.

    Raises:
        TransientError: SLC-030, it cannot be reached; SLC-691, its password expired, or cannot be fetched.
        SluiceError: SLC-031, it is not let in; SLC-373, it has other settings than those that were asked for, or its
            transactions go to several sessions; SLC-311, TLS cannot be set up as the connection asks for it; SLC-666,
            the database's owner says whose rights it has; SLC-690, a pooler in between gives its sessions to others.
    """
    pinned = {**PINNED, "lock_timeout": lock_wait}
    how = parameters(info, application)
    address = f"{info.host}:{info.port or PORT}/{info.database}"
    try:
        connection, has = _begin(info, how, pinned, address)
        connection.autocommit = autocommit
    except psycopg.Error as error:
        if insecure := tls.trouble(error, address):
            raise insecure from error
        state = refusal_sqlstate(error, how)
        failure = explained(error, f"connecting to {address}", state)
        raise passwords.login_error(info, failure, is_refused=is_login_refused(state)) from error
    if others := _list_differences(has, pinned):
        connection.close()
        raise SluiceError(
            373,
            f"a session at {address} does not have the settings that it was begun with: {', '.join(others)}",
            "nothing was read or written. A connection pooler in between drops them: let the connection lead to the "
            "server itself",
        )
    for setting in {"role", "session_authorization"} & has.keys():
        connection.close()
        raise SluiceError(
            666,
            f"the database {info.database} gives every session the role {has[setting]}: its code could take the rights "
            f"of {info.login} again",
            f"nothing was read or written. See who set it; let {OWNER}, say: ALTER DATABASE "
            f"{sql.Identifier(info.database).as_string()} RESET {setting}. To give {info.login} a role, set it for "
            "that one: ALTER ROLE ... SET role",
        )
    expect_same(connection, has[_MARK])
    # What the driver prepares by itself it gives up after a rollback, and all else that is prepared too. And code of
    # others that runs in the session can put something else in its place.
    connection.prepare_threshold = None
    return connection


def _begin(
    info: ConnectionInfo, how: dict[str, Any], pinned: Mapping[str, str], address: str
) -> tuple[Connection, Mapping[str, str | None]]:
    """A session with these settings, in autocommit, and what it has then.

    A server takes them by `options`, which costs nothing. Where a pooler refuses or drops those, they are set, once
    `pooler.prove` has shown that no other client gets this session.
    """
    connection, asked = _open(info, how, pinned)
    try:
        settings = [*PINNED, *_IF_KNOWN, _MARK]
        has: dict[str, str | None] = dict(connection.execute(_SETTINGS, [settings]).fetchall())
        if not asked or _list_differences(has, pinned):
            pooler.prove(connection, how, address)
            pooler.expect_unmarked(connection, address)
            _begun_by_set[connection] = pinned
            connection.execute(_set(pinned))
        known = {name: value for name, value in _IF_KNOWN.items() if has.get(name) is not None}
        keep(connection, **known, **{_MARK: uuid4().hex})
        has = dict(connection.execute(_SETTINGS, [settings]).fetchall())
        _processes[connection] = int(has["process"] or 0)
    except BaseException:
        connection.close()
        raise
    return connection, has


def _open(info: ConnectionInfo, how: dict[str, Any], pinned: Mapping[str, str]) -> tuple[Connection, bool]:
    """A session, and whether it was asked for these settings."""
    options = " ".join(f"-c {name}={_escaped(value)}" for name, value in pinned.items())
    if not pooler.is_proven(how):
        try:
            return libpq.open_session(info, how, options=options), True
        except psycopg.OperationalError as error:
            if refusal_sqlstate(error, {**how, "options": options}) not in pooler.REFUSALS:
                raise
    return libpq.open_session(info, how), False


def _list_differences(has: Mapping[str, str | None], pinned: Mapping[str, str]) -> list[str]:
    return [f"{name} is {has.get(name)}, not {value}" for name, value in pinned.items() if has.get(name) != value]


def process_of(connection: Connection) -> int:
    """The number of the server's process that serves a session."""
    return _processes.get(connection, connection.info.backend_pid)


def begun_with(connection: Connection, name: str) -> sql.Composable:
    """The value that a session has of a setting if nothing else is said, for SET."""
    begun = _begun_by_set.get(connection, {})
    return sql.Literal(begun[name]) if name in begun else sql.SQL("DEFAULT")


def mark_of(connection: Connection) -> str:
    """The value of `sluice.session` in this session."""
    return _kept.get(connection, {}).get(_MARK, "")


def expect_same(connection: Connection, found: str | None) -> None:
    """See that a statement was executed in the session that was begun.

    Args:
        found: what it read of `sluice.session`.

    Raises:
        SluiceError: SLC-373, another one executed it, or this one was reset.
    """
    if (found or "") != mark_of(connection):
        raise another_session(connection)


def keep(connection: Connection, **settings: str) -> None:
    """Set something to the end of the session; `restore` sets it again."""
    connection.execute(_set(settings))
    _kept.setdefault(connection, {}).update(settings)


@contextmanager
def kept(connection: Connection, **settings: str) -> Iterator[None]:
    """Keep something until the block ends."""
    keep(connection, **settings)
    try:
        yield
    finally:
        for name in settings:
            _kept[connection].pop(name)
    restore(connection)


def compose_restore(connection: Connection) -> tuple[sql.Composable, ...]:
    """The statements that restore a session, in their order. What they name does not depend on its settings."""
    settings = {**_begun_by_set.get(connection, {}), **_kept.get(connection, {})}
    return sql.SQL("RESET ROLE"), sql.SQL("RESET ALL"), _set(settings)


def restore(connection: Connection) -> None:
    """Give a session its settings back, after a statement that may have run code of others: a trigger, a check or an
    index of a slave's table may set anything to the end of the session. Settings of the transaction go as well.

    Raises:
        SluiceError: SLC-373, this is not the session that was begun.
    """
    both = sql.SQL("; ").join([sql.SQL(_LOOK), *compose_restore(connection)])
    (found,) = connection.execute(both, prepare=False).fetchone() or (None,)
    expect_same(connection, found)


def limit_lock_waits(connection: Connection, most: str | int | None) -> None:
    """Wait for a lock no longer than this, until the transaction ends; then SLC-036, `LockTimeout`.

    Args:
        most: milliseconds, or with a unit, such as "5s"; None for as long as the session does.
    """
    limit = begun_with(connection, "lock_timeout") if most is None else sql.Literal(most)
    connection.execute(sql.SQL("SET LOCAL lock_timeout = {}").format(limit))


def another_session(connection: Connection) -> SluiceError:
    """A transaction was not in the session that was begun, which ends with this."""
    where = f"{connection.info.host}:{connection.info.port}/{connection.info.dbname}"
    connection.close()
    return SluiceError(
        373,
        f"what is set or prepared in a session at {where} does not hold in its next transaction: a connection pooler "
        "in between gives each transaction to another session of the server",
        "nothing was written in it. Let the connection lead to the server itself, or let the pooler keep a session for "
        "each client (in PgBouncer pool_mode = session)",
    )


def expect_same_session(connection: Connection) -> None:
    """The same, where no statement reads the mark anyway. Raises SluiceError SLC-373."""
    (found,) = connection.execute(_LOOK).fetchone() or (None,)
    expect_same(connection, found)


def _set(settings: Mapping[str, str]) -> sql.Composed:
    calls = (sql.SQL("pg_catalog.set_config({}, {}, false)").format(*setting) for setting in settings.items())
    return sql.SQL("SELECT ") + sql.SQL(", ").join(calls)


def exported(session: Connection) -> tuple[str, str]:
    """Export a session's snapshot: its id for others, and what is visible in it, as a text.

    A server that was restarted gives its ids out again, so that ours say what they show, behind a blank.
    """
    row = session.execute("SELECT pg_export_snapshot(), pg_current_snapshot()::text").fetchone()
    if row is None:
        raise SluiceError(39, "the source exported no snapshot", "see the log of its server, then run this again")
    return f"{row[0]} {row[1]}", str(row[1])


def plain_id(snapshot_id: str) -> str:
    """The id as the server gave it, for programs that know no other."""
    return snapshot_id.partition(" ")[0]


def read_as_of(session: Connection, snapshot_id: str) -> None:
    """Let a transaction that begins see what an exported snapshot shows.

    Raises:
        TransientError: SLC-083, the snapshot is gone.
    """
    known, _, shown = snapshot_id.partition(" ")
    why = "another one has its id"
    try:
        session.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(known)))
        if session.execute("SELECT pg_current_snapshot()::text").fetchone() == (shown,):
            return
    except (psycopg.errors.InvalidParameterValue, psycopg.errors.UndefinedObject) as error:
        why = str(error)
    raise TransientError(
        83,
        f"the snapshot that is read is lost: the session that held it has ended ({why})",
        f"nothing is lost, {AGAIN}; look in the log of that server who ended the session",
    )


def read_tables_alone(session: Connection) -> None:
    """Let a session read no view and no foreign table of users: one that gets the name of a table after we looked
    would run code of its owner with our rights. A lock keeps a table from being renamed, but not its schema.

    Servers before the minor versions of August 2024 do not know this setting.
    """
    session.execute(composed("session/tables_alone"))


def refuse_read_only(connection: Connection) -> None:
    """Say at once what the first write would say.

    Raises:
        ReadOnlySqlTransaction: the server is a standby; it becomes SLC-038.
        SluiceError: SLC-038, a setting lets sessions write nothing.
    """
    row = connection.execute(_READ_ONLY).fetchone()
    standby, read_only, source, role, database = row or (False, False, "", "", "")
    if standby:
        raise psycopg.errors.ReadOnlySqlTransaction("it is a standby")
    if read_only:
        raise SluiceError(
            38,
            f"{role} may write nothing to {database}: `default_transaction_read_only` is on, set for "
            f"{_SET_FOR.get(source, source)}",
            "nothing was changed; if it is right that Sluice writes there: "
            f"BEGIN READ WRITE; ALTER ROLE {role} IN DATABASE {database} SET default_transaction_read_only = off; "
            "COMMIT",
        )


def composed(name: str, /, **parts: sql.Composable | str) -> sql.Composed:
    """The statement of that name with its placeholders filled; a plain text stands for an identifier."""
    filled = {key: sql.Identifier(part) if isinstance(part, str) else part for key, part in parts.items()}
    return sql.SQL(sqlfiles.statement("postgresql", name)).format(**filled)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace(" ", "\\ ")
