"""What `./sluice check` says of tables that are captured, or written to, not as one may expect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from psycopg import sql

from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.wanted import Watch
from sluice.vendors.postgresql import catalog, registry, searching
from sluice.vendors.postgresql.definition import regclass
from sluice.vendors.postgresql.session import Connection, composed

# The query that finds what a remark is about; the remark.
_REMARKS = {
    "catalog/large_objects": "of {} the numbers travel, large objects that they name do not",
    "catalog/earlier": "{}: runs before the capture, so it must not change its row again",
    "catalog/unlogged": "{}: UNLOGGED, so a crash empties it and no change says so: run initial_update then",
}
_WHOLE = "old images are stored whole of {}"


def of(connection: Connection, tables: Mapping[TableName, Watch], ours: str, *, seen: bool) -> list[str]:
    """The remarks on those of these tables that are there.

    Args:
        ours: what the names of our triggers begin with.
        seen: their DDL is seen as it happens.

    Raises:
        ConfigError: SLC-130, one of them cannot be watched.
    """
    known = catalog.there(connection, tables)
    there = [name for name in tables if name in known]
    registry.refuse_foreign(connection, there)
    parts = {"ours": sql.Literal(ours), "seen": sql.Literal(seen)}
    by_key = [name for name in there if tables[name].old_images == "key"]
    told = []
    for query, remark, names in [
        *((*said, there) for said in _REMARKS.items()),
        ("catalog/stored_whole", _WHOLE, by_key),
    ]:
        listed = sql.SQL("{}::text[]::regclass[]").format(sql.Literal([regclass(name) for name in names]))
        if found := [what for (what,) in connection.execute(composed(query, **parts, tables=listed))]:
            told.append(remark.format(", ".join(found)))
    return told


def of_slave(connection: Connection, layout: Layout) -> Iterator[str]:
    """The remarks on a table of a slave, which it has.

    Args:
        layout: the master's table as the slave sees it.
    """
    yield from searching.searched(connection, layout)[1]
    name, late = layout.name, catalog.late_keys(connection, layout.name)
    if not late and not catalog.enforced(connection, name, [column.name for column in layout.columns]):
        yield f"{name} has no unique index: each batch of its changes reads all of it"
    acting = [one.name for one in catalog.acting(connection, name) if one.fires and one.kind != "key"]
    if late and acting:
        yield f"{', '.join(acting)} of {name} acts on what a batch comes to: {late[0].name} is checked at commit"
