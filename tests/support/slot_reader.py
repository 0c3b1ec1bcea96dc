"""Somebody else who reads a replication slot, by the streaming protocol."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg.conninfo import make_conninfo
from psycopg.pq import ExecStatus, PGconn


@contextmanager
def reading(world: Any, slot: str) -> Iterator[None]:
    """Hold the slot of a world's master, and take nothing out of it."""
    info = world.infos["master"]
    login = {"host": info.host, "port": info.port, "user": info.login, "password": info.password}
    where = make_conninfo(dbname=info.database, replication="database", **login)
    stranger = PGconn.connect(where.encode())
    start = f"START_REPLICATION SLOT {slot} LOGICAL 0/0 (proto_version '1', publication_names '\"repl.repl_rows\"')"
    result = stranger.exec_(start.encode())
    assert result.status == ExecStatus.COPY_BOTH, result.error_message
    try:
        yield
    finally:
        stranger.finish()
