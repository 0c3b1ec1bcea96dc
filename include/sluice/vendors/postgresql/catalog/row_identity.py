"""Whether a primary key alone identifies a slave's rows, so that rows of several snapshots can be merged."""

from __future__ import annotations

from sluice.apply.mapping.table_view import view
from sluice.config.mapper import Mapper
from sluice.model.names import TableName
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.definition import PostgresTable
from sluice.vendors.postgresql.session import Connection, composed

# Keys and indexes come after the data; a dump that finds this on a table makes it again.
UNFINISHED = "sluice: keys and indexes are still to come"


def is_unfinished(session: Connection, name: TableName) -> bool:
    """Whether a table was made by a load that has not ended; it is made anew, unless that is gone on with."""
    return relations.comment(session, name) == UNFINISHED


def merges(session: Connection, mapper: Mapper, table: PostgresTable, *, made: bool = False) -> bool:
    """Whether rows of a table may come twice, and from several snapshots (R5).

    Args:
        made: also of one that is not there, and is to be made.
    """
    seen = view(mapper, table.layout).layout
    acting = any(one.fires or one.kind != "trigger" for one in relations.side_effects(session, seen.name))
    return not (seen.searched or acting) and is_keyed(session, mapper, table, made=made)


def is_keyed(session: Connection, mapper: Mapper, table: PostgresTable, *, made: bool = False) -> bool:
    """Whether a primary key tells its rows apart, which is checked at once, and nothing else."""
    seen = view(mapper, table.layout).layout
    of = {"schema": seen.name.schema, "table": seen.name.table}
    unmerged = session.execute(composed("catalog/unmerged"), of).fetchone()
    if unmerged != (False,) and not (made and unmerged is None):
        return False
    if any("DEFERRABLE" in text for _, text in table.constraints) or relations.deferrable_keys(session, seen.name):
        return False
    key = {seen.columns[index].name for index in seen.key}
    ours = unmerged is None or is_unfinished(session, seen.name)
    return bool(key) and (ours or set(relations.primary_key(session, seen.name)) == key)
