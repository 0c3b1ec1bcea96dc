"""Records of what is over, which go after their days: the store's tables would grow for as long as it is used."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import func, select, text

from sluice.sqlfiles import statement as named
from sluice.store import removal
from sluice.store.engine import Store
from sluice.store.statement_results import StatementStatus
from sluice.store.tables import answer, audit, initial_update, kept_version, replication, statement, transfer


def trim(store: Store, days: float) -> int:
    """Delete reports of comparisons, statements and ended updates that are older; returns how many went.

    Records in use stay: the newest reports of a table, a statement that a node has not
    answered, and the last update of a replication.
    """
    before = func.clock_timestamp() - timedelta(days=days)
    waiting = select(answer.c.statement).where(
        answer.c.statement == statement.c.id, answer.c.status == StatementStatus.WAITING
    )
    used = [
        select(table.c.update_id).where(table.c.update_id == initial_update.c.id)
        for table in (replication, transfer, kept_version)
    ]
    ended = func.coalesce(initial_update.c.ended_at, initial_update.c.started_at) < before
    gone = (
        statement.delete().where(statement.c.at < before, ~waiting.exists()),
        initial_update.delete().where(ended, *(~query.exists() for query in used)),
    )
    with store.begin() as connection:
        reports = connection.execute(text(named("control", "comparison_trimmed")), {"days": days}).rowcount
        return reports + sum(connection.execute(query).rowcount for query in gone)


def trim_audit(store: Store, days: float) -> int:
    """Delete entries of the audit trail that are older; returns how many went."""
    with store.begin() as connection:
        # What was removed, and came again, decides whether a source is installed.
        kept = audit.c.event.in_(removal.DECIDING)
        old = (audit.c.at < func.clock_timestamp() - timedelta(days=days)) & ~kept
        return connection.execute(audit.delete().where(old)).rowcount
