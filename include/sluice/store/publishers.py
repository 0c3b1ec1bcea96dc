"""The progress of a source's publisher: one row, which tells an idle source from one whose publisher does not run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, func, text
from sqlalchemy.dialects.postgresql import insert

from sluice.sqlfiles import statement
from sluice.store.engine import Store
from sluice.store.outcomes import Outcome
from sluice.store.tables import publisher


@dataclass(frozen=True)
class PublisherState:
    """A source as its publisher left it.

    Attributes:
        lag_s: for so long changes may have been waiting to be published; 0 while everything is in the log.
        queued: changes that wait there, as far as they were counted.
        log_bytes: of the segments that are kept.
        transactions, changes: published since the log began.
        sweep_s: so long the last sweep took that published something; None if there was none.
        outcome: how its runs end.
    """

    source: str
    lag_s: float = 0.0
    queued: int = 0
    log_bytes: int = 0
    transactions: int = 0
    changes: int = 0
    sweep_s: float | None = None
    outcome: Outcome = field(default_factory=Outcome)


def note(
    store: Store, source: str, *, looked_s: float | None, queued: int, due_s: float, sweep_s: float | None = None
) -> None:
    """Say how far a publisher is.

    Args:
        looked_s: the seconds since it began its last look, if everything was in the log after that; None if not.
        due_s: after so long the next look is due.
        sweep_s: so long its last sweep took that published something; what is known stays if there was none.
    """
    now = func.clock_timestamp()
    first: dict[str, Any] = {"queued": queued, "caught_up_at": now - timedelta(seconds=looked_s or 0.0)}
    first["due_at"] = now if looked_s is None else now + timedelta(seconds=due_s)
    first |= {} if sweep_s is None else {"sweep_s": sweep_s}
    # Changes may have waited since it last caught up, even if that was an earlier run.
    later = first | ({"caught_up_at": func.coalesce(publisher.c.caught_up_at, now)} if looked_s is None else {})
    new = insert(publisher).values(source=source, **first)
    with store.begin() as connection:
        connection.execute(new.on_conflict_do_update(index_elements=["source"], set_=later))


def count(connection: Connection, source: str, *, size: int, changes: int) -> None:
    """Count a segment that is listed, in the transaction that lists it."""
    new = insert(publisher).values(source=source, log_bytes=size, changes=changes)
    more = {"log_bytes": publisher.c.log_bytes + size, "changes": publisher.c.changes + changes}
    connection.execute(new.on_conflict_do_update(index_elements=["source"], set_=more))


def weigh(store: Store, source: str, log_bytes: int) -> None:
    """Say how large the log is, after segments were trimmed."""
    with store.begin() as connection:
        connection.execute(publisher.update().where(publisher.c.source == source).values(log_bytes=log_bytes))


def states(store: Store, sources: Iterable[str]) -> dict[str, PublisherState]:
    """The progress of these sources' publishers."""
    wanted = list(sources)
    with store.begin() as connection:
        rows = connection.execute(text(statement("control", "publishers")), {"named": wanted}).all()
    states_by_source = {row.source: _state(**row._mapping) for row in rows}
    return {name: states_by_source.get(name, PublisherState(name)) for name in wanted}


def _state(lease: Mapping[str, Any] | None, **figures: Any) -> PublisherState:
    return PublisherState(**figures, outcome=Outcome.from_row(lease))
