"""What acts by itself on rows that are written to a slave, where the role may not silence it: SLC-074."""

from __future__ import annotations

from collections.abc import Iterable

from psycopg import sql

from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.definition import identifier
from sluice.vendors.postgresql.session import Connection

# Servers before this version cannot grant a parameter: there the role has to be a superuser.
_GRANTS_PARAMETERS = 150000


def expect_none(session: Connection, tables: Iterable[TableName]) -> None:
    """See that nothing acts on what is written to these tables.

    Raises:
        SluiceError: SLC-074, triggers, rules or foreign keys with actions do; with the statements that end it.
    """
    found = [(table, one) for table in tables for one in relations.side_effects(session, table) if one.fires]
    if not found:
        return
    names = ", ".join(f"{one.name} on {table}" for table, one in found)
    endings = "; ".join(f"ALTER TABLE {identifier(table).as_string(session)} {one.ending}" for table, one in found)
    silenced = ""
    if session.info.server_version >= _GRANTS_PARAMETERS:
        role = sql.Identifier(session.info.user).as_string(session)
        silenced = (
            f"; or leave them as they are, and as a superuser execute: GRANT SET ON PARAMETER session_replication_role "
            f"TO {role}, so that they stay silent while Sluice writes"
        )
    raise SluiceError(
        74,
        f"{names} of the slave would act a second time on what the master did already",
        f"nothing was changed; execute in the slave's database, as the owner of its tables: {endings}{silenced}",
    )
