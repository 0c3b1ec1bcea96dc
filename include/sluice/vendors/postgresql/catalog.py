"""What PostgreSQL's catalog says of tables: columns, keys, references."""

from __future__ import annotations

from sluice.model.layout import Column
from sluice.model.names import TableName
from sluice.vendors.postgresql.session import Connection, composed


def columns(connection: Connection, name: TableName) -> list[Column]:
    """The columns in order; none if there is no such table."""
    rows = connection.execute(composed("catalog/columns"), {"schema": name.schema, "table": name.table})
    return [Column(*row) for row in rows]


def parents(connection: Connection) -> dict[TableName, set[TableName]]:
    """For each table with foreign keys, the tables they refer to."""
    found: dict[TableName, set[TableName]] = {}
    for child_schema, child, parent_schema, parent in connection.execute(composed("catalog/parents")):
        found.setdefault(TableName(child_schema, child), set()).add(TableName(parent_schema, parent))
    return found


def primary_key(connection: Connection, name: TableName) -> tuple[str, ...]:
    """The columns of the primary key; none if the table has none."""
    rows = connection.execute(composed("catalog/primary_key"), {"schema": name.schema, "table": name.table})
    return tuple(column for (column,) in rows)


def has_deferrable_key(connection: Connection, name: TableName) -> bool:
    """Whether a unique constraint of the table is checked later than its statement."""
    row = connection.execute(
        composed("catalog/deferrable_key"), {"schema": name.schema, "table": name.table}
    ).fetchone()
    return bool(row and row[0])


def comment(connection: Connection, name: TableName) -> str | None:
    """The comment on a table."""
    row = connection.execute(composed("catalog/comment"), {"schema": name.schema, "table": name.table}).fetchone()
    return row[0] if row else None
