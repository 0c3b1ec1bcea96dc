"""Scripts that give a role what it needs on a source or on a slave; an administrator runs them in the database."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.model.names import TableName
from sluice.vendors.postgresql.catalog.definition import regclass
from sluice.vendors.postgresql.migrations import IN_SLAVE
from sluice.vendors.postgresql.session import Connection, composed

# Whoever runs the script has a session of his own: no name in it may lead to a function that somebody else has made.
_EXACTLY = sql.SQL("SET search_path = pg_catalog, pg_temp")
_AS_BEFORE = sql.SQL("RESET search_path")


def script(statements: Iterable[sql.Composable], session: Connection | None = None) -> str:
    """These statements for an administrator to run, whose session looks names up as before when it has run."""
    return ";\n\n".join(one.as_string(session) for one in (_EXACTLY, *statements, _AS_BEFORE))


def role(login: str, schemas: Collection[str], tables: Collection[TableName]) -> sql.Composed:
    """The GRANT statements for a role, on schemas in which it creates objects, and on existing tables."""
    named = [login, *sorted(schemas), *(regclass(name) for name in tables)]
    quote = "$grants$"
    # A table called so would end the statement, and go on as a superuser.
    while any(quote in name for name in named):
        quote = f"{quote[:-1]}_$"
    return composed(
        "capture/grants/role",
        quote=sql.SQL(quote),
        role_name=sql.Literal(login),
        schemas=sql.Literal(sorted(schemas)),
        tables=sql.Literal([regclass(name) for name in tables]),
    )


def optional(lacking: str, name: str, **parts: sql.Composable | str) -> sql.Composed:
    """Statements for a right that can be done without, and what is lacking then."""
    return composed(
        "capture/grants/optional", statement=composed(f"capture/grants/{name}", **parts), lacking=sql.Literal(lacking)
    )


def for_slave(info: ConnectionInfo, schema: str, schemas: Collection[str], tables: Collection[TableName]) -> str:
    """The script for the role of a slave's connection. Asks no server, since the role may not be able to connect yet.

    Args:
        schema: of the tables that Sluice keeps there.
        schemas: those of the replicated tables, also of some that come later.
        tables: the replicated tables, as the slave calls them.
    """
    ours = [TableName(schema, name) for name in IN_SLAVE]
    return script([role(info.login, {schema, *schemas}, [*ours, *sorted(tables)])])


def silencing(info: ConnectionInfo) -> str:
    """The statement that lets the role of a slave's connection keep triggers and foreign keys there from acting."""
    lacking = "without that, tables that have triggers or references of their own are refused (SLC-074)"
    return optional(lacking, "silent", role=info.login).as_string(None)
