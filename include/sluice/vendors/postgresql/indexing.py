"""Indexes that a slave's tables lack while they are filled, and get back after the data.

To keep an index up to date row by row, for several sessions at once, costs more than to build it from all rows. Tables
that a load has made get theirs after the data anyway. Those of a table that it has emptied are dropped with that, and
written down in the same transaction: whatever becomes of the load, the next one gives them back.
"""

from __future__ import annotations

from collections.abc import Collection

import psycopg
from psycopg import sql

from sluice.log import event
from sluice.model.names import TableName
from sluice.vendors.postgresql.definition import identifier, verbatim
from sluice.vendors.postgresql.session import Connection, composed


def put_off(session: Connection, indexes: sql.Composable, tables: Collection[TableName]) -> None:
    """Drop the indexes of empty tables, as far as they can be built again as they are.

    Args:
        indexes: where they are written down.
    """
    session.execute(composed("indexes/stale", indexes=indexes), _named(tables))
    found = session.execute(composed("indexes/rebuildable"), _named(tables)).fetchall()
    for schema, table, name, is_key, built, constraint, bound in found:
        there = identifier(TableName(schema, table))
        dropped = sql.SQL("DROP INDEX {}").format(sql.Identifier(schema, name))
        if constraint is not None:
            dropped = sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(there, sql.Identifier(constraint))
            add = sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} {}")
            bound = add.format(there, sql.Identifier(constraint), verbatim(bound)).as_string(session)
        try:
            with session.transaction():
                session.execute(dropped)
        except psycopg.errors.DependentObjectsStillExist:
            # A view that groups by the primary key, say: this one is kept up to date row by row.
            continue
        noted = {"schema": schema, "table": table, "name": name, "is_key": is_key, "built": built, "bound": bound}
        session.execute(composed("indexes/note", indexes=indexes), noted)


def build(session: Connection, indexes: sql.Composable, tables: Collection[TableName]) -> None:
    """Give tables back the indexes that were dropped, unless somebody has done so already."""
    session.execute(composed("indexes/stale", indexes=indexes), _named(tables))
    for schema, table, name, built, bound in session.execute(
        composed("indexes/noted", indexes=indexes), _named(tables)
    ).fetchall():
        event("builds", table=f"{schema}.{table}", index=name)
        session.execute(verbatim(built))
        if bound:
            session.execute(verbatim(bound))
    forget(session, indexes, tables)


def forget(session: Connection, indexes: sql.Composable, tables: Collection[TableName]) -> None:
    """These tables have no indexes to come, since they are others now."""
    session.execute(composed("indexes/forget", indexes=indexes), _named(tables))


def _named(tables: Collection[TableName]) -> dict[str, list[str]]:
    return {"schemas": [name.schema for name in tables], "tables": [name.table for name in tables]}
