"""Taking the DbResources of one prefix out of a source, and nothing else, in one transaction."""

from __future__ import annotations

import re

from psycopg import sql

from sluice.model.names import RESOURCES, Resources, TableName
from sluice.vendors.postgresql import triggers
from sluice.vendors.postgresql.session import Connection, composed


def remove(connection: Connection, resources: Resources) -> list[str]:
    """Drop every DbResource; returns what there was, as `KIND name`. TransientError SLC-036 if a table is busy."""
    names = {
        "schema_name": sql.Literal(resources.schema),
        "names": sql.Literal([resources.name(name) for name in RESOURCES]),
        "generated": sql.Literal(f"^{re.escape(resources.name('capture_'))}[0-9]+$"),
    }
    watched = [TableName(*row) for row in connection.execute(composed("cleanup/watched", **names))]
    triggers.lock(connection, watched, "ACCESS EXCLUSIVE")
    objects = composed("cleanup/objects", **names)
    found = [f"{kind} {identity}" for kind, identity in connection.execute(objects)]
    connection.execute(composed("cleanup/drop", objects=objects))
    connection.commit()
    return found
