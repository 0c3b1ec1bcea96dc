"""Taking a replication out of the control store; its audit trail stays."""

from __future__ import annotations

from sqlalchemy import and_, or_, select

from sluice.model.names import Pair
from sluice.store import replications
from sluice.store.engine import Store
from sluice.store.tables import answer, audit, barrier, cascade, for_pair, metadata, point, replication, statement

# What was done stays, whatever becomes of the replication.
_OF_PAIR = [one for one in metadata.sorted_tables if {"source", "slave"} <= {*one.c.keys()} and one is not audit]


def is_known(store: Store, pair: Pair) -> bool:
    """Whether the store has a replication, perhaps one that is configured no more."""
    with store.begin() as connection:
        return connection.execute(select(replication.c.status).where(for_pair(replication, pair))).scalar() is not None


def forget(store: Store, pair: Pair, detail: str, who: str | None = None) -> None:
    """Delete the rows of a replication, and what is filled next after others no longer. Its lease stays: epochs only
    grow (R6)."""
    leads_here = and_(cascade.c.next_source == pair.source, cascade.c.next_slave == pair.slave)
    points = select(point.c.id).where(point.c.source == pair.source)
    statements = select(statement.c.id).where(statement.c.source == pair.source)
    with store.begin() as connection:
        for table in _OF_PAIR:
            which = for_pair(table, pair)
            connection.execute(table.delete().where(or_(which, leads_here) if table is cascade else which))
        connection.execute(barrier.delete().where(barrier.c.slave == pair.slave, barrier.c.point.in_(points)))
        connection.execute(answer.delete().where(answer.c.slave == pair.slave, answer.c.statement.in_(statements)))
        replications.note(connection, pair, "remove", detail, who)
