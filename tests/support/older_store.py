"""A control store as an earlier version had it, with what a store of today holds."""

from __future__ import annotations

from typing import Any

import psycopg
from alembic import command
from alembic.config import Config
from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.paths import PROJECT
from sluice.store.engine import Store

_COLUMNS = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = 'public' AND table_name <> 'alembic_version' ORDER BY 1, 2
"""


def as_of(server: Any, revision: str, store: ConnectionInfo) -> ConnectionInfo:
    """A store of this revision with the rows of another one, as far as it has their tables and columns."""
    made: ConnectionInfo = server.create_database()
    older = Store(made)
    with older.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(PROJECT / "sql" / "control"))
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    older.close()
    with server.connect(store) as now, server.connect(made) as then:
        then.execute("SET session_replication_role = replica")
        known = set(now.execute(_COLUMNS).fetchall())
        tables: dict[str, list[str]] = {}
        for table, column in then.execute(_COLUMNS).fetchall():
            names = tables.setdefault(table, [])
            if (table, column) in known:
                names.append(column)
        for table, names in tables.items():
            _copy(now, then, sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, names)))
            for name in names:
                _go_on_counting(then, table, name)
    return made


def _copy(now: Any, then: Any, table: sql.Identifier, columns: sql.Composed) -> None:
    # A migration may have made a row of its own.
    then.execute(sql.SQL("DELETE FROM {}").format(table))
    out = sql.SQL("COPY {} ({}) TO STDOUT").format(table, columns)
    into = sql.SQL("COPY {} ({}) FROM STDIN").format(table, columns)
    with now.cursor().copy(out) as rows, then.cursor().copy(into) as written:
        for data in rows:
            written.write(data)


def _go_on_counting(then: psycopg.Connection[Any], table: str, column: str) -> None:
    (sequence,) = then.execute("SELECT pg_get_serial_sequence(quote_ident(%s), %s)", [table, column]).fetchone() or [0]
    if sequence:
        count = sql.SQL("SELECT setval({}, coalesce(max({}), 0) + 1) FROM {}")
        then.execute(count.format(sql.Literal(sequence), sql.Identifier(column), sql.Identifier(table)))
