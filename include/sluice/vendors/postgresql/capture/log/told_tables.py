"""Whether the server's log tells all of the tables that are to be read from it, and what that does to others."""

from __future__ import annotations

from collections.abc import Collection

from psycopg import sql

from sluice.errors import ConfigError, Unwatchable
from sluice.model.names import TableName
from sluice.vendors.postgresql.catalog.definition import regclass
from sluice.vendors.postgresql.session import Connection, composed


def expect_fit(connection: Connection, tables: Collection[TableName]) -> None:
    """See that the log says all of these tables, which exist. Raises Unwatchable SLC-477."""
    names = sql.Literal([regclass(name) for name in tables])
    if row := connection.execute(composed("capture/log/unfit", tables=names)).fetchone():
        schema, table, why = row
        raise Unwatchable(
            477,
            f"{TableName(schema, table)} {why}, of which the server's log does not tell",
            "nothing was changed; take the table out of `tables`, or `capture: log` out of the source",
        )


def expect_published_whole(connection: Connection, tables: sql.Composable) -> None:
    """See that no publication of others makes statements fail, beside the whole old rows that the log has to have.

    Args:
        tables: an expression for the tables, an array.

    Raises:
        ConfigError: SLC-400, one does, or would.
    """
    if row := connection.execute(composed("capture/log/published_beside", tables=tables)).fetchone():
        schema, table, publication = row
        raise ConfigError(
            400,
            f"the publication {publication} leaves columns of {TableName(schema, table)} out: with the whole old rows "
            "that `capture: log` needs, the server refuses each UPDATE and DELETE of that table",
            f"let its owner type ALTER PUBLICATION {sql.Identifier(publication).as_string(connection)} SET (publish = "
            "'insert, truncate'), or publish all columns, generated ones as well; or take the table out of `tables`, "
            "or `capture: log` out of the source, and trigger bootstrap",
        )
