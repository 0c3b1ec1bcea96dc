"""The progress of a source's publisher: one row, which tells an idle source from one whose publisher does not run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, func, literal, text
from sqlalchemy.dialects.postgresql import insert

from sluice.sqlfiles import statement
from sluice.store.engine import Store
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
    """

    source: str
    lag_s: float = 0.0
    queued: int = 0
    log_bytes: int = 0
    transactions: int = 0
    changes: int = 0
    sweep_s: float | None = None


def note(
    store: Store, source: str, *, behind_s: float, queued: int, due_s: float, sweep_s: float | None = None
) -> None:
    """Say how far a publisher is.

    Args:
        behind_s: since the last look after which everything was in the log; 0 if that was the last one.
        due_s: after so long the next look is due.
        sweep_s: so long its last sweep took that published something; what is known stays if there was none.
    """
    now = func.clock_timestamp()
    due = now + func.make_interval(0, 0, 0, 0, 0, 0, literal(due_s))
    values = {"behind_s": behind_s, "queued": queued, "noted_at": now, "due_at": due}
    values |= {} if sweep_s is None else {"sweep_s": sweep_s}
    new = insert(publisher).values(source=source, **values)
    with store.begin() as connection:
        connection.execute(new.on_conflict_do_update(index_elements=["source"], set_=values))


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
    states_by_source = {row.source: PublisherState(**row._mapping) for row in rows}
    return {name: states_by_source.get(name, PublisherState(name)) for name in wanted}
