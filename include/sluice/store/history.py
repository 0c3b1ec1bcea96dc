"""The history of replications: a row a minute, written by the publisher of their source, rolled up to hours after a
day, and trimmed after 30 days.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, text
from sqlalchemy.dialects.postgresql import insert

from sluice.model.history import HistoryPoint
from sluice.model.names import Pair
from sluice.sqlfiles import statement
from sluice.store.engine import Store
from sluice.store.replication_overview import overviews
from sluice.store.tables import history


def record(store: Store, pairs: Sequence[Pair]) -> None:
    """Write down how these replications are; of what was written in the same minute the most stays."""
    minute = func.date_trunc("minute", func.clock_timestamp())
    rows = [
        {
            "source": pair.source,
            "slave": pair.slave,
            "hourly": False,
            "at": minute,
            "lag_s": overview.lag_s,
            "holdback": overview.holdback,
            "ordinal": overview.known.position.ordinal,
        }
        for pair, overview in overviews(store, pairs).items()
    ]
    if not rows:
        return
    new = insert(history).values(rows)
    most: dict[str, Any] = {name: func.greatest(history.c[name], new.excluded[name]) for name in ("lag_s", "holdback")}
    most["ordinal"] = new.excluded.ordinal
    with store.begin() as connection:
        connection.execute(new.on_conflict_do_update(index_elements=["source", "slave", "hourly", "at"], set_=most))


def roll_up(store: Store, source: str) -> None:
    """Let the minutes of more than a day ago be hours, and forget what is older than 30 days."""
    with store.begin() as connection:
        connection.execute(text(statement("control", "history_rolled")), {"source": source})
        connection.execute(text(statement("control", "history_trimmed")), {"source": source})


def series(store: Store, pair: Pair, *, seconds: float, step_s: int) -> list[HistoryPoint]:
    """The history of a replication in the last so many seconds: the maximum of each step."""
    values = {"source": pair.source, "slave": pair.slave, "seconds": seconds, "step": step_s}
    with store.begin() as connection:
        rows = connection.execute(text(statement("control", "history_series")), values).all()
    return [HistoryPoint(*row) for row in rows]
