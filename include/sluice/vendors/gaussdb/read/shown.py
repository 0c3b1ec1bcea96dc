"""Whether a name stands for the table that a snapshot shows under it: rows are read by names, which change hands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

from sluice.errors import AGAIN, TransientError
from sluice.model.names import TableName
from sluice.vendors.gaussdb.session import composed
from sluice.vendors.postgresql.catalog.definition import regclass
from sluice.vendors.postgresql.session import Connection


def keep_shape(session: Connection, name: TableName) -> None:
    """Lock a table against DDL until the transaction ends, and see that it is the one that the snapshot shows.

    Raises:
        TransientError: SLC-095, it is not.
    """
    relation = sql.Identifier(name.schema, name.table)
    with _there(name):
        session.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(relation))
    expect_shown(session, name)


def expect_shown(session: Connection, name: TableName) -> None:
    """See that a table is the one that the session's snapshot shows; also behind its rows, since no lock keeps schemas
    from being renamed.

    Raises:
        TransientError: SLC-095, it is not. The snapshot shows no row of a table that was rewritten or emptied since,
            and a view would run functions of its owner as our role.
    """
    values = {"schema": name.schema, "table": name.table, "relation": regclass(name)}
    with _there(name):
        if session.execute(composed("read/shown"), values).fetchone() != (True,):
            raise _others(name)


@contextmanager
def _there(name: TableName) -> Iterator[None]:
    try:
        yield
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName, psycopg.errors.WrongObjectType) as error:
        raise _others(name) from error


def _others(name: TableName) -> TransientError:
    return TransientError(
        95,
        f"{name} was rewritten or emptied since the snapshot that is read was taken, or another table or view got its "
        "name",
        f"nothing was changed, {AGAIN}; if a comparison that you started ended with this, start it again",
    )
