"""Slaves on Oracle for the same tests: SQLite in place of the server, and a real one where somebody names it.

See `./sluice test --oracle-dsn`. Where nobody does, a real one is none of them, so that no test is skipped.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import oracledb
from support.oracle_as_sqlite import SqliteServer
from support.world import World

from sluice.connections import ConnectionInfo
from sluice.dev import oracle_server
from sluice.vendors.oracle import grants, removal, slave
from sluice.vendors.oracle.load import receiver
from sluice.vendors.oracle.load import tables as loading
from sluice.vendors.oracle.read import compare
from sluice.vendors.oracle.write import repair

SLAVE = "zurich"
# Each row of the master has these values, too, where the slave is on a real server.
MORE = """, flag boolean DEFAULT true, big bigint DEFAULT -9223372036854775808, free numeric DEFAULT 1.50,
    near real DEFAULT 0.1, far double precision DEFAULT 1e300, long text DEFAULT '', doc jsonb DEFAULT '{"a": [1]}',
    wide varchar(1000) DEFAULT E'\u00e4\u20ac\\n', day date DEFAULT '0001-01-01', raw bytea DEFAULT '\\x00ff',
    at timestamp DEFAULT '9999-12-31 23:59:59.999999', moment timestamptz DEFAULT '2024-10-27 02:30:00.000001+02',
    hollow bytea DEFAULT '', clock time DEFAULT '24:00', ident uuid DEFAULT '123e4567-e89b-12d3-a456-426655440000',
    span interval DEFAULT '1 day', many int[] DEFAULT '{1,NULL}'"""


@dataclass(frozen=True)
class Depot:
    """A world with one slave, and what somebody does there by hand.

    Attributes:
        by_hand: a statement, which commits.
        real: it is a server of Oracle.
    """

    world: World
    schema: str
    execute: Callable[[str], Sequence[tuple[Any, ...]]]
    tables: Callable[[], list[str]]
    by_hand: Callable[[str], object]
    real: bool = False


def on_sqlite(
    updating: Any, afterwards: ExitStack, ddl: str, monkeypatch: Any, path: Path, tables: str = "public.t"
) -> Depot:
    """A file stands for the server."""
    server = SqliteServer(path, "DEPOT")
    for module in (slave, loading, receiver, compare, repair, removal):
        monkeypatch.setattr(module, "connect", server.connect)
    session = sqlite3.connect(path, isolation_level=None)
    afterwards.callback(session.close)

    def names() -> list[str]:
        return [name for (name,) in session.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]

    def by_hand(statement: str) -> None:
        with server.connect() as driver:
            driver.execute(statement, {})
            driver.commit()

    info = ConnectionInfo("oracle", "d", None, "X", "DEPOT", "secret")
    world = _world(updating, ddl.format(more=""), tables, "DEPOT", info)
    return Depot(world, "DEPOT", lambda statement: session.execute(statement).fetchall(), names, by_hand)


def on_server(
    updating: Any, afterwards: ExitStack, ddl: str, monkeypatch: Any, path: Path, tables: str = "public.t"
) -> Depot:
    """A user of its own on the server that somebody named."""
    user, secret = f"SLUICE_SLAVE_{secrets.token_hex(4).upper()}", f"s{secrets.token_hex(12)}"
    host, port, service = oracle_server.address()
    info = ConnectionInfo("oracle", host, port, service, user, secret)
    with oracle_server.administrator() as admin:
        _rows(admin, f'CREATE USER {user} IDENTIFIED BY "{secret}"')
        afterwards.callback(_drop, user)
        for statement in grants.for_slave(info, user, (), ()).split(";\n"):
            _rows(admin, statement)
    session = oracle_server.connect(user, secret)
    session.autocommit = True
    afterwards.callback(session.close)

    def names() -> list[str]:
        return [str(name) for (name,) in _rows(session, "SELECT table_name FROM user_tables")]

    def by_hand(statement: str) -> Sequence[tuple[Any, ...]]:
        return _rows(session, statement)

    world = _world(updating, ddl.format(more=MORE), tables, user, info)
    return Depot(world, user, by_hand, names, by_hand, real=True)


DEPOTS = {"sqlite": on_sqlite}
if oracle_server.is_named():
    DEPOTS["oracle"] = on_server


def _world(updating: Any, ddl: str, tables: str, schema: str, info: ConnectionInfo) -> World:
    world: World = updating(ddl, [tables], renamed={}, slaves=[SLAVE])
    world.infos["unused"] = world.infos[SLAVE]
    world.infos[SLAVE] = info
    there = {"vendor": "oracle", "schema": schema, "schemas": {"public": schema}}
    world.configure(lambda settings: settings["slaves"][SLAVE].update(there))
    return world


def _rows(session: oracledb.Connection, statement: str) -> list[tuple[Any, ...]]:
    with session.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall()) if cursor.description else []


def _drop(user: str) -> None:
    with oracle_server.administrator() as admin:
        _rows(admin, f"DROP USER {user} CASCADE")
