"""The audit trail, as pages read it: what happened, to a replication or to all; and what they refused to whom."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Row, Select, func, select

from sluice.errors import sanitize
from sluice.model.names import Pair
from sluice.store.engine import Store
from sluice.store.tables import audit, for_pair

# Paths are of others, and a line of the trail is no place for a book.
_MOST = 500
PAGE = 100
# How often an entry may come again, and among how many it is looked for.
_RARELY = timedelta(minutes=1)
_LATELY = 1_000
_REFUSED = "refused"
_MOST_REFUSED = 30


@dataclass(frozen=True)
class AuditEntry:
    """One line of the audit trail."""

    id: int
    at: datetime
    source: str
    slave: str | None
    actor: str
    event: str
    detail: str


@dataclass(frozen=True)
class AuditFilter:
    """The entries to show; what is empty admits every one.

    Attributes:
        person: a part of the name of who did it: a person, or a run.
        event: how the event begins.
        days: not older than that.
        before: older than the entry of this id.
    """

    source: str = ""
    slave: str = ""
    person: str = ""
    event: str = ""
    days: int | None = None
    before: int | None = None


@dataclass(frozen=True)
class AuditPage:
    """Entries, the newest first.

    Attributes:
        older: the entry before which the next page begins; None if this page is the last one.
    """

    entries: list[AuditEntry]
    older: int | None


def last(store: Store, pair: Pair, most: int) -> list[AuditEntry]:
    """The newest entries, the last one first."""
    newest = select(audit).where(for_pair(audit, pair)).order_by(audit.c.id.desc()).limit(most)
    with store.begin() as connection:
        return [_entry(row) for row in connection.execute(newest)]


def page(store: Store, wanted: AuditFilter, most: int = PAGE) -> AuditPage:
    """The newest entries that are wanted, by one query, which goes along the primary key from where it begins."""
    with store.begin() as connection:
        # One more than is shown says whether there are more.
        entries = [_entry(row) for row in connection.execute(_select(wanted).limit(most + 1))]
    shown = entries[:most]
    return AuditPage(shown, shown[-1].id if len(entries) > most else None)


def note(store: Store, event: str, who: str, detail: str = "") -> None:
    """Record what a person had done that concerns no single source."""
    with store.begin() as connection:
        connection.execute(audit.insert().values(source="", actor=_clean(who), event=event, detail=detail))


def note_rarely(store: Store, event: str, who: str) -> None:
    """Record an act that may be repeated without end, once a minute at most, so that it does not fill the trail."""
    with store.begin() as connection:
        if connection.execute(_lately(event, who).limit(1)).first() is None:
            connection.execute(audit.insert().values(source="", actor=_clean(who), event=event, detail=""))


def refuse(store: Store, source: str, slave: str | None, who: str, detail: str) -> None:
    """Record what was refused to whom, so many times a minute, which do not fill the trail."""
    values = {"source": _clean(source), "slave": slave and _clean(slave), "actor": _clean(who)}
    with store.begin() as connection:
        lately = connection.execute(_lately(_REFUSED, who).limit(_MOST_REFUSED)).all()
        if len(lately) < _MOST_REFUSED:
            connection.execute(audit.insert().values(**values, event=_REFUSED, detail=_clean(detail)))


def _lately(event: str, who: str) -> Select[tuple[int]]:
    """The entries of the last minute of an act of a person."""
    newest = select(func.max(audit.c.id)).scalar_subquery()
    # Along the primary key, and not through years of entries.
    return select(audit.c.id).where(
        audit.c.id > newest - _LATELY,
        audit.c.event == event,
        audit.c.actor == _clean(who),
        audit.c.at > func.clock_timestamp() - _RARELY,
    )


def _select(wanted: AuditFilter) -> Select[tuple[object, ...]]:
    chosen = select(audit).order_by(audit.c.id.desc())
    if wanted.source:
        chosen = chosen.where(audit.c.source == _clean(wanted.source))
    if wanted.slave:
        chosen = chosen.where(audit.c.slave == _clean(wanted.slave))
    if wanted.person:
        chosen = chosen.where(audit.c.actor.contains(_clean(wanted.person), autoescape=True))
    if wanted.event:
        chosen = chosen.where(audit.c.event.startswith(_clean(wanted.event), autoescape=True))
    if wanted.days is not None:
        chosen = chosen.where(audit.c.at >= func.now() - timedelta(days=wanted.days))
    if wanted.before is not None:
        chosen = chosen.where(audit.c.id < wanted.before)
    return chosen


def _entry(row: Row[tuple[object, ...]]) -> AuditEntry:
    return AuditEntry(row.id, row.at, row.source, row.slave, row.actor, row.event, row.detail)


def _clean(text: str) -> str:
    """A text that a database keeps, and that cannot speak in another's place."""
    return sanitize(text.encode(errors="replace").decode())[:_MOST]
