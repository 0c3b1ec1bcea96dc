"""Taking a replication, or a source, out of the control store; the audit trail stays."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, or_, select

from sluice import shell
from sluice.errors import SluiceError
from sluice.model.names import Pair
from sluice.store import replications
from sluice.store.engine import Store
from sluice.store.tables import answer, audit, barrier, cascade, for_pair, metadata, point, replication, statement

# What was done stays, whatever becomes of the replication.
_OF_PAIR = [
    table for table in metadata.sorted_tables if {"source", "slave"} <= {*table.c.keys()} and table is not audit
]
_OF_SOURCE = [table for table in metadata.sorted_tables if "source" in table.c and table is not audit]
# What the audit trail says of a source that was removed, and of one that was installed after that.
_REMOVED, _RETURNED = "cleanup", "installed again"
# Entries of the audit trail by which it is decided whether a source is installed.
DECIDING = (_REMOVED, _RETURNED, "remove")


@dataclass(frozen=True)
class RemovedSource:
    """A source that somebody removed: by whom, and when."""

    name: str
    actor: str
    at: datetime

    def __str__(self) -> str:
        return f"it was removed by {self.actor} on {self.at:%Y-%m-%d %H:%M:%S %Z}".strip()

    @property
    def again(self) -> str:
        """The command that installs it again."""
        return f"type: {shell.trigger('bootstrap', source=self.name)}, and fill its slaves"


def is_known(store: Store, pair: Pair) -> bool:
    """Whether the store has a replication, perhaps one that is configured no more."""
    with store.begin() as connection:
        return connection.execute(select(replication.c.status).where(for_pair(replication, pair))).scalar() is not None


def forget(store: Store, pair: Pair, detail: str, who: str | None = None) -> None:
    """Delete the rows of a replication, and what is filled next after others no longer. Its lease stays: epochs only
    grow (R6).
    """
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


def list_pairs(store: Store, source: str) -> list[Pair]:
    """The replications of a source that the store has, configured or not."""
    with store.begin() as connection:
        slaves = select(replication.c.slave).where(replication.c.source == source).order_by(replication.c.slave)
        return [Pair(source, slave) for slave in connection.execute(slaves).scalars()]


def last(store: Store, pair: Pair) -> str | None:
    """The audit trail's entry of the last removal of a replication; None if its whole source was removed since."""
    removals = select(audit.c.slave, audit.c.detail).where(
        audit.c.source == pair.source,
        audit.c.event == "remove",
        or_(audit.c.slave == pair.slave, audit.c.slave.is_(None)),
    )
    with store.begin() as connection:
        row = connection.execute(removals.order_by(audit.c.id.desc()).limit(1)).one_or_none()
    return row.detail if row and row.slave else None


def forget_source(store: Store, source: str) -> None:
    """Delete the rows of a source. Leases stay: epochs only grow (R6)."""
    with store.begin() as connection:
        connection.execute(cascade.delete().where(cascade.c.next_source == source))
        for table in reversed(_OF_SOURCE):
            connection.execute(table.delete().where(table.c.source == source))
        _note(connection, source, "remove", "with all that it had")


def find_removed(store: Store, source: str) -> RemovedSource | None:
    """Find the removal of a source in the audit trail; None if there is none, or if it was installed again.

    It says what was wanted: while a removal is under way, or if it did not go through, the source is still installed.
    """
    turns = select(audit.c.event, audit.c.actor, audit.c.at)
    turns = turns.where(audit.c.source == source, audit.c.slave.is_(None), audit.c.event.in_((_REMOVED, _RETURNED)))
    with store.begin() as connection:
        row = connection.execute(turns.order_by(audit.c.id.desc()).limit(1)).one_or_none()
    return RemovedSource(source, row.actor, row.at) if row and row.event == _REMOVED else None


def note_removed(store: Store, source: str) -> None:
    """Write into the audit trail that a source is removed, unless it says so."""
    if find_removed(store, source) is None:
        with store.begin() as connection:
            _note(connection, source, _REMOVED)


def note_returned(store: Store, source: str) -> None:
    """Write into the audit trail that a source which was removed is there."""
    if find_removed(store, source) is not None:
        with store.begin() as connection:
            _note(connection, source, _RETURNED)


def expect_wanted(store: Store, source: str) -> None:
    """Refuse to install a source anew without a person's word. Raises SluiceError SLC-650, somebody removed it."""
    if (gone := find_removed(store, source)) is not None:
        raise SluiceError(
            650,
            f"source {source} is not installed: {gone}",
            "nothing was changed; take it and its replications out of the configuration, or, to have it again, "
            f"{gone.again}",
        )


def _note(connection: Connection, source: str, event: str, detail: str = "") -> None:
    values = {"source": source, "actor": replications.actor(), "event": event, "detail": detail}
    connection.execute(audit.insert().values(values))
