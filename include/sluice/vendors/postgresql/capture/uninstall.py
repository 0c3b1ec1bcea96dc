"""Taking the DbResources of one prefix out of a source, and nothing else, in one transaction."""

from __future__ import annotations

import re
from collections.abc import Callable

from psycopg import sql

from sluice.errors import SluiceError
from sluice.model.names import RESOURCES, Resources, TableName
from sluice.vendors.postgresql import ownership
from sluice.vendors.postgresql.capture.queue import triggers
from sluice.vendors.postgresql.session import Connection, composed


def remove(
    connection: Connection, resources: Resources, before: Callable[[], None], more: sql.Composed | None = None
) -> list[str]:
    """Drop every DbResource, after a call of `before`; returns what there was, as `KIND name`.

    Args:
        more: what is said in that transaction, while everything is still there.

    Raises:
        SluiceError: SLC-033, event triggers are somebody else's, who made them for our role.
        TransientError: SLC-036 if a table is busy.
    """
    names = {
        "schema_name": sql.Literal(resources.schema),
        "names": sql.Literal([resources.name(name) for name in RESOURCES]),
        "generated": sql.Literal(f"^{re.escape(resources.name('capture_'))}[0-9]+$"),
    }
    if foreign := [name for (name,) in connection.execute(composed("capture/uninstall/foreign", **names))]:
        raise SluiceError(
            33,
            f"somebody else made the event triggers of {', '.join(foreign)}, which {connection.info.user} may not drop",
            "nothing was removed; run this again once he, or a superuser, has said, in this database: "
            f"DROP FUNCTION {', '.join(foreign)} CASCADE",
        )
    watched = [TableName(*row) for row in connection.execute(composed("capture/uninstall/watched", **names))]
    triggers.lock(connection, watched, "ACCESS EXCLUSIVE")
    objects = composed("capture/uninstall/objects", **names)
    before()
    if more is not None:
        connection.execute(more)
    found = [f"{kind} {identity}" for kind, identity in connection.execute(objects)]
    connection.execute(composed("capture/uninstall/drop", objects=objects))
    ownership.drop_schema(connection, resources)
    connection.commit()
    return found
