"""What `./sluice check` says of watched tables: what is not captured of them, or not as one may expect."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import sql

from sluice.model.names import TableName
from sluice.vendors.postgresql import catalog, registry
from sluice.vendors.postgresql.definition import regclass
from sluice.vendors.postgresql.session import Connection, composed

# The query that finds what a remark is about; the remark.
_REMARKS = {
    "catalog/large_objects": "of {} the numbers travel, large objects that they name do not",
    "catalog/earlier": "{}: runs before the capture, so it must not change its row again",
    "catalog/unlogged": "{}: UNLOGGED, so a crash empties it and no change says so: run initial_update then",
}


def of(connection: Connection, tables: Sequence[TableName], ours: str) -> list[str]:
    """The remarks on those of these tables that are there.

    Args:
        ours: what the names of our triggers begin with.

    Raises:
        ConfigError: SLC-130, one of them cannot be watched.
    """
    there = [name for name in tables if catalog.columns(connection, name)]
    registry.refuse_foreign(connection, there)
    names = [regclass(name) for name in there]
    told = []
    for query, remark in _REMARKS.items():
        parts = {"tables": sql.SQL("{}::text[]::regclass[]").format(sql.Literal(names)), "ours": sql.Literal(ours)}
        if found := [what for (what,) in connection.execute(composed(query, **parts))]:
            told.append(remark.format(", ".join(found)))
    return told
