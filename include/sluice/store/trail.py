"""What happened to a replication last, by the audit trail."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from sluice.model.names import Pair
from sluice.store.engine import Store
from sluice.store.tables import audit, for_pair


@dataclass(frozen=True)
class Entry:
    """One line of the audit trail."""

    at: datetime
    actor: str
    event: str
    detail: str


def last(store: Store, pair: Pair, most: int) -> list[Entry]:
    """The newest entries, the last one first."""
    newest = select(audit).where(for_pair(audit, pair)).order_by(audit.c.id.desc()).limit(most)
    with store.begin() as connection:
        return [Entry(row.at, row.actor, row.event, row.detail) for row in connection.execute(newest)]
