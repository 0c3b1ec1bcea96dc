"""What a role still has by the scripts of `grants`, and what is left of ours, by the catalog of the database itself."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing

from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.model.leftover import Leftover
from sluice.model.names import RESOURCES, Resources, TableName
from sluice.vendors.postgresql.capture.event_triggers import keeper_of
from sluice.vendors.postgresql.catalog.definition import regclass
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import Connection, composed, connect

# The first version in which a role can be given the right to set a parameter.
_PARAMETERS = 150000


def of_source(
    info: ConnectionInfo, resources: Resources, schemas: Collection[str], tables: Collection[TableName]
) -> list[Leftover]:
    """See `sluice.vendors.registry.Master.leftovers`."""
    with closing(connect(info, "leftovers", autocommit=True)) as session, translated("looking at what is left"):
        names = {
            "schema_name": sql.Literal(resources.schema),
            "names": sql.Literal([resources.name(name) for name in RESOURCES]),
        }
        foreign = [name for (name,) in session.execute(composed("capture/uninstall/foreign", **names))]
        events = [Leftover("event triggers that somebody else made", f"DROP FUNCTION {', '.join(foreign)} CASCADE")]
        found = _found(session, resources.schema, schemas, tables, filled=False)
    return [*(events if foreign else ()), *found]


def of_slave(
    info: ConnectionInfo, schema: str, schemas: Collection[str], tables: Collection[TableName]
) -> list[Leftover]:
    """See `sluice.vendors.registry.Vendor.leftovers`."""
    with closing(connect(info, "leftovers", autocommit=True)) as session, translated("looking at what is left"):
        return _found(session, schema, schemas, tables, filled=True)


def _found(
    session: Connection, schema: str, schemas: Collection[str], tables: Collection[TableName], *, filled: bool
) -> list[Leftover]:
    given = {
        "schema": schema,
        "schemas": list(schemas),
        "tables": [regclass(name) for name in tables],
        "filled": filled,
        "keeper": keeper_of(session.info.user),
    }
    rows = session.execute(composed("capture/grants/leftovers"), given).fetchall()
    if filled and session.info.server_version >= _PARAMETERS:
        rows += session.execute(composed("capture/grants/silenced"), {"name": "session_replication_role"}).fetchall()
    return [Leftover(*row) for row in rows]
