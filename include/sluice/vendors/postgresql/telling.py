"""Whether a slave's rows are told apart by a primary key and by nothing else, so that those of two times may meet."""

from __future__ import annotations

from sluice.apply.mapper import Mapper
from sluice.apply.view import view
from sluice.model.names import TableName
from sluice.vendors.postgresql import catalog
from sluice.vendors.postgresql.definition import TableDefinition
from sluice.vendors.postgresql.session import Connection, composed

# Keys and indexes come after the data; a dump that finds this on a table makes it again.
UNFINISHED = "sluice: keys and indexes are still to come"


def is_unfinished(session: Connection, name: TableName) -> bool:
    """Whether a table was made by a load that has not ended; it is made anew, unless that is gone on with."""
    return catalog.comment(session, name) == UNFINISHED


def merges(session: Connection, mapper: Mapper, table: TableDefinition, *, made: bool = False) -> bool:
    """Whether rows of a table may come twice, and from several snapshots (R5).

    Args:
        made: also of one that is not there, and is to be made.
    """
    there = view(mapper, table.layout).layout
    acting = any(one.fires or one.kind != "trigger" for one in catalog.acting(session, there.name))
    return not (there.searched or acting) and is_keyed(session, mapper, table, made=made)


def is_keyed(session: Connection, mapper: Mapper, table: TableDefinition, *, made: bool = False) -> bool:
    """Whether a primary key tells its rows apart, which is checked at once, and nothing else."""
    there = view(mapper, table.layout).layout
    of = {"schema": there.name.schema, "table": there.name.table}
    unmerged = session.execute(composed("catalog/unmerged"), of).fetchone()
    if unmerged != (False,) and not (made and unmerged is None):
        return False
    if any("DEFERRABLE" in text for _, text in table.constraints) or catalog.late_keys(session, there.name):
        return False
    key = {there.columns[place].name for place in there.key}
    ours = unmerged is None or is_unfinished(session, there.name)
    return bool(key) and (ours or set(catalog.primary_key(session, there.name)) == key)
