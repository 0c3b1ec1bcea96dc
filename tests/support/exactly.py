"""Comparing a world's databases by the text of every value, under the settings that images are written under."""

from __future__ import annotations

from collections import Counter
from typing import Any

import psycopg
from psycopg import sql
from support.world import World

from sluice.model.names import TableName
from sluice.vendors.postgresql.session import PINNED

Images = Counter[tuple[str | None, ...]]


def pinned(world: World, database: str) -> psycopg.Connection[Any]:
    """A session whose texts mean the same on every server."""
    session = world.session(database)
    for setting, value in PINNED.items():
        session.execute(sql.SQL("SET {} = {}").format(sql.Identifier(setting), value))
    return session


def text_of(column: str) -> sql.Composed:
    """A value as its type prints it, which a cast to text is not: it takes blanks from the end of a character(5)."""
    return sql.SQL("CASE WHEN num_nulls({0}) = 0 THEN concat({0}) END").format(sql.Identifier(column))


def images(session: psycopg.Connection[Any], table: TableName) -> Images:
    """The rows of a table alone, each value as a text; columns in the order of their names."""
    known = "SELECT attname, relkind FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid WHERE relname = %s"
    known += " AND relnamespace = %s::regnamespace AND attnum > 0 AND NOT attisdropped ORDER BY attname"
    found = session.execute(known, [table.table, sql.Identifier(table.schema).as_string()]).fetchall()
    columns = sql.SQL(", ").join(text_of(column) for column, _ in found)
    only = sql.SQL("" if found[0][1] == "p" else "ONLY")
    query = sql.SQL("SELECT {} FROM {} {}").format(columns, only, sql.Identifier(table.schema, table.table))
    return Counter(session.execute(query).fetchall())


def differences(world: World) -> dict[tuple[str, str], tuple[Images, Images]]:
    """Which tables of which slaves are not what the master's are: (missing, extra) rows."""
    found = {}
    sessions = {database: pinned(world, database) for database in ("master", *world.slaves)}
    for schema, table in world.context.config.source("flights").watched_tables:
        ours = images(sessions["master"], TableName(schema, table))
        for slave in world.slaves:
            theirs = images(
                sessions[slave], world.context.slave(world.pair(slave)).mapper.table(TableName(schema, table))
            )
            if ours != theirs:
                found[slave, table] = (ours - theirs, theirs - ours)
    for session in sessions.values():
        session.close()
    return found
