"""Finding DDL where the role may make no event triggers: the catalog is compared with what was recorded last."""

from __future__ import annotations

from collections.abc import Mapping

from psycopg import sql

from sluice.model.names import TableName
from sluice.vendors.postgresql import triggers
from sluice.vendors.postgresql.session import Connection, composed


def poll(connection: Connection, parts: Mapping[str, sql.Composable]) -> None:
    """Send what changed since the last look as commands, and watch tables that are wanted and new.

    A table whose images cannot be told apart is left as it is; the sweep refuses to read it (SLC-043).

    Raises:
        TransientError: SLC-036 if a table stays locked.
    """
    unseen = connection.execute(composed("publish/unseen", **parts)).fetchall()
    for relation, schema, table in unseen:
        with connection.transaction():
            connection.execute("SET LOCAL sluice.installing = 'on'")
            if table:
                triggers.lock(connection, [TableName(schema, table)], "SHARE ROW EXCLUSIVE")
            connection.execute(sql.SQL("SELECT {}(%s)").format(parts["poll"]), [relation])
