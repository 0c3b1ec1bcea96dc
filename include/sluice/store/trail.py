"""The audit trail, as pages read it: what happened to a replication last; and what they refused to whom."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from sluice.errors import said
from sluice.model.names import Pair
from sluice.store.engine import Store
from sluice.store.tables import audit, for_pair

# Paths are of others, and a line of the trail is no place for a book.
_MOST = 500


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


def refuse(store: Store, source: str, slave: str | None, who: str, detail: str) -> None:
    """Record what was refused to whom."""
    values = {"source": _kept(source), "slave": slave and _kept(slave), "actor": _kept(who)}
    with store.begin() as connection:
        connection.execute(audit.insert().values(**values, event="refused", detail=_kept(detail)))


def _kept(text: str) -> str:
    """A text that a database keeps, and that cannot speak in another's place."""
    return said(text.encode(errors="replace").decode())[:_MOST]
