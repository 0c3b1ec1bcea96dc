"""Refused attempts, in the audit trail."""

from __future__ import annotations

from sluice.store.engine import Store
from sluice.store.tables import audit

# Paths are of others, and a line of the trail is no place for a book.
_MOST = 500


def refuse(store: Store, source: str, slave: str | None, who: str, detail: str) -> None:
    """Record what was refused to whom."""
    values = {"source": _kept(source), "slave": slave and _kept(slave), "actor": who}
    with store.begin() as connection:
        connection.execute(audit.insert().values(**values, event="refused", detail=_kept(detail)))


def _kept(text: str) -> str:
    """A text that a database keeps."""
    return text.encode(errors="replace").decode().replace("\x00", "\ufffd")[:_MOST]
