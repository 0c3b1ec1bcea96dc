"""Indexes that a slave's tables lack while they are filled, and get back after the data.

To keep an index up to date row by row, for several sessions at once, costs more than to build it from all rows. Tables
that a load has made get theirs after the data anyway. Those of a table that it has emptied are dropped with that, and
written down in the same transaction: whatever becomes of the load, the next one gives them back. So are checks that not
every row has to meet.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import psycopg
from psycopg import sql

from sluice.log import event
from sluice.model.names import TableName
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.definition import identifier, verbatim
from sluice.vendors.postgresql.session import Connection, composed


@dataclass(frozen=True)
class _Index:
    """An index that can be built again as it is.

    Attributes:
        is_key: of the primary key.
        built: the statement that builds it.
        constraint, bound: the constraint that it makes, if it does, and how it becomes that again.
    """

    table: TableName
    name: str
    is_key: bool
    built: str
    constraint: str | None
    bound: str | None

    def dropped(self, session: Connection) -> bool:
        """Drop it, unless something depends on it: a view that groups by the primary key, say."""
        statement = sql.SQL("DROP INDEX {}").format(sql.Identifier(self.table.schema, self.name))
        if self.constraint is not None:
            alter = sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}")
            statement = alter.format(identifier(self.table), sql.Identifier(self.constraint))
        try:
            with session.transaction():
                session.execute(statement)
        except psycopg.errors.DependentObjectsStillExist:
            return False
        return True

    def binding(self, session: Connection) -> str | None:
        """The statement that makes it a constraint again."""
        if self.constraint is None or self.bound is None:
            return None
        add = sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} {}")
        named = add.format(identifier(self.table), sql.Identifier(self.constraint), verbatim(self.bound))
        return named.as_string(session)


def put_off(
    session: Connection, indexes: sql.Composable, tables: Collection[TableName], emptied: Collection[TableName]
) -> None:
    """Drop the indexes of empty tables, as far as they can be built again as they are.

    Args:
        indexes: where they are written down.
        emptied: those that are to get rows which their checks do not take, since these are not valid: they are put off.
    """
    session.execute(composed("load/indexes/stale", indexes=indexes), relations.among({*tables, *emptied}))
    for schema, table, name, text in session.execute(
        composed("load/indexes/lenient"), relations.among(emptied)
    ).fetchall():
        check = {"table": identifier(TableName(schema, table)), "name": sql.Identifier(name)}
        session.execute(sql.SQL("ALTER TABLE {table} DROP CONSTRAINT {name}").format(**check))
        add = sql.SQL("ALTER TABLE {table} ADD CONSTRAINT {name} {text}").format(**check, text=verbatim(text))
        noted = {"schema": schema, "table": table, "name": name, "is_key": False, "bound": None}
        session.execute(composed("load/indexes/note", indexes=indexes), {**noted, "built": add.as_string(session)})
    for index in _rebuildable(session, tables):
        if index.dropped(session):
            noted = {"schema": index.table.schema, "table": index.table.table, "name": index.name}
            notes = {"is_key": index.is_key, "built": index.built, "bound": index.binding(session)}
            session.execute(composed("load/indexes/note", indexes=indexes), {**noted, **notes})


def drop(session: Connection, tables: Collection[TableName]) -> None:
    """Drop the indexes of tables that a load has made, but not their primary keys; it builds them again."""
    for index in _rebuildable(session, tables):
        if not index.is_key:
            index.dropped(session)


def lacking(session: Connection, indexes: sql.Composable) -> set[TableName]:
    """The tables whose indexes were put off; none if nothing was installed yet that could note them."""
    if session.execute("SELECT to_regclass(%s)", [indexes.as_string(session)]).fetchone() == (None,):
        return set()
    return {TableName(*row) for row in session.execute(composed("load/indexes/lacking", indexes=indexes))}


def build(session: Connection, indexes: sql.Composable, tables: Collection[TableName]) -> None:
    """Recreate the indexes that were dropped, unless they exist already."""
    session.execute(composed("load/indexes/stale", indexes=indexes), relations.among(tables))
    noted = session.execute(composed("load/indexes/noted", indexes=indexes), relations.among(tables)).fetchall()
    for schema, table, name, built, bound in noted:
        event("builds", table=f"{schema}.{table}", index=name)
        session.execute(verbatim(built))
        if bound:
            session.execute(verbatim(bound))
    if noted:
        forget(session, indexes, tables)


def forget(session: Connection, indexes: sql.Composable, tables: Collection[TableName]) -> None:
    """These tables have no indexes to come, since they are others now."""
    session.execute(composed("load/indexes/forget", indexes=indexes), relations.among(tables))


def _rebuildable(session: Connection, tables: Collection[TableName]) -> list[_Index]:
    rows = session.execute(composed("load/indexes/rebuildable"), relations.among(tables)).fetchall()
    return [_Index(TableName(schema, table), *more) for schema, table, *more in rows]
