"""Taking a replication out of a slave: its positions and, if that is wanted, its tables, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing

from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.model.names import Pair, TableName
from sluice.vendors.postgresql import fence, migrations, ownership
from sluice.vendors.postgresql.catalog.definition import identifier, regclass
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import composed, limit_lock_waits

# Those of our tables that say which replication a row is of.
_OF_ONE = ("loaded", "ranges", "position")


def remove(
    info: ConnectionInfo,
    pair: Pair,
    schema: str,
    epoch: int,
    tables: Sequence[TableName] | None,
    before: Callable[[], None],
) -> list[str]:
    """See `sluice.vendors.registry.Vendor.remove`. Our tables go with the last replication into this database."""
    parts = migrations.parts_of_slave(schema)
    names = {"source": pair.source, "slave": pair.slave}
    with (
        closing(ownership.session_on_slave(info, f"remove {pair.slave}", schema)) as session,
        translated(f"removing what {pair.slave} has of the replication"),
        session.transaction(),
    ):
        limit_lock_waits(session, "10s")
        fence.lock_fence(session, parts["position"], pair, epoch)
        for name in _OF_ONE:
            session.execute(composed("position/remove", table=parts[name]), names)
        wanted = [regclass(name) for name in tables or ()]
        rows = session.execute(composed("position/droppable", **parts), {"names": wanted}).fetchall()
        there = [(tables or ())[number - 1] for (number,) in rows]
        if there:
            session.execute(composed("position/drop", tables=sql.SQL(", ").join(map(identifier, there))))
        gone = [f"table {name}" for name in there]
        if session.execute(composed("position/left", **parts)).fetchone() == (False,):
            session.execute(composed("position/drop", tables=sql.SQL(", ").join(parts.values())))
            gone += [f"table {schema}.{name}" for name in migrations.IN_SLAVE]
        else:
            gone.append(f"the position of {pair}")
        before()
    return gone
