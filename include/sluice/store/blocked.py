"""The transaction that a slave is blocked by, and the tables that it skips until it is filled again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import and_, func, select
from sqlalchemy.dialects.postgresql import insert

from sluice.errors import sanitize
from sluice.model.blocking_transaction import BlockingTransaction
from sluice.model.names import Pair, TableName
from sluice.store import replications
from sluice.store.engine import Store, is_new
from sluice.store.tables import for_pair, skipped, stuck


@dataclass(frozen=True)
class SkippedTable:
    """A skipped table: who skipped it, since when, and the number of skipped changes."""

    actor: str
    since: datetime
    changes: int


def record(store: Store, pair: Pair, blocking: BlockingTransaction) -> None:
    """Record the transaction that blocks a slave."""
    values = {"source": pair.source, "slave": pair.slave, "ordinal": blocking.ordinal, "body": asdict(blocking)}
    again = {"ordinal": blocking.ordinal, "body": asdict(blocking), "since": func.clock_timestamp()}
    row = insert(stuck).values(values)
    with store.begin() as connection:
        connection.execute(row.on_conflict_do_update(index_elements=["source", "slave"], set_=again))


def blocking_transaction(store: Store, pair: Pair) -> BlockingTransaction | None:
    """The transaction that blocks a slave; None if it goes on."""
    with store.begin() as connection:
        row = connection.execute(select(stuck.c.body).where(for_pair(stuck, pair))).one_or_none()
    return BlockingTransaction.from_json(row.body) if row else None


def skip(store: Store, pair: Pair, table: TableName, who: str) -> None:
    """Leave a table of the master out from now on. A drain that is at work hears of it at its next step.

    Args:
        who: the person, or the reason, which may quote names of others.
    """
    who = sanitize(who)
    values = {"source": pair.source, "slave": pair.slave, "schema": table.schema, "table": table.table, "actor": who}
    with store.begin() as connection:
        if is_new(connection, insert(skipped).values(values)):
            replications.note(connection, pair, "skip", str(table), who)


def skipped_tables(store: Store, pair: Pair) -> Mapping[TableName, SkippedTable]:
    """The tables of the master that a slave is not given."""
    with store.begin() as connection:
        rows = connection.execute(select(skipped).where(for_pair(skipped, pair)).order_by("schema", "table")).all()
    return {TableName(row.schema, row.table): SkippedTable(row.actor, row.since, row.changes) for row in rows}


def count(store: Store, pair: Pair, changes: Mapping[TableName, int]) -> None:
    """Count changes that a slave was not given, once they are behind it."""
    with store.begin() as connection:
        for table, number in changes.items():
            which = and_(for_pair(skipped, pair), skipped.c.schema == table.schema, skipped.c.table == table.table)
            connection.execute(skipped.update().where(which).values(changes=skipped.c.changes + number))
