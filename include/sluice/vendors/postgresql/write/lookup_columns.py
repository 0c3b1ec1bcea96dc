"""The columns that rows of a slave's table are looked up by, where the configuration says so (`searchable`)."""

from __future__ import annotations

import psycopg
from psycopg import sql

from sluice.model.layout import Layout
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.definition import identifier
from sluice.vendors.postgresql.session import Connection, composed


def searched(connection: Connection, layout: Layout) -> tuple[tuple[int, ...], list[str]]:
    """Places of the columns that rows are looked up by, none if by the key or by all; and what the guide warns of.

    Args:
        layout: the master's table as the slave sees it; the slave has the table.
    """
    indices = {column.name: index for index, column in enumerate(layout.columns)}
    used, warnings = [], []
    for name in layout.searched:
        if name not in indices:
            warnings.append(f"{layout.name} has no column {name}, which is to be searchable")
        elif layout.columns[indices[name]].generated or not _comparable(connection, layout, name):
            warnings.append(f"{name} of {layout.name} is not searchable: computed, or of a type without equality")
        else:
            used.append(name)
    key = relations.primary_key(connection, layout.name)
    if used and key and set(used) != set(key):
        warnings.append(f"{layout.name} has a primary key, but its rows are looked up by {', '.join(used)}")
    by_key = set(used) == set(layout.key_names)
    return () if by_key else tuple(indices[name] for name in used), warnings


def _comparable(connection: Connection, layout: Layout, column: str) -> bool:
    try:
        with connection.transaction():
            parts = {"table": identifier(layout.name), "column": sql.Identifier(column)}
            connection.execute(composed("catalog/comparable", **parts))
    except psycopg.errors.UndefinedFunction:
        return False
    return True
