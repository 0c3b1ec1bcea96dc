"""The script that gives the role of a GaussDB source its rights; an administrator runs it in that database."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import sql

from sluice.model.names import Resources, TableName
from sluice.vendors.gaussdb.catalog.tables import tables as catalog
from sluice.vendors.gaussdb.session import composed
from sluice.vendors.postgresql.session import Connection


def script(connection: Connection, login: str, resources: Resources, tables: Sequence[TableName]) -> str:
    """GRANT statements: to replicate, to make the DbResources, to read tables, and to have whole old rows logged."""
    role, schemas = sql.Identifier(login), sorted({table.schema for table in tables})
    there = catalog(connection, schemas)
    relations = [there[name][0] for name in tables if name in there]
    owners = connection.execute(composed("capture/grants/owners"), {"relations": relations, "role": login}).fetchall()
    home = (
        sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(sql.Identifier(connection.info.dbname), role)
        if resources.is_home
        else sql.SQL("GRANT CREATE, USAGE ON SCHEMA {} TO {}").format(sql.Identifier(resources.schema), role)
    )
    statements = [
        sql.SQL("ALTER ROLE {} REPLICATION").format(role),
        home,
        *(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(sql.Identifier(name), role) for name in schemas),
        # REPLICA IDENTITY FULL is an owner's right.
        *(sql.SQL("GRANT {} TO {}").format(sql.Identifier(owner), role) for (owner,) in owners),
    ]
    return ";\n\n".join(one.as_string(connection) for one in statements)
