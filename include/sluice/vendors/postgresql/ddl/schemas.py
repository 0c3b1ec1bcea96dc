"""Schemas of a slave that its tables and types need."""

from __future__ import annotations

from psycopg import sql

from sluice.vendors.postgresql.session import Connection


def provide(connection: Connection, schema: str) -> None:
    """Make a schema if it is missing. `CREATE SCHEMA IF NOT EXISTS` asks for a right on the database in any case."""
    if connection.execute("SELECT FROM pg_namespace WHERE nspname = %s", [schema]).fetchone() is None:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
